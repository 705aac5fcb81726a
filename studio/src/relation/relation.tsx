import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, type About } from "../api";
import { Icon } from "../icons";
import { go, graph, live, now, version } from "../state";
import * as format from "../format";
import { Definition } from "./definition";
import { History } from "./history";
import { Rows } from "./rows";
import { Stages } from "./stages";

const TABS: Record<string, string> = { rows: "Rows", definition: "Definition", stages: "How it is kept", history: "History" };

/** One view or table. */
export function Relation(props: { kind: "view" | "table"; name: string; tab: string }) {
  const about = useSignal<About | null>(null);
  const problem = useSignal("");
  const definitions = graph.value;
  useEffect(() => {
    get<About>(`api/about/${props.kind}/${encodeURIComponent(props.name)}`)
      .then((found) => (about.value = found))
      .catch((error: Error) => (problem.value = error.message));
  }, [definitions]);
  if (problem.value) return <div class="empty">{problem.value}</div>;
  if (!about.value) return <div class="empty" />;
  const found = about.value;
  const id = `${found.kind}:${found.name}`;
  const known = live.value.get(id);
  const path = `/${found.kind}/${encodeURIComponent(found.name)}`;
  const tabs = Object.keys(TABS).filter((t) => found.kind === "view" || t === "rows" || t === "history");
  return (
    <div class="relation">
      <header class="place">
        <span class={`tag ${found.kind}`}>
          <Icon name={found.kind} />
          {found.kind}
        </span>
        <h1 title={found.name}>{found.name}</h1>
        <div class="facts line">
          <span>
            <b>{format.count(known?.rows)}</b> rows
          </span>
          {known?.bytes != null && <span>{format.bytes(known.bytes)}</span>}
          {found.language && (
            <span>
              {found.language === "python" ? "Python" : found.language.toUpperCase()}, {found.policy}
              {found.mode === "strict" ? "" : `, ${found.mode}`}
            </span>
          )}
          {known?.at != null && <span>changed {format.age(known.at, now.value)}</span>}
          <span>version {format.count(version.value)}</span>
        </div>
        <div class="grow" />
        <button onClick={() => go(`/graph?node=${encodeURIComponent(id)}`)}>
          <Icon name="graph" />
          Show in the graph
        </button>
      </header>
      <div class="tabs" role="tablist">
        {tabs.map((tab) => (
          <a key={tab} role="tab" aria-selected={tab === props.tab} class={tab === props.tab ? "on" : ""} href={`#${path}/${tab}`}>
            {TABS[tab]}
          </a>
        ))}
      </div>
      {props.tab === "definition" ? (
        <Definition about={found} />
      ) : props.tab === "stages" ? (
        <Stages about={found} />
      ) : props.tab === "history" ? (
        <History about={found} />
      ) : (
        <Rows about={found} />
      )}
    </div>
  );
}
