// A chosen measure as heat: how warm a node is, from 0 to 1, on a scale of powers.

import type { GraphNode } from "../api";
import type { Live } from "../state";

export const MEASURES = {
  none: "no heat",
  rate: "changes per second",
  rows: "rows",
  bytes: "bytes",
  steps: "steps per change",
  age: "time since the last change",
} as const;
export type Measure = keyof typeof MEASURES;

export function valueOf(node: GraphNode, live: Live | undefined, measure: Measure, now: number): number | null {
  switch (measure) {
    case "none":
      return null;
    case "rate":
      return live?.rate ?? 0;
    case "rows":
      return live?.rows ?? null;
    case "bytes":
      return live?.bytes ?? null;
    case "steps":
      return node.steps || null;
    case "age":
      return live?.at == null ? null : Math.max(0, now - live.at);
  }
}

export function heats(
  nodes: GraphNode[],
  live: Map<string, Live>,
  measure: Measure,
  now: number,
): Map<string, number> {
  const values = new Map<string, number>();
  for (const node of nodes) {
    const value = valueOf(node, live.get(node.id), measure, now);
    if (value != null && value > 0) values.set(node.id, Math.log1p(value));
  }
  const most = Math.max(...values.values(), 1e-9);
  const least = measure === "rate" ? 0 : Math.min(...values.values(), most) * 0.8;
  for (const [id, value] of values) values.set(id, most > least ? (value - least) / (most - least) : 1);
  return values;
}
