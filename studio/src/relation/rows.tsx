import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get, type About, type Page, type Value } from "../api";
import { Icon } from "../icons";
import * as format from "../format";
import { followChanges, identify, sort, type Touched } from "./feed";
import { Slider } from "./slider";
import { Why } from "./why";

const ROW = 30;
const PAGE = 100;
/** Browsers draw nothing taller than some ten million pixels: beyond that, scrolling is scaled. */
const TALLEST = 8_000_000;
const FLASH = 1600;

interface Ghost {
  index: number;
  row: Value[];
  serial: number;
}

/** The rows of a table or view, live: only those in sight are asked for. */
export function Rows({ about }: { about: About }) {
  const filter = useSignal("");
  const order = useSignal<{ column: string; descending: boolean } | null>(null);
  const at = useSignal<number | null>(null); // an earlier version
  const pages = useSignal<Map<number, Value[][]>>(new Map());
  const meta = useSignal<{ count: number; version: number; problem: string }>({ count: 0, version: 0, problem: "" });
  const top = useSignal(0);
  const height = useSignal(600);
  const chosen = useSignal<number | null>(null);
  const explained = useSignal<Value[] | null>(null);
  const touched = useSignal<Map<string, Touched>>(new Map());
  const ghosts = useSignal<Ghost[]>([]);
  const serial = useRef(0);
  const coming = useRef(new Map<string, Touched>());
  const gone = useRef(new Set<string>());
  const dirty = useRef(false); // what was read is old
  const again = useRef(false); // somebody has asked since
  const loading = useRef(false);
  const took = useRef(0);
  const box = useRef<HTMLDivElement>(null);
  const of = identify(about);

  const visible = Math.ceil(height.value / ROW) + 1;
  const total = meta.value.count;
  const tall = Math.min(TALLEST, total * ROW);
  const scaled = total * ROW > TALLEST;
  const first = scaled
    ? Math.round(Math.min(1, top.value / Math.max(1, tall - height.value)) * Math.max(0, total - visible + 2))
    : Math.floor(top.value / ROW);
  const shift = scaled ? top.value : first * ROW;

  const sight = useRef({ first, visible });
  sight.current = { first, visible };

  /** Marks the rows that have come or changed since the last page, now that they are there. */
  const flash = () => {
    const mine = serial.current;
    touched.value = new Map([...touched.value, ...coming.current]);
    coming.current = new Map();
    setTimeout(() => {
      touched.value = new Map([...touched.value].filter(([, mark]) => mark.serial > mine));
    }, FLASH);
  };
  const load = async (fresh: boolean): Promise<void> => {
    if (loading.current) {
      again.current = true;
      dirty.current = dirty.current || fresh;
      return;
    }
    loading.current = true;
    try {
      do {
        again.current = dirty.current = false;
        const { first, visible } = sight.current;
        const from = Math.floor(first / PAGE);
        const to = Math.floor((first + visible) / PAGE);
        const next = fresh ? new Map<number, Value[][]>() : new Map(pages.value);
        for (let page = from; page <= to; page++) {
          if (next.has(page)) continue;
          const asked = new URLSearchParams({ offset: String(page * PAGE), limit: String(PAGE) });
          if (filter.value) asked.set("filter", filter.value);
          if (order.value) {
            asked.set("sort", order.value.column);
            if (order.value.descending) asked.set("descending", "true");
          }
          if (at.value != null) asked.set("version", String(at.value));
          const found = await get<Page>(`api/rows/${about.kind}/${encodeURIComponent(about.name)}?${asked}`);
          took.current = found.took;
          next.set(page, found.rows);
          meta.value = { count: found.count, version: found.version, problem: "" };
        }
        if (gone.current.size) {
          const lost: Ghost[] = [];
          for (const [page, rows] of pages.value)
            rows.forEach((row, i) => {
              const index = page * PAGE + i;
              if (index >= first && index < first + visible && gone.current.has(of(row)))
                lost.push({ index, row, serial: serial.current });
            });
          gone.current = new Set();
          if (lost.length) {
            ghosts.value = [...ghosts.value, ...lost];
            setTimeout(() => (ghosts.value = ghosts.value.filter((g) => !lost.includes(g))), 900);
          }
        }
        pages.value = next;
        if (fresh && coming.current.size) flash();
        fresh = dirty.current;
      } while (again.current);
    } catch (error) {
      meta.value = { ...meta.value, problem: (error as Error).message };
    }
    loading.current = false;
  };

  // Everything anew if the question changes, more pages if the place does.
  useEffect(() => {
    const later = setTimeout(() => void load(true), filter.value ? 150 : 0);
    return () => clearTimeout(later);
  }, [filter.value, order.value, at.value, about]);
  useEffect(() => void load(false), [Math.floor(first / PAGE), Math.floor((first + visible) / PAGE)]);

  const loadNow = useRef(load);
  loadNow.current = load;
  useEffect(() => {
    if (at.value != null) return;
    let later: ReturnType<typeof setTimeout> | null = null;
    const refresh = () => {
      if (later == null)
        later = setTimeout(
          () => {
            later = null;
            void loadNow.current(true);
          },
          Math.max(120, took.current * 4000),
        );
    };
    return followChanges(
      about,
      (delta) => {
        const found = sort(delta, of, ++serial.current);
        for (const [id, mark] of found.touched) {
          coming.current.set(id, mark);
          gone.current.delete(id);
        }
        for (const id of found.gone) {
          coming.current.delete(id);
          gone.current.add(id);
        }
        refresh();
      },
      () => void loadNow.current(true),
    );
  }, [about, at.value]);

  useEffect(() => {
    const el = box.current!;
    const watch = new ResizeObserver(() => (height.value = el.clientHeight));
    watch.observe(el);
    return () => watch.disconnect();
  }, []);

  const rowAt = (index: number): Value[] | undefined => pages.value.get(Math.floor(index / PAGE))?.[index % PAGE];
  const choose = (index: number) => {
    chosen.value = Math.max(0, Math.min(total - 1, index));
    const el = box.current!;
    if (!scaled) {
      const y = chosen.value * ROW;
      if (y < el.scrollTop) el.scrollTop = y;
      else if (y + ROW * 2 > el.scrollTop + el.clientHeight) el.scrollTop = y + ROW * 2 - el.clientHeight;
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const here = chosen.value ?? -1;
    if (event.key === "ArrowDown") choose(here + 1);
    else if (event.key === "ArrowUp") choose(here - 1);
    else if (event.key === "PageDown") choose(here + visible - 2);
    else if (event.key === "PageUp") choose(here - visible + 2);
    else if ((event.key === "Enter" || event.key === "w") && about.kind === "view") explained.value = rowAt(here) ?? null;
    else if (event.key === "Escape") explained.value = null;
    else return;
    event.preventDefault();
  };
  const sortBy = (column: string) => {
    const now = order.value;
    order.value = now?.column !== column ? { column, descending: false } : now.descending ? null : { column, descending: true };
  };

  const widths = about.columns.map((c, i) => {
    const sample = [...pages.value.values()][0]?.slice(0, 40) ?? [];
    const longest = Math.max(c.name.length + 3, ...sample.map((row) => format.cell(row[i]).length));
    return `minmax(${Math.min(320, Math.max(76, longest * 7.6 + 26))}px, ${format.isNumeric(c.type) ? "0.6fr" : "1fr"})`;
  });
  const grid = { gridTemplateColumns: widths.join(" ") };
  const shown: { index: number; row: Value[] }[] = [];
  for (let i = first; i < Math.min(total, first + visible); i++) {
    const row = rowAt(i);
    if (row) shown.push({ index: i, row });
  }
  const line = (row: Value[], mark?: Touched) =>
    row.map((value, i) => (
      <span
        key={i}
        class={`${format.isNumeric(about.columns[i]?.type ?? "") ? "num right" : ""}${value === null ? " null" : ""}${mark?.columns.has(i) ? " new" : ""}`}
      >
        {format.cell(value)}
      </span>
    ));

  return (
    <div class="rows-place">
      <div class="rows-main">
        <div class="bar">
          <div class="field">
            <Icon name="search" />
            <input
              placeholder="york, city:york, total>10"
              aria-label="Filter"
              value={filter.value}
              onInput={(e) => {
                filter.value = e.currentTarget.value;
                box.current!.scrollTop = 0;
              }}
            />
          </div>
          <span class="muted" data-test="count">
            {format.count(total)} {filter.value ? "match" : total === 1 ? "row" : "rows"}
          </span>
          <div class="grow" />
          <Slider about={about} at={at} />
        </div>
        {meta.value.problem && <div class="banner">{meta.value.problem}</div>}
        <div class="grid" ref={box} tabIndex={0} onKeyDown={onKey} onScroll={(e) => (top.value = e.currentTarget.scrollTop)} data-test="rows">
          <div class="grid-head" style={grid} role="row">
            {about.columns.map((c) => (
              <button key={c.name} class={format.isNumeric(c.type) ? "right" : ""} title={`${c.type}: sort`} onClick={() => sortBy(c.name)}>
                <span>{c.name}</span>
                <small>{c.type.toLowerCase()}</small>
                {order.value?.column === c.name && <Icon name={order.value.descending ? "down" : "up"} />}
              </button>
            ))}
          </div>
          <div class="tall" style={{ height: `${tall}px` }}>
            <div style={{ transform: `translateY(${shift}px)` }}>
              {shown.map(({ index, row }) => {
                const mark = touched.value.get(of(row));
                return (
                  <div
                    key={`${of(row)} ${mark?.serial ?? 0} ${index}`}
                    role="row"
                    class={`row${index % 2 ? " odd" : ""}${mark ? ` ${mark.kind}` : ""}${index === chosen.value ? " chosen" : ""}`}
                    style={grid}
                    onClick={() => {
                      chosen.value = index;
                      if (about.kind === "view") explained.value = row;
                    }}
                  >
                    {line(row, mark)}
                  </div>
                );
              })}
              {ghosts.value.map((ghost) => (
                <div key={`ghost ${ghost.serial} ${ghost.index}`} class="row deleted" style={{ ...grid, top: `${(ghost.index - first) * ROW}px` }}>
                  {line(ghost.row)}
                </div>
              ))}
            </div>
          </div>
          {total === 0 && !meta.value.problem && <div class="empty">{filter.value ? "No row matches the filter." : "There are no rows. They appear here as soon as a change brings one."}</div>}
        </div>
      </div>
      {explained.value && <Why about={about} row={explained.value} onClose={() => (explained.value = null)} />}
    </div>
  );
}
