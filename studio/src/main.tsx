import { render } from "preact";
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import "./style.css";
import { Console } from "./console/console";
import { Graph } from "./graph/graph";
import { Icon } from "./icons";
import { Palette, openPalette } from "./palette";
import { Relation } from "./relation/relation";
import { Relations } from "./relation/relations";
import { Runs } from "./runs/runs";
import { connected, go, graph, place, problem, start, theme, version, type Theme } from "./state";
import * as format from "./format";

const PLACES = [
  { path: "/graph", name: "Graph", icon: "graph", key: "g" },
  { path: "/relations", name: "Views", icon: "table", key: "v" },
  { path: "/runs", name: "Runs", icon: "runs", key: "r" },
  { path: "/console", name: "Console", icon: "console", key: "c" },
] as const;
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const help = signal(false);

function Rail() {
  const at = place.value;
  const within = (path: string) =>
    at.startsWith(path) || (path === "/relations" && /^\/(view|table)\//.test(at));
  return (
    <nav class="rail" aria-label="Places">
      <a class="brand" href="#/graph" title="evercurrent studio">
        <Icon name="brand" />
      </a>
      {PLACES.map((p) => (
        <a
          key={p.path}
          href={`#${p.path}`}
          class={within(p.path) ? "on" : ""}
          aria-current={within(p.path) ? "page" : undefined}
          title={`${p.name} (${p.key})`}
        >
          <Icon name={p.icon} />
          <span>{p.name}</span>
        </a>
      ))}
      <div class="grow" />
      <button onClick={() => openPalette()} title="Search (/)">
        <Icon name="search" />
        <span>Search</span>
      </button>
      <button onClick={() => (theme.value = NEXT[theme.value])} title={`Theme: ${theme.value}`} data-test="theme">
        <Icon name={theme.value === "dark" ? "moon" : theme.value === "light" ? "sun" : "system"} />
        <span>{theme.value[0].toUpperCase() + theme.value.slice(1)}</span>
      </button>
      <button onClick={() => (help.value = true)} title="Keys (?)">
        <Icon name="keys" />
        <span>Keys</span>
      </button>
      <div class={connected.value ? "alive" : "alive off"} title={connected.value ? "connected" : "not connected"}>
        <i />
        <span>{format.count(version.value)}</span>
      </div>
    </nav>
  );
}

function Place() {
  const at = place.value;
  const path = at.split("?")[0];
  const found = /^\/(view|table)\/([^/]+)(?:\/(\w+))?/.exec(path);
  if (found)
    return (
      <Relation key={`${found[1]}/${found[2]}`} kind={found[1] as "view" | "table"} name={decodeURIComponent(found[2])} tab={found[3] ?? "rows"} />
    );
  if (path.startsWith("/relations")) return <Relations />;
  if (path.startsWith("/runs")) return <Runs />;
  if (path.startsWith("/console")) return <Console />;
  return <Graph />;
}

const KEYS = [
  ["g  v  r  c", "graph, views, runs, console"],
  ["/  or  ⌘K", "search"],
  ["+  −  0", "zoom in, zoom out, fit the graph"],
  ["← ↑ → ↓", "go along the graph, or through rows"],
  ["Enter", "open what is selected"],
  ["w", "why is the selected row there"],
  ["⌘↵  Ctrl↵", "run the statement in the console"],
  ["Esc", "close"],
];

function Help() {
  if (!help.value) return null;
  return (
    <div class="veil" onClick={() => (help.value = false)}>
      <div class="card keys" role="dialog" aria-label="Keys">
        <h2>Keys</h2>
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <kbd>{keys}</kbd>
            <span>{what}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function App() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if ((event.metaKey || event.ctrlKey) && event.key === "k") {
        event.preventDefault();
        openPalette();
        return;
      }
      if (event.key === "Escape") help.value = false;
      if (target.closest("input, textarea, select, .cm-editor") || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === "/") {
        event.preventDefault();
        openPalette();
      } else if (event.key === "?") help.value = true;
      const to = PLACES.find((p) => p.key === event.key);
      if (to) {
        event.preventDefault();
        go(to.path);
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <Rail />
      <main>
        {problem.value && <div class="banner">{problem.value}</div>}
        {graph.value ? <Place /> : <div class="empty">{problem.value ? "" : "reading…"}</div>}
      </main>
      <Palette />
      <Help />
    </>
  );
}

start();
render(<App />, document.getElementById("app")!);
