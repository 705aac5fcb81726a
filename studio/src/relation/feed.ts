// The changes of one table or view, as the page needs them: which rows came, went or were updated since it was last drawn.

import { follow, type About, type Value } from "../api";

export interface Touched {
  kind: "inserted" | "updated";
  /** The columns that differ. */
  columns: Set<number>;
  serial: number;
}

export type Identify = (row: Value[]) => string;

/** What identifies a row: its key, or all of its values. */
export function identify(about: About): Identify {
  const names = about.columns.map((c) => c.name);
  const at = (about.keys[0] ?? names).map((k) => names.indexOf(k)).filter((i) => i >= 0);
  return (row) => JSON.stringify(at.map((i) => row[i]));
}

export interface Delta {
  version: number;
  inserted: Value[][];
  deleted: Value[][];
  more?: number;
}

/** Which rows a change inserted, updated (and in which columns) and deleted, by what identifies them. */
export function sort(delta: Delta, of: Identify, serial: number): { touched: Map<string, Touched>; gone: Set<string> } {
  const before = new Map(delta.deleted.map((row) => [of(row), row]));
  const touched = new Map<string, Touched>();
  for (const row of delta.inserted) {
    const id = of(row);
    const old = before.get(id);
    const columns = new Set<number>();
    if (old) row.forEach((v, i) => JSON.stringify(v) !== JSON.stringify(old[i]) && columns.add(i));
    touched.set(id, { kind: old ? "updated" : "inserted", columns, serial });
  }
  const gone = new Set([...before.keys()].filter((id) => !touched.has(id)));
  return { touched, gone };
}

/** Follows the changes; calls back with each. */
export function followChanges(about: About, onChange: (delta: Delta) => void, onReset: () => void): () => void {
  const stream = follow(`api/changes/${about.kind}/${encodeURIComponent(about.name)}`);
  stream.addEventListener("change", (event) => onChange(JSON.parse((event as MessageEvent).data)));
  stream.addEventListener("reset", onReset);
  return () => stream.close();
}
