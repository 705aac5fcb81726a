import type { About } from "../api";
import { Code, Marked } from "../code";
import { Icon } from "../icons";
import { graph, live, pathOf } from "../state";
import * as format from "../format";

/** The text of a view, its columns and keys, and what is kept for it. */
export function Definition({ about }: { about: About }) {
  const kept = graph.value!.nodes.filter((n) => n.kind === "state" && n.views.includes(about.name));
  return (
    <div class="scroll pad definition">
      <Marked />
      <section class="card">
        <h3>{about.language === "python" ? "Python" : about.language?.toUpperCase()}</h3>
        <Code text={about.text ?? ""} />
      </section>
      <div class="two">
        <section class="card">
          <h3>Columns</h3>
          <table class="columns">
            {about.columns.map((c) => (
              <tr key={c.name}>
                <td>{c.name}</td>
                <td>
                  {c.type}
                  {c.nullable ? "" : " not null"}
                </td>
              </tr>
            ))}
          </table>
          {about.keys.length > 0 && <p class="muted">keys: {about.keys.map((k) => `(${k.join(", ")})`).join(" ")}</p>}
        </section>
        <section class="card">
          <h3>Reads</h3>
          <div class="links">
            {(about.uses ?? []).map((name) => {
              const node = graph.value!.nodes.find((n) => n.name === name && n.kind !== "state");
              return node ? (
                <a key={name} class={`tag ${node.kind}`} href={`#${pathOf(node.id)}`}>
                  <Icon name={node.kind} />
                  {name}
                </a>
              ) : (
                <span key={name} class="tag">
                  {name}
                </span>
              );
            })}
          </div>
        </section>
      </div>
      <section class="card list">
        <table>
          <thead>
            <tr>
              <th>What is kept for it</th>
              <th>Entry</th>
              <th>Why</th>
              <th class="right">Entries</th>
              <th class="right">Bytes</th>
              <th>Shared with</th>
            </tr>
          </thead>
          <tbody>
            {kept.map((node) => (
              <tr key={node.id}>
                <td>
                  <a class="named state" href={`#${pathOf(node.id)}`}>
                    <Icon name="state" />
                    {node.label.replace(/ ~[0-9a-f]+$/, "")}
                  </a>
                </td>
                <td class="mono">{node.detail}</td>
                <td class="wrap">{node.why}</td>
                <td class="right num">{format.count(live.value.get(node.id)?.rows)}</td>
                <td class="right num">{format.bytes(live.value.get(node.id)?.bytes)}</td>
                <td class="muted wrap">{node.views.filter((v) => v !== about.name).join(", ")}</td>
              </tr>
            ))}
            {!kept.length && (
              <tr>
                <td colSpan={6} class="muted">
                  nothing but its rows
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </section>
    </div>
  );
}
