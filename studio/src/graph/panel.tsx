import type { GraphNode } from "../api";
import { Icon } from "../icons";
import { go, live, now, pathOf } from "../state";
import * as format from "../format";

function Links(props: { title: string; ids: string[]; all: Map<string, GraphNode> }) {
  if (!props.ids.length) return null;
  return (
    <section>
      <h3>{props.title}</h3>
      <div class="links">
        {props.ids.map((id) => {
          const node = props.all.get(id);
          return node ? (
            <a key={id} class={`tag ${node.kind}`} href={`#/graph?node=${encodeURIComponent(id)}`}>
              <Icon name={node.kind} />
              <span title={node.label}>{node.label.replace(/ ~[0-9a-f]+$/, "")}</span>
            </a>
          ) : null;
        })}
      </div>
    </section>
  );
}

export function Panel(props: { node: GraphNode; before: string[]; after: string[]; all: Map<string, GraphNode>; onClose: () => void }) {
  const { node } = props;
  const known = live.value.get(node.id);
  const opens = node.kind === "view" || node.kind === "table";
  return (
    <aside class="panel" data-test="panel">
      <header>
        <span class={`tag ${node.kind}`}>
          <Icon name={node.kind} />
          {node.kind}
        </span>
        <button class="plain" title="Close (Esc)" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </header>
      <h2>{node.label.replace(/ ~[0-9a-f]+$/, "")}</h2>
      {node.detail && <p class="detail">{node.detail}</p>}
      {opens && (
        <button class="primary" onClick={() => go(pathOf(node.id))}>
          <Icon name="open" />
          Open {node.kind}
        </button>
      )}
      <dl class="facts">
        {node.kind !== "assertion" && node.kind !== "source" && (
          <>
            <div>
              <dt>{node.kind === "state" ? "entries" : "rows"}</dt>
              <dd>{format.count(known?.rows)}</dd>
            </div>
            <div>
              <dt>bytes</dt>
              <dd>{format.bytes(known?.bytes)}</dd>
            </div>
          </>
        )}
        {node.steps > 0 && (
          <div>
            <dt>steps per change</dt>
            <dd>{node.steps}</dd>
          </div>
        )}
        {known?.at != null && (
          <div>
            <dt>last change</dt>
            <dd>{format.age(known.at, now.value)}</dd>
          </div>
        )}
        {!!known?.rate && (
          <div>
            <dt>changes</dt>
            <dd>{known.rate.toFixed(1)}/s</dd>
          </div>
        )}
      </dl>
      {node.why && (
        <section>
          <h3>{node.kind === "state" ? "Why it is kept" : "Why"}</h3>
          <p>{node.why}</p>
        </section>
      )}
      {node.columns.length > 0 && (
        <section>
          <h3>Columns</h3>
          <table class="columns">
            {node.columns.map((c) => (
              <tr key={c.name}>
                <td>{c.name}</td>
                <td>
                  {c.type}
                  {c.nullable ? "" : " not null"}
                </td>
              </tr>
            ))}
          </table>
        </section>
      )}
      {node.views.length > 0 && (
        <Links title={node.views.length > 1 ? `Shared by ${node.views.length} views` : "Kept for"} ids={node.views.map((v) => `view:${v}`)} all={props.all} />
      )}
      <Links title="Changes come from" ids={props.before} all={props.all} />
      <Links title="Leads to" ids={props.after} all={props.all} />
    </aside>
  );
}
