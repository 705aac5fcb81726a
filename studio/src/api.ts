// Requests to the server that the page came from. A token in the page's address is kept for the session.

export interface Column {
  name: string;
  type: string;
  nullable?: boolean;
}
export interface GraphNode {
  id: string;
  kind: "source" | "table" | "state" | "view" | "part" | "assertion";
  name: string;
  label: string;
  detail: string;
  why: string;
  steps: number;
  views: string[];
  columns: Column[];
  rows: number | null;
  bytes: number | null;
  version: number | null;
  at: number | null;
}
export interface GraphEdge {
  from: string;
  to: string;
  kind: "change" | "lookup";
}
export interface GraphData {
  kind: string;
  version: number;
  writes: boolean;
  now: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
}
export interface About {
  kind: "view" | "table";
  name: string;
  columns: Column[];
  keys: string[][];
  text?: string;
  language?: string;
  policy?: string;
  mode?: string;
  uses?: string[];
  stages?: string[];
}
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };
export interface Page {
  version: number;
  count: number;
  total: number | null;
  offset: number;
  rows: Value[][];
  took: number;
}
export interface Problem {
  error: string;
  what: string;
  message: string;
  hint?: string;
  excerpt?: string;
  place?: { start: number; end: number; line: number; column: number };
}

export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.what);
  }
}

const asked = new URLSearchParams(location.search);
const given = asked.get("token");
if (given) {
  sessionStorage.setItem("token", given);
  asked.delete("token");
  history.replaceState(null, "", location.pathname + (asked.size ? `?${asked}` : "") + location.hash);
}
const token = sessionStorage.getItem("token");

async function request(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  const text = await response.text();
  let problem: Problem;
  try {
    problem = { what: text, ...JSON.parse(text) };
  } catch {
    problem = { error: "Error", what: text || response.statusText, message: text };
  }
  throw new Refusal(problem);
}

export const get = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await request(path, { signal })).json();
export const text = async (path: string): Promise<string> => (await request(path)).text();
export const post = async <T>(path: string, body: unknown): Promise<T> =>
  (
    await request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    })
  ).json();

export function follow(path: string): EventSource {
  const sign = path.includes("?") ? "&" : "?";
  return new EventSource(token ? `${path}${sign}token=${encodeURIComponent(token)}` : path);
}
