import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { post, Refusal, type Column, type GraphNode, type Problem, type Value } from "../api";
import { Icon } from "../icons";
import { graph, loadGraph } from "../state";
import * as format from "../format";
import { Editor, type Language } from "./editor";

interface Result {
  columns?: Column[];
  rows?: Value[][];
  count?: number;
  value?: Value;
  message?: string;
  seconds: number;
  version: number;
}

const language = signal<Language>((localStorage.getItem("language") as Language) ?? "sql");
const result = signal<Result | null>(null);
const problem = signal<Problem | null>(null);
const running = signal(false);
const past = signal<string[]>(JSON.parse(localStorage.getItem("statements") ?? "[]"));
let draft = localStorage.getItem("draft") ?? "";

/** Statements in SQL and OQL, and what they return. */
export function Console() {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor>(null);
  const at = useRef(past.value.length);
  const run = async () => {
    const text = editor.current!.text;
    if (!text.trim() || running.value) return;
    running.value = true;
    editor.current!.mark(null);
    past.value = [...past.value.filter((t) => t !== text), text].slice(-100);
    at.current = past.value.length;
    localStorage.setItem("statements", JSON.stringify(past.value));
    try {
      result.value = await post<Result>("api/console", { text, language: language.value });
      problem.value = null;
      if (/\b(create|drop|alter|define|undefine)\b/i.test(text)) await loadGraph();
    } catch (error) {
      result.value = null;
      problem.value = error instanceof Refusal ? error.problem : { error: "Error", what: (error as Error).message, message: "" };
      if (problem.value.place) editor.current!.mark(problem.value.place);
    }
    running.value = false;
    editor.current!.view.focus();
  };
  useEffect(() => {
    const made = new Editor(
      box.current!,
      draft,
      graph.value!.nodes,
      language.value,
      () => void run(),
      (text) => {
        draft = text;
        localStorage.setItem("draft", text);
      },
      (by) => {
        const to = at.current + by;
        if (to < 0 || to >= past.value.length) return false;
        at.current = to;
        made.text = past.value[to];
        return true;
      },
    );
    editor.current = made;
    made.view.focus();
    return () => made.view.destroy();
  }, []);
  useEffect(() => {
    editor.current!.use(language.value, graph.value!.nodes);
    localStorage.setItem("language", language.value);
  }, [language.value, graph.value]);
  const found = result.value;
  return (
    <div class="console-place" data-test="console">
      <header class="place">
        <h1>Console</h1>
        <div class="switch" role="radiogroup" aria-label="Language">
          {(["sql", "oql"] as const).map((l) => (
            <button key={l} role="radio" aria-checked={language.value === l} class={language.value === l ? "on" : ""} onClick={() => (language.value = l)}>
              {l.toUpperCase()}
            </button>
          ))}
        </div>
        <div class="grow" />
        {past.value.length > 0 && (
          <select
            class="past"
            aria-label="Earlier statements"
            value=""
            onChange={(e) => {
              if (e.currentTarget.value) editor.current!.text = past.value[Number(e.currentTarget.value)];
              e.currentTarget.value = "";
            }}
          >
            <option value="">earlier statements</option>
            {past.value.map((text, i) => (
              <option key={i} value={i}>
                {text.replace(/\s+/g, " ").slice(0, 80)}
              </option>
            ))}
          </select>
        )}
        <button class="primary" onClick={() => void run()} disabled={running.value} title="Ctrl+Enter" data-test="run">
          <Icon name="play" />
          {running.value ? "running…" : "Run"}
        </button>
      </header>
      <div class="editor card" ref={box} />
      <div class="result">
        {!problem.value && !found && (
          <div class="beginnings" data-test="beginnings">
            <p class="muted">Ctrl+Enter runs what is written above. To begin with:</p>
            {beginnings(graph.value!.nodes, language.value).map((text) => (
              <button
                key={text}
                onClick={() => {
                  editor.current!.text = text;
                  void run();
                }}
              >
                <code>{text}</code>
              </button>
            ))}
          </div>
        )}
        {problem.value && (
          <div class="card problem" role="alert" data-test="problem">
            <b>{problem.value.error.replace(/Error$/, " error")}</b>
            <p>{problem.value.what}</p>
            {problem.value.excerpt && <pre>{problem.value.excerpt}</pre>}
            {problem.value.hint && <p class="hint">{problem.value.hint}</p>}
          </div>
        )}
        {found && (
          <>
            <p class="muted">
              {found.columns ? `${format.count(found.count)} ${found.count === 1 ? "row" : "rows"}` : found.message || "done"} · {format.seconds(found.seconds)} · version{" "}
              {format.count(found.version)}
              {found.count != null && found.rows && found.count > found.rows.length ? ` · the first ${format.count(found.rows.length)} shown` : ""}
            </p>
            {found.columns && (
              <div class="card list scroll" data-test="result">
                <table>
                  <thead>
                    <tr>
                      {found.columns.map((c) => (
                        <th key={c.name} class={format.isNumeric(c.type) ? "right" : ""} title={c.type}>
                          {c.name}
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {found.rows!.map((row, i) => (
                      <tr key={i}>
                        {row.map((value, j) => (
                          <td key={j} class={`${format.isNumeric(found.columns![j].type) ? "right num" : ""}${value === null ? " null" : ""}`}>
                            {format.cell(value)}
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            {found.value !== undefined && !found.columns && <Nested value={found.value} />}
          </>
        )}
      </div>
    </div>
  );
}

/** Statements for somebody who has none yet, over what there is. */
function beginnings(nodes: GraphNode[], spoken: Language): string[] {
  const view = nodes.find((n) => n.kind === "view") ?? nodes.find((n) => n.kind === "table");
  if (!view) return spoken === "sql" ? ["CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2))"] : [];
  const plain = /^[a-z_][a-z0-9_]*$/i.test(view.name);
  const name = plain ? view.name : `\`${view.name}\``;
  if (spoken === "oql") return plain ? [`select x from x in ${name}`, `count(${name})`] : [];
  return [`SELECT * FROM ${name} LIMIT 20`, `SELECT COUNT(*) AS n FROM ${name}`, ...(view.kind === "view" ? [`EXPLAIN ${name}`] : []), "SHOW TABLES"];
}

/** A value of OQL: a table if it is a collection of records, JSON otherwise. */
function Nested({ value }: { value: Value }) {
  const isRecord = (v: Value): v is { [name: string]: Value } => typeof v === "object" && v !== null && !Array.isArray(v);
  if (Array.isArray(value) && value.length && value.every(isRecord)) {
    const columns = Object.keys(value[0] as object);
    return (
      <div class="card list scroll" data-test="result">
        <table>
          <thead>
            <tr>
              {columns.map((c) => (
                <th key={c}>{c}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(value as { [name: string]: Value }[]).slice(0, 1000).map((record, i) => (
              <tr key={i}>
                {columns.map((c) => (
                  <td key={c}>{format.cell(record[c])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  }
  return (
    <pre class="card value" data-test="result">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
