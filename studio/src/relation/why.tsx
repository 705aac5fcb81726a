import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, type About, type Value } from "../api";
import { Icon } from "../icons";
import { pathOf } from "../state";
import * as format from "../format";

interface From {
  name: string;
  kind: "table" | "view" | "part";
  columns: string[];
  rows: Value[][];
  times: number[];
  count: number;
}
interface Step {
  relations: From[];
  absent: string[];
  whole: boolean;
}

const stepOf = (view: string, row: Value[]): Promise<Step> =>
  get<Step>(`api/why/${encodeURIComponent(view)}?row=${encodeURIComponent(JSON.stringify(row))}`);

function Cells({ columns, row }: { columns: string[]; row: Value[] }) {
  return (
    <span class="cells">
      {columns.map((name, i) => (
        <span key={name}>
          <small>{name}</small>
          <b class={row[i] === null ? "null" : ""}>{format.cell(row[i])}</b>
        </span>
      ))}
    </span>
  );
}

function Branch({ view, row }: { view: string; row: Value[] }) {
  const step = useSignal<Step | null>(null);
  const problem = useSignal("");
  useEffect(() => {
    step.value = null;
    problem.value = "";
    stepOf(view, row)
      .then((found) => (step.value = found))
      .catch((error: Error) => (problem.value = error.message));
  }, [view, JSON.stringify(row)]);
  if (problem.value) return <p class="muted">{problem.value}</p>;
  if (!step.value) return <p class="muted">looking…</p>;
  return (
    <ul class="tree">
      {step.value.relations.map((from) => (
        <Relation key={from.name} from={from} whole={step.value!.whole} />
      ))}
      {step.value.absent.map((text) => (
        <li key={text} class="absent">
          because there is {text}
        </li>
      ))}
      {!step.value.relations.length && !step.value.absent.length && <li class="muted">no row of any table</li>}
    </ul>
  );
}

function Relation({ from, whole }: { from: From; whole: boolean }) {
  const open = useSignal<Set<number>>(new Set(from.rows.length === 1 ? [0] : []));
  const all = useSignal(false);
  const most = all.value ? from.rows.length : 8;
  const opens = from.kind !== "table" && !whole;
  return (
    <li>
      <a class={`tag ${from.kind}`} href={`#${pathOf(`${from.kind}:${from.name}`)}`}>
        <Icon name={from.kind} />
        {from.name}
      </a>
      <small class="muted"> {from.count > 1 ? `${format.count(from.count)} rows` : ""}</small>
      <ul class="tree">
        {from.rows.slice(0, most).map((row, i) => (
          <li key={i} class="leaf">
            <div
              class={`derived${opens ? " opens" : ""}`}
              onClick={() => {
                if (!opens) return;
                const next = new Set(open.value);
                if (!next.delete(i)) next.add(i);
                open.value = next;
              }}
            >
              {opens && <span class="fold">{open.value.has(i) ? "−" : "+"}</span>}
              <Cells columns={from.columns} row={row} />
              {from.times[i] > 1 && <em>{from.times[i]} times</em>}
            </div>
            {opens && open.value.has(i) && <Branch view={from.name} row={row} />}
          </li>
        ))}
        {from.rows.length > most && (
          <li>
            <button class="plain" onClick={() => (all.value = true)}>
              {format.count(from.count - most)} more
            </button>
          </li>
        )}
      </ul>
    </li>
  );
}

/** Why a row is there: the rows that it comes from, and why those are there. */
export function Why(props: { about: About; row: Value[]; onClose: () => void }) {
  return (
    <aside class="panel why" data-test="why">
      <header>
        <span class="tag">
          <Icon name="why" />
          why is this row there
        </span>
        <button class="plain" title="Close (Esc)" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="derived root">
        <Cells columns={props.about.columns.map((c) => c.name)} row={props.row} />
      </div>
      <p class="muted">comes from</p>
      <Branch view={props.about.name} row={props.row} />
    </aside>
  );
}
