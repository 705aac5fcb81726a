// Where nodes and edges are drawn: layers from left to right, by dagre.

import dagre from "@dagrejs/dagre";
import type { GraphData } from "../api";

export const WIDTH = 226;
export const HEIGHT = 66;

const GAP = 58;

export interface Spot {
  x: number;
  y: number;
}
export interface Drawn {
  nodes: Map<string, Spot>;
  edges: { from: string; to: string; kind: string; points: Spot[]; path: string }[];
  width: number;
  height: number;
}

/** A smooth line through points: straight to the first middle, then curves from middle to middle. */
function smooth(points: Spot[]): string {
  const [first, ...rest] = points;
  let path = `M${first.x.toFixed(1)},${first.y.toFixed(1)}`;
  if (rest.length === 1) {
    const end = rest[0];
    const half = (end.x - first.x) / 2;
    return `${path}C${(first.x + half).toFixed(1)},${first.y.toFixed(1)} ${(end.x - half).toFixed(1)},${end.y.toFixed(1)} ${end.x.toFixed(1)},${end.y.toFixed(1)}`;
  }
  for (let i = 0; i < rest.length - 1; i++) {
    const [a, b] = [rest[i], rest[i + 1]];
    const end = i === rest.length - 2 ? b : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    path += `Q${a.x.toFixed(1)},${a.y.toFixed(1)} ${end.x.toFixed(1)},${end.y.toFixed(1)}`;
  }
  return path;
}

type Shown = Pick<GraphData, "nodes" | "edges">;

/** The parts of a graph that nothing connects, the largest first. */
function parts(data: Shown): Shown[] {
  const root = new Map(data.nodes.map((n) => [n.id, n.id]));
  const find = (id: string): string => {
    while (root.get(id) !== id) {
      root.set(id, root.get(root.get(id)!)!);
      id = root.get(id)!;
    }
    return id;
  };
  for (const edge of data.edges) root.set(find(edge.from), find(edge.to));
  const found = new Map<string, Shown>();
  for (const node of data.nodes) {
    const id = find(node.id);
    if (!found.has(id)) found.set(id, { nodes: [], edges: [] });
    found.get(id)!.nodes.push(node);
  }
  for (const edge of data.edges) found.get(find(edge.from))!.edges.push(edge);
  return [...found.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}

/** Lays out each part on its own, and puts the parts in columns, so that the whole is about as wide as a screen. */
export function layOut(data: Shown): Drawn {
  const drawn = parts(data).map(layOutPart);
  const area = drawn.reduce((sum, part) => sum + part.width * part.height, 0);
  const tallest = Math.max(Math.sqrt(area / 1.7), ...drawn.map((part) => part.height), 300);
  const all: Drawn = { nodes: new Map(), edges: [], width: 0, height: 0 };
  let [left, top, wide] = [0, 0, 0];
  for (const part of drawn) {
    if (top && top + part.height > tallest) [left, top, wide] = [left + wide, 0, 0];
    for (const [id, spot] of part.nodes) all.nodes.set(id, { x: spot.x + left, y: spot.y + top });
    for (const edge of part.edges) all.edges.push({ ...edge, points: edge.points.map((p) => ({ x: p.x + left, y: p.y + top })) });
    wide = Math.max(wide, part.width);
    top += part.height;
    all.width = Math.max(all.width, left + part.width);
    all.height = Math.max(all.height, top);
  }
  for (const edge of all.edges) edge.path = smooth(edge.points);
  const order = new Map(data.edges.map((e, i) => [`${e.from} ${e.to}`, i]));
  all.edges.sort((a, b) => order.get(`${a.from} ${a.to}`)! - order.get(`${b.from} ${b.to}`)!);
  return all;
}

function layOutPart(data: Shown): Drawn {
  const g = new dagre.graphlib.Graph();
  // Of many nodes the quick ranker: the tight one takes seconds.
  const ranker = data.nodes.length > 150 ? "longest-path" : "network-simplex";
  g.setGraph({ rankdir: "LR", nodesep: 22, ranksep: GAP, edgesep: 14, marginx: 24, marginy: 18, ranker });
  g.setDefaultEdgeLabel(() => ({}));
  for (const node of data.nodes) g.setNode(node.id, { width: WIDTH, height: HEIGHT });
  for (const edge of data.edges) g.setEdge(edge.from, edge.to, { weight: edge.kind === "change" ? 2 : 1 });
  dagre.layout(g);
  const nodes = new Map<string, Spot>();
  for (const node of data.nodes) {
    const { x, y } = g.node(node.id) as Spot;
    nodes.set(node.id, { x, y });
  }
  const edges = data.edges.map((edge) => {
    const inner = (g.edge(edge.from, edge.to) as { points: Spot[] }).points.slice(1, -1);
    const [a, b] = [nodes.get(edge.from)!, nodes.get(edge.to)!];
    const forward = b.x > a.x;
    const start = { x: a.x + (forward ? WIDTH / 2 : 0), y: a.y + (forward ? 0 : HEIGHT / 2) };
    const end = { x: b.x - (forward ? WIDTH / 2 : 0), y: b.y + (forward ? 0 : HEIGHT / 2) };
    // Between neighbouring layers one curve; over several layers along the way that dagre has found.
    const near = Math.abs(b.x - a.x) < (WIDTH + GAP) * 1.5;
    return { ...edge, points: near ? [start, end] : [start, ...inner, end], path: "" };
  });
  const size = g.graph() as { width?: number; height?: number };
  return { nodes, edges, width: size.width ?? 400, height: size.height ?? 300 };
}
