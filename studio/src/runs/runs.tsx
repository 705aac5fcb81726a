import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api";
import { graph, now, pathOf, version } from "../state";
import * as format from "../format";
import { Chart } from "./chart";

interface ViewRun {
  view: string;
  strategy: string;
  code?: string;
  reason?: string;
  rows_in?: number;
  rows_changed: number;
  estimate?: number;
  instead?: number | null;
  bytes_read?: number;
  seconds?: number;
  shared?: number;
  expected?: number;
  way?: string;
}
interface Run {
  version: number;
  at: number | null;
  batch?: string | null;
  kind?: string;
  rows_in: Record<string, number>;
  views: ViewRun[];
  bytes_read?: number;
  jobs?: number;
  seconds?: number | null;
  steps?: Record<string, number>;
  notes?: string[];
}

const total = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

/** What each batch or transaction did, and what it cost. */
export function Runs() {
  const found = useSignal<{ kind: string; runs: Run[] } | null>(null);
  const chosen = useSignal<number | null>(null);
  useEffect(() => {
    const later = setTimeout(
      () => void get<{ kind: string; runs: Run[] }>("api/runs").then((r) => (found.value = r)).catch(() => {}),
      found.value ? 600 : 0,
    );
    return () => clearTimeout(later);
  }, [version.value]);
  const runs = found.value?.runs ?? [];
  const lately = useMemo(() => runs.slice(-200), [found.value]);
  const warehouse = found.value?.kind === "warehouse";
  const charts = useMemo(() => {
    const at = lately.map((r) => r.version);
    const sum = (f: (v: ViewRun) => number | undefined) => lately.map((r) => total(r.views.map((v) => f(v) ?? 0)));
    const cost = [
      { name: "expected", color: "#f59e0b", values: sum((v) => v.expected), dashed: true },
      { name: "seconds", color: "#0d9488", values: lately.map((r) => r.seconds ?? null) },
    ];
    return {
      at,
      cost,
      rows: [
        { name: "rows in", color: "#3b82f6", values: lately.map((r) => total(Object.values(r.rows_in))), bars: true },
        { name: "rows changed in views", color: "#0d9488", values: sum((v) => v.rows_changed), bars: false },
      ],
      views: [{ name: "views", color: "#8b5cf6", values: lately.map((r) => r.views.length), bars: true }],
      bytes: [
        { name: "estimate", color: "#f59e0b", values: sum((v) => v.estimate), dashed: true },
        { name: "read", color: "#8b5cf6", values: lately.map((r) => r.bytes_read ?? 0) },
      ],
    };
  }, [lately, warehouse]);
  if (!found.value) return <div class="empty">reading…</div>;
  const choose = (at: number) => (chosen.value = lately[at]?.version ?? null);
  const one = runs.find((r) => r.version === chosen.value) ?? null;
  const names = new Map(graph.value!.nodes.map((n) => [n.name, n.id]));
  return (
    <div class="scroll pad" data-test="runs">
      <header class="place">
        <h1>Runs</h1>
        <span class="muted">
          {warehouse ? "every batch of the warehouse" : "transactions while the studio was open"}: {format.count(runs.length)}
        </span>
      </header>
      {runs.length > 0 ? (
        <>
          <div class="charts">
            {warehouse && <Chart title="Seconds, against what was expected" at={charts.at} lines={charts.cost} show={format.seconds} chosen={chosen.value} onChoose={choose} />}
            <Chart title="Rows taken in, and rows changed in all views" at={charts.at} lines={charts.rows} show={format.short} chosen={chosen.value} onChoose={choose} />
            {!warehouse && <Chart title="Views changed" at={charts.at} lines={charts.views} show={format.short} chosen={chosen.value} onChoose={choose} />}
            {warehouse && <Chart title="Bytes read, against the estimate" at={charts.at} lines={charts.bytes} show={format.bytes} chosen={chosen.value} onChoose={choose} />}
          </div>
          {one && (
            <section class="card list" data-test="run">
              <header class="place">
                <h2>Version {format.count(one.version)}</h2>
                <span class="muted">
                  {[one.kind, one.batch, one.seconds != null && format.seconds(one.seconds), one.jobs != null && `${one.jobs} jobs`].filter(Boolean).join(" · ")}
                </span>
                <div class="grow" />
                {Object.entries(one.rows_in).map(([table, rows]) => (
                  <span key={table} class="tag table">
                    {table} {format.count(rows)}
                  </span>
                ))}
              </header>
              <table>
                <thead>
                  <tr>
                    <th>View</th>
                    <th>Strategy</th>
                    <th class="right">Rows changed</th>
                    {warehouse && (
                      <>
                        <th class="right">Estimate</th>
                        <th class="right">Read</th>
                        <th class="right">Expected</th>
                        <th class="right">Seconds</th>
                        <th>Why</th>
                      </>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {one.views.map((v) => (
                    <tr key={v.view}>
                      <td>{names.has(v.view) ? <a href={`#${pathOf(names.get(v.view)!)}`}>{v.view}</a> : v.view}</td>
                      <td>
                        <span class={`chip strategy ${v.strategy}`}>{v.strategy}</span>
                      </td>
                      <td class="right num">{format.count(v.rows_changed)}</td>
                      {warehouse && (
                        <>
                          <td class="right num">{format.bytes(v.estimate)}</td>
                          <td class="right num">{format.bytes(v.bytes_read)}</td>
                          <td class="right num">{format.seconds(v.expected)}</td>
                          <td class="right num">{format.seconds(v.seconds)}</td>
                          <td class="muted">
                            {v.code ? `${v.code}: ` : ""}
                            {v.reason}
                          </td>
                        </>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
              {one.steps && Object.keys(one.steps).length > 0 && (
                <p class="muted pad">{Object.entries(one.steps).map(([name, s]) => `${name} ${format.seconds(s)}`).join(" · ")}</p>
              )}
            </section>
          )}
          <section class="card list">
            <table>
              <thead>
                <tr>
                  <th class="right">Version</th>
                  <th>When</th>
                  {warehouse && <th>What</th>}
                  <th>Rows in</th>
                  <th class="right">Rows changed</th>
                  {warehouse && <th class="right">Read</th>}
                  <th class="right">{warehouse ? "Seconds" : "Views"}</th>
                </tr>
              </thead>
              <tbody>
                {[...runs].reverse().slice(0, 300).map((run) => (
                  <tr key={run.version} class={run.version === chosen.value ? "on" : ""} onClick={() => (chosen.value = run.version)}>
                    <td class="right num">{format.count(run.version)}</td>
                    <td class="muted">{format.age(run.at, now.value)}</td>
                    {warehouse && <td class="muted">{run.batch ?? run.kind}</td>}
                    <td>{Object.entries(run.rows_in).map(([t, n]) => `${t} ${format.count(n)}`).join(", ")}</td>
                    <td class="right num">{format.count(total(run.views.map((v) => v.rows_changed)))}</td>
                    {warehouse && <td class="right num">{format.bytes(run.bytes_read)}</td>}
                    <td class="right num">{warehouse ? format.seconds(run.seconds) : run.views.length}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      ) : (
        <div class="empty">
          <p>No change since this page was opened. As soon as rows change, their transactions are drawn here.</p>
        </div>
      )}
    </div>
  );
}
