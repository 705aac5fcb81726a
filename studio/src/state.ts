// What the whole page knows: the graph, what has changed lately, the place in the page, the theme.

import { effect, signal } from "@preact/signals";
import { follow, get, type GraphData } from "./api";

export interface Live {
  rows: number | null;
  bytes: number | null;
  at: number | null;
  rate: number;
}
export interface Activity {
  version: number;
  at: number;
  changes: Record<string, [number, number]>;
}

export const graph = signal<GraphData | null>(null);
export const version = signal(0);
export const connected = signal(false);
export const problem = signal("");
/** What is known of each node now; one signal for all, renewed at most a few times a second. */
export const live = signal<Map<string, Live>>(new Map());
export const now = signal(Date.now() / 1000);
/** Is called with every message about changes. */
export const listeners = new Set<(activity: Activity) => void>();

let shift = 0; // the server's clock against ours
const rates = new Map<string, { total: number; at: number }>();
const HALF_LIFE = 4;

function rateOf(id: string, at: number): number {
  const known = rates.get(id);
  return known ? (known.total * Math.pow(0.5, (at - known.at) / HALF_LIFE) * Math.LN2) / HALF_LIFE : 0;
}

function countChange(id: string, rows: number, at: number): void {
  const known = rates.get(id);
  const before = known ? known.total * Math.pow(0.5, (at - known.at) / HALF_LIFE) : 0;
  rates.set(id, { total: before + rows, at });
}

export async function loadGraph(): Promise<void> {
  try {
    const found = await get<GraphData>("api/graph");
    shift = found.now - Date.now() / 1000;
    live.value = new Map(
      found.nodes.map((n) => [n.id, { rows: n.rows, bytes: n.bytes, at: n.at, rate: 0 }]),
    );
    graph.value = found;
    version.value = found.version;
    problem.value = "";
  } catch (error) {
    problem.value = (error as Error).message;
  }
}

let sizing = false;
async function loadSizes(): Promise<void> {
  if (sizing || document.hidden) return;
  sizing = true;
  try {
    const sizes = await get<Record<string, [number | null, number | null]>>("api/sizes");
    const next = new Map(live.value);
    for (const [id, known] of next) {
      const size = sizes[id];
      if (size) next.set(id, { ...known, rows: size[0], bytes: size[1] });
    }
    live.value = next;
  } catch {
    // the stream says when the server is gone
  }
  setTimeout(() => (sizing = false), 1500);
}

export function start(): void {
  void loadGraph();
  const stream = follow("api/activity");
  let definitions: number | null = null;
  stream.onopen = () => (connected.value = true);
  stream.onerror = () => (connected.value = false);
  stream.onmessage = (event) => {
    connected.value = true;
    const found = JSON.parse(event.data) as Partial<Activity> & { definitions?: number };
    if (found.version != null) version.value = Math.max(found.version, graph.value ? version.value : 0);
    if (found.definitions != null) {
      if (definitions !== null && found.definitions !== definitions) void loadGraph();
      definitions = found.definitions;
    }
    if (!found.changes) return;
    const at = Date.now() / 1000;
    const next = new Map(live.value);
    for (const [id, [inserted, deleted]] of Object.entries(found.changes)) {
      countChange(id, inserted + deleted, at);
      const known = next.get(id);
      if (known)
        next.set(id, { ...known, at: found.at!, rows: known.rows == null ? null : known.rows + inserted - deleted });
    }
    for (const [id, known] of next) next.set(id, { ...known, rate: rateOf(id, at) });
    live.value = next;
    for (const listener of listeners) listener(found as Activity);
    void loadSizes();
  };
  setInterval(() => {
    now.value = Date.now() / 1000 + shift;
    const at = Date.now() / 1000;
    let changed = false;
    const next = new Map(live.value);
    for (const [id, known] of next) {
      const rate = rateOf(id, at);
      if (Math.abs(rate - known.rate) > 0.05) {
        next.set(id, { ...known, rate: rate < 0.05 ? 0 : rate });
        changed = true;
      }
    }
    if (changed) live.value = next;
  }, 1000);
}

// --- the place in the page --------------------------------------------------------------------------------

export const place = signal(location.hash.slice(1) || "/graph");
addEventListener("hashchange", () => (place.value = location.hash.slice(1) || "/graph"));
export const go = (to: string): void => {
  location.hash = to;
};
export const pathOf = (id: string): string => {
  const [kind, name] = [id.slice(0, id.indexOf(":")), id.slice(id.indexOf(":") + 1)];
  return kind === "view" || kind === "table" ? `/${kind}/${encodeURIComponent(name)}` : `/graph?node=${encodeURIComponent(id)}`;
};

// --- the theme ---------------------------------------------------------------------------------------------

export type Theme = "system" | "light" | "dark";
export const theme = signal<Theme>((localStorage.getItem("theme") as Theme) ?? "system");
const preferred = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(preferred.matches);
preferred.addEventListener("change", (e) => (systemDark.value = e.matches));
export const isDark = (): boolean => theme.value === "dark" || (theme.value === "system" && systemDark.value);
effect(() => {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  localStorage.setItem("theme", theme.value);
});
