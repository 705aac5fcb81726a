// Changes visibly flowing: dots that run along the edges of what has changed, from tables to views.

import type { GraphEdge } from "../api";
import type { Activity } from "../state";

const STEP = 260;
const MOST_DOTS = 160;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export interface Step {
  edge: number;
  delay: number;
  rows: number;
}

/** Which edges a change runs along, and when: from what has changed, through states, to what has changed. */
export function plan(edges: GraphEdge[], changes: Activity["changes"]): Step[] {
  const after = new Map<string, number[]>();
  edges.forEach((edge, at) => {
    if (edge.kind === "change") after.set(edge.from, [...(after.get(edge.from) ?? []), at]);
  });
  const steps: Step[] = [];
  const depth = new Map<string, number>();
  const waiting = Object.keys(changes).filter((id) => id.startsWith("table:") || id.startsWith("source:"));
  for (const id of waiting) depth.set(id, 0);
  while (waiting.length) {
    const id = waiting.shift()!;
    const at = depth.get(id)!;
    for (const index of after.get(id) ?? []) {
      const to = edges[index].to;
      if (!to.startsWith("state:") && !to.startsWith("part:") && !(to in changes)) continue;
      const [inserted, deleted] = changes[to] ?? changes[id] ?? [1, 0];
      steps.push({ edge: index, delay: at * STEP, rows: inserted + deleted });
      if (!depth.has(to)) {
        depth.set(to, at + 1);
        waiting.push(to);
      }
    }
  }
  return steps;
}

export class Flow {
  private dots = 0;
  constructor(private layer: SVGGElement) {
    layer.replaceChildren(); // dots of an earlier drawing would run beside the edges
  }

  run(edges: GraphEdge[], paths: string[], changes: Activity["changes"]): void {
    if (calm.matches || document.hidden) return;
    for (const step of plan(edges, changes)) {
      const many = Math.min(3, 1 + Math.floor(Math.log10(Math.max(1, step.rows))));
      for (let i = 0; i < many && this.dots < MOST_DOTS; i++) this.dot(paths[step.edge], step.delay + i * 90);
    }
  }

  private dot(path: string, delay: number): void {
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    dot.setAttribute("r", "4");
    dot.setAttribute("class", "dot");
    dot.style.offsetPath = `path("${path}")`;
    this.layer.append(dot);
    this.dots++;
    const moved = dot.animate(
      [
        { offsetDistance: "0%", opacity: 0 },
        { offsetDistance: "12%", opacity: 1, offset: 0.12 },
        { offsetDistance: "88%", opacity: 1, offset: 0.88 },
        { offsetDistance: "100%", opacity: 0 },
      ],
      { duration: 620, delay, fill: "both", easing: "ease-in-out" },
    );
    moved.onfinish = moved.oncancel = () => {
      dot.remove();
      this.dots--;
    };
  }
}
