import { signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomBehavior } from "d3-zoom";
import type { GraphData, GraphNode } from "../api";
import { Icon, iconPath } from "../icons";
import { fit as fitName } from "../palette";
import { go, graph, listeners, live, now, pathOf, place } from "../state";
import * as format from "../format";
import { Flow } from "./flow";
import { heats, MEASURES, type Measure } from "./heat";
import { HEIGHT, layOut, WIDTH, type Drawn, type Spot } from "./layout";
import { Panel } from "./panel";

const measure = signal<Measure>((localStorage.getItem("measure") as Measure) ?? "rate");
const states = signal(localStorage.getItem("states") !== "hidden");

/** The graph without states: what leads to a state leads to what the state leads to. */
export function withoutStates(data: GraphData): Pick<GraphData, "nodes" | "edges"> {
  const inside = new Set(data.nodes.filter((n) => n.kind === "state" || n.kind === "part").map((n) => n.id));
  const before = new Map<string, string[]>();
  for (const edge of data.edges) before.set(edge.to, [...(before.get(edge.to) ?? []), edge.from]);
  const roots = (id: string, seen: Set<string>): string[] => {
    if (seen.has(id)) return [];
    seen.add(id);
    return (before.get(id) ?? []).flatMap((from) => (inside.has(from) ? roots(from, seen) : [from]));
  };
  const nodes = data.nodes.filter((n) => !inside.has(n.id));
  const edges = nodes.flatMap((n) =>
    [...new Set(roots(n.id, new Set()))].filter((from) => from !== n.id).map((from) => ({ from, to: n.id, kind: "change" as const })),
  );
  return { nodes, edges };
}

function reach(start: string, next: Map<string, string[]>): Set<string> {
  const seen = new Set([start]);
  const waiting = [start];
  while (waiting.length)
    for (const id of next.get(waiting.pop()!) ?? [])
      if (!seen.has(id)) {
        seen.add(id);
        waiting.push(id);
      }
  return seen;
}

const MOST_LETTERS = 23; // of a name, which would run over the edge of its box

const title = (node: GraphNode): string => {
  const label = node.label.replace(/ ~[0-9a-f]+$/, "");
  return label.length > MOST_LETTERS ? `${label.slice(0, MOST_LETTERS - 1)}…` : label;
};
const stepsOf = (node: GraphNode): string => (node.steps ? `${node.steps} ${node.steps === 1 ? "step" : "steps"} per change` : "");

function NodeBox(props: { node: GraphNode; spot: Spot; heat: number | undefined; chosen: boolean; dim: boolean; pulse: number }) {
  const { node, spot } = props;
  const known = live.value.get(node.id);
  const numbers =
    node.kind === "source" ? node.detail.slice(0, 30) : node.kind === "assertion" ? "must stay empty" : `${format.short(known?.rows)} ${node.kind === "state" ? "entries" : "rows"}${known?.bytes == null ? "" : ` · ${format.bytes(known.bytes)}`}`;
  const when = node.kind === "state" ? stepsOf(node) : format.age(known?.at, now.value) || stepsOf(node);
  const rate = known?.rate ? `${known.rate < 10 ? known.rate.toFixed(1) : Math.round(known.rate)}/s` : "";
  return (
    <g
      class={`node ${node.kind}${props.chosen ? " chosen" : ""}${props.dim ? " dim" : ""}`}
      transform={`translate(${spot.x - WIDTH / 2},${spot.y - HEIGHT / 2})`}
      data-id={node.id}
      role="button"
      aria-label={`${node.kind} ${node.label}`}
      style={props.heat == null ? undefined : { "--heat": props.heat.toFixed(3) }}
    >
      {props.pulse > 0 && <rect key={props.pulse} class="pulse" x="-3" y="-3" width={WIDTH + 6} height={HEIGHT + 6} rx="12" />}
      <rect class="box" width={WIDTH} height={HEIGHT} rx="10" />
      {props.heat != null && <rect class="heat" width={WIDTH} height={HEIGHT} rx="10" />}
      <rect class="band" width="4" height={HEIGHT - 20} x="0" y="10" rx="2" />
      <svg x="13" y="10" width="17" height="17" viewBox="0 0 24 24" class="glyph">
        <path d={iconPath(node.kind)} />
      </svg>
      <title>{node.label}</title>
      <text class="name" x="36" y="23">
        {title(node)}
      </text>
      <text class="numbers" x="14" y="42">
        {numbers}
      </text>
      <text class="when" x="14" y="57">
        {when}
      </text>
      {rate && (
        <text class="rate" x={WIDTH - 12} y="57" text-anchor="end">
          {rate}
        </text>
      )}
    </g>
  );
}

