import { useSignal } from "@preact/signals";
import { Icon } from "../icons";
import { go, graph, live, now, pathOf } from "../state";
import * as format from "../format";

/** All views and tables, as a list. */
export function Relations() {
  const typed = useSignal("");
  const wanted = typed.value.trim().toLowerCase();
  const nodes = graph.value!.nodes.filter(
    (n) => (n.kind === "view" || n.kind === "table") && n.name.toLowerCase().includes(wanted),
  );
  const groups = [
    { title: "Views", nodes: nodes.filter((n) => n.kind === "view") },
    { title: "Tables", nodes: nodes.filter((n) => n.kind === "table") },
  ];
  return (
    <div class="scroll pad">
      <header class="place">
        <h1>Views and tables</h1>
        <div class="field">
          <Icon name="search" />
          <input placeholder="find" value={typed.value} onInput={(e) => (typed.value = e.currentTarget.value)} />
        </div>
      </header>
      {groups.map(
        ({ title, nodes }) =>
          nodes.length > 0 && (
            <section key={title} class="card list">
              <table>
                <thead>
                  <tr>
                    <th>{title}</th>
                    <th>Kept</th>
                    <th class="right">Rows</th>
                    <th class="right">Bytes</th>
                    <th class="right">Steps</th>
                    <th class="right">Changes</th>
                    <th>Last change</th>
                  </tr>
                </thead>
                <tbody>
                  {nodes.map((node) => {
                    const known = live.value.get(node.id);
                    return (
                      <tr key={node.id} onClick={() => go(pathOf(node.id))}>
                        <td>
                          <a href={`#${pathOf(node.id)}`} class={`named ${node.kind}`}>
                            <Icon name={node.kind} />
                            {node.name}
                          </a>
                        </td>
                        <td class="muted">{node.detail || `${node.columns.length} ${node.columns.length === 1 ? "column" : "columns"}`}</td>
                        <td class="right num">{format.count(known?.rows)}</td>
                        <td class="right num">{format.bytes(known?.bytes)}</td>
                        <td class="right num">{node.steps || ""}</td>
                        <td class="right num">{known?.rate ? `${known.rate.toFixed(1)}/s` : ""}</td>
                        <td class="muted">{format.age(known?.at, now.value)}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </section>
          ),
      )}
      {!nodes.length && (
        <div class="empty" data-test="nothing">
          {wanted ? (
            <p>No view and no table has “{typed.value.trim()}” in its name.</p>
          ) : (
            <div>
              <h2>Nothing is defined yet</h2>
              <p>
                Create a table and a view in the <a href="#/console">console</a>.
              </p>
            </div>
          )}
        </div>
      )}
    </div>
  );
}