export function Graph() {
  const data = graph.value!;
  const shownData = useMemo(() => (states.value ? data : withoutStates(data)), [data, states.value]);
  const drawn: Drawn = useMemo(() => layOut(shownData), [shownData]);
  const byId = useMemo(() => new Map(shownData.nodes.map((n) => [n.id, n])), [shownData]);
  const [after, before] = useMemo(() => {
    const [out, into] = [new Map<string, string[]>(), new Map<string, string[]>()];
    for (const e of shownData.edges) {
      out.set(e.from, [...(out.get(e.from) ?? []), e.to]);
      into.set(e.to, [...(into.get(e.to) ?? []), e.from]);
    }
    return [out, into];
  }, [shownData]);
  const svg = useRef<SVGSVGElement>(null);
  const dots = useRef<SVGGElement>(null);
  const zooming = useRef<ZoomBehavior<SVGSVGElement, unknown>>(null);
  const fitted = useRef(true); // nobody has moved or zoomed since all of it was shown
  const moved = useSignal("");
  const far = useSignal(false);
  const hovered = useSignal<string | null>(null);
  const pulses = useSignal<Map<string, number>>(new Map());
  const typed = useSignal("");
  const asked = new URLSearchParams(place.value.split("?")[1] ?? "").get("node");
  const chosen = asked && byId.has(asked) ? asked : null;
  const choose = (id: string | null) => go(id ? `/graph?node=${encodeURIComponent(id)}` : "/graph");

  const frame = (box: { x: number; y: number; width: number; height: number }, most = 1.15) => {
    const el = svg.current!;
    const { width, height } = el.getBoundingClientRect();
    const k = Math.max(0.05, Math.min(most, (width - 40) / box.width, (height - 110) / box.height));
    const to = zoomIdentity
      .translate(width / 2, height / 2 + 20)
      .scale(k)
      .translate(-(box.x + box.width / 2), -(box.y + box.height / 2));
    select(el).call(zooming.current!.transform, to);
  };
  const fit = () => {
    frame({ x: 0, y: 0, width: drawn.width, height: drawn.height });
    fitted.current = true;
  };
  const scale = (k: number) => {
    fitted.current = false;
    select(svg.current!).call(zooming.current!.scaleBy, k);
  };
  /** Shows all of it; of a graph that would be too small to read, the upper left part. Returns whether it is all of it. */
  const begin = (): boolean => {
    const { width, height } = svg.current!.getBoundingClientRect();
    const k = Math.min(width / drawn.width, height / drawn.height);
    if (k > 0.3) fit();
    else frame({ x: 0, y: 0, width: Math.min(drawn.width, width / 0.6), height: Math.min(drawn.height, height / 0.6) });
    fitted.current = true;
    return k > 0.3;
  };
  const show = (id: string) => {
    const el = svg.current!;
    const spot = drawn.nodes.get(id);
    if (!spot) return;
    if (fitted.current && begin()) return; // the panel has just taken some room; all of it is in sight again
    const now = (el as unknown as { __zoom: typeof zoomIdentity }).__zoom;
    const { width, height } = el.getBoundingClientRect();
    const [x, y] = now.apply([spot.x, spot.y]);
    if (x < 120 || y < 80 || x > width - 140 || y > height - 60) {
      const k = Math.max(now.k, 0.6);
      fitted.current = false;
      select(el).call(zooming.current!.transform, zoomIdentity.translate(width / 2, height / 2).scale(k).translate(-spot.x, -spot.y));
    }
  };

  useEffect(() => {
    const el = svg.current!;
    zooming.current = zoom<SVGSVGElement, unknown>()
      .scaleExtent([0.05, 2.5])
      .on("zoom", ({ transform, sourceEvent }) => {
        if (sourceEvent) fitted.current = false;
        moved.value = transform.toString();
        far.value = transform.k < 0.4;
      });
    select(el).call(zooming.current).on("dblclick.zoom", null);
    begin();
    if (chosen) show(chosen);
    // The panel beside the graph takes room from it, and gives it back: what was all in sight stays so.
    const resized = new ResizeObserver(() => void (svg.current && fitted.current && begin()));
    resized.observe(el);
    return () => resized.disconnect();
  }, [drawn]);
  useEffect(() => {
    if (chosen) show(chosen);
  }, [chosen]);

  useEffect(() => {
    const flow = new Flow(dots.current!);
    const paths = drawn.edges.map((e) => e.path);
    let serial = 0;
    const listener = ({ changes }: { changes: Record<string, [number, number]> }) => {
      flow.run(shownData.edges, paths, changes);
      serial++;
      const next = new Map(pulses.value);
      for (const id of Object.keys(changes)) next.set(id, serial);
      pulses.value = next;
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [drawn]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).closest("input, select, .cm-editor, .veil") || event.metaKey || event.ctrlKey) return;
      if (event.key === "+" || event.key === "=") scale(1.25);
      else if (event.key === "-") scale(0.8);
      else if (event.key === "0") fit();
      else if (event.key === "Escape") choose(null);
      else if (event.key === "Enter" && chosen) go(pathOf(chosen));
      else if (event.key.startsWith("Arrow")) {
        const to = neighbour(event.key, chosen, drawn);
        if (to) choose(to);
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [drawn, chosen]);

  const heat = useComputed(() => heats(byId.size ? [...byId.values()] : [], live.value, measure.value, now.value)).value;
  const focus = hovered.value ?? chosen;
  const near = useMemo(
    () => (focus && byId.has(focus) ? new Set([...reach(focus, after), ...reach(focus, before)]) : null),
    [focus, byId],
  );
  const wanted = typed.value.trim().toLowerCase();
  const fitting = wanted ? new Set([...byId.values()].filter((n) => fitName(n.label, wanted) > 500).map((n) => n.id)) : null;
  const dimmed = (id: string) => (fitting ? !fitting.has(id) : near ? !near.has(id) : false);
  const onTarget = (event: Event) => (event.target as Element).closest("[data-id]")?.getAttribute("data-id") ?? null;

  return (
    <div class="graph-place">
      <div class="canvas">
        <svg
          ref={svg}
          class={`graph${far.value ? " far" : ""}${measure.value === "none" ? "" : " warm"}`}
          data-test="graph"
          onClick={(e) => choose(onTarget(e))}
          onDblClick={(e) => {
            const id = onTarget(e);
            if (id) go(pathOf(id));
          }}
          onMouseOver={(e) => (hovered.value = onTarget(e))}
          onMouseLeave={() => (hovered.value = null)}
        >
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
              <path d="M0,0.500L7.500,4L0,7.500z" />
            </marker>
          </defs>
          <g transform={moved.value}>
            <g>
              {drawn.edges.map((e) => (
                <path
                  key={`${e.from} ${e.to}`}
                  d={e.path}
                  class={`edge ${e.kind}${dimmed(e.from) || dimmed(e.to) ? " dim" : near ? " lit" : ""}`}
                  marker-end="url(#arrow)"
                />
              ))}
            </g>
            <g ref={dots} />
            <g>
              {shownData.nodes.map((node) => (
                <NodeBox
                  key={node.id}
                  node={node}
                  spot={drawn.nodes.get(node.id)!}
                  heat={measure.value === "none" ? undefined : heat.get(node.id)}
                  chosen={node.id === chosen}
                  dim={dimmed(node.id)}
                  pulse={pulses.value.get(node.id) ?? 0}
                />
              ))}
            </g>
          </g>
        </svg>
        <div class="toolbar">
          <div class="field small">
            <Icon name="search" />
            <input
              placeholder="find"
              aria-label="Find in the graph"
              value={typed.value}
              onInput={(e) => (typed.value = e.currentTarget.value)}
              onKeyDown={(e) => {
                if (e.key === "Enter" && fitting?.size) choose([...fitting][0]);
                if (e.key === "Escape") typed.value = "";
              }}
            />
          </div>
          <label class="choice">
            heat
            <select
              value={measure.value}
              data-test="measure"
              onChange={(e) => {
                measure.value = e.currentTarget.value as Measure;
                localStorage.setItem("measure", measure.value);
              }}
            >
              {Object.entries(MEASURES).map(([key, text]) => (
                <option key={key} value={key}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label class="choice">
            <input
              type="checkbox"
              checked={states.value}
              data-test="states"
              onChange={(e) => {
                states.value = e.currentTarget.checked;
                localStorage.setItem("states", states.value ? "shown" : "hidden");
              }}
            />
            states
          </label>
          <Legend />
        </div>
        <div class="zoomer">
          <button title="Zoom in (+)" onClick={() => scale(1.3)}>
            <Icon name="plus" />
          </button>
          <button title="Zoom out (−)" onClick={() => scale(0.77)}>
            <Icon name="minus" />
          </button>
          <button title="Fit (0)" onClick={fit}>
            <Icon name="fit" />
          </button>
        </div>
        {!data.nodes.length && (
          <div class="empty">
            <div>
              <h2>Nothing is defined yet</h2>
              <p>
                Create a table and a view in the <a href="#/console">console</a>.
              </p>
            </div>
          </div>
        )}
      </div>
      {chosen && <Panel node={byId.get(chosen)!} before={before.get(chosen) ?? []} after={after.get(chosen) ?? []} all={byId} onClose={() => choose(null)} />}
    </div>
  );
}

function Legend() {
  return (
    <div class="legend">
      {(["table", "state", "view"] as const).map((kind) => (
        <span key={kind} class={`tag ${kind}`}>
          <Icon name={kind} />
          {kind}
        </span>
      ))}
    </div>
  );
}

/** The nearest node in a direction. */
function neighbour(key: string, from: string | null, drawn: Drawn): string | null {
  const spots = [...drawn.nodes];
  if (!from) return spots.sort((a, b) => a[1].x - b[1].x || a[1].y - b[1].y)[0]?.[0] ?? null;
  const here = drawn.nodes.get(from)!;
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] as [number, number];
  let best: [number, string] | null = null;
  for (const [id, spot] of spots) {
    const along = (spot.x - here.x) * dx + (spot.y - here.y) * dy;
    const across = Math.abs((spot.x - here.x) * dy) + Math.abs((spot.y - here.y) * dx);
    if (along < 20) continue;
    const distance = along + 2.5 * across;
    if (!best || distance < best[0]) best = [distance, id];
  }
  return best?.[1] ?? null;
}
