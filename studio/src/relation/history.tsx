import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, type About, type Value } from "../api";
import { now, version } from "../state";
import * as format from "../format";
import { pastOf, type Past } from "./slider";
import { identify } from "./feed";

interface Changed {
  inserted: Value[][];
  deleted: Value[][];
  more: number;
}

/** What changed in a table or view, version by version. */
export function History({ about }: { about: About }) {
  const past = useSignal<Past | null>(null);
  const chosen = useSignal<number | null>(null);
  const changed = useSignal<Changed | null>(null);
  useEffect(() => {
    pastOf(about).then((found) => (past.value = found)).catch(() => {});
  }, [about, version.value]);
  useEffect(() => {
    changed.value = null;
    if (chosen.value != null)
      get<Changed>(`api/change/${about.kind}/${encodeURIComponent(about.name)}/${chosen.value}`)
        .then((found) => (changed.value = found))
        .catch(() => {});
  }, [chosen.value]);
  const found = past.value;
  if (!found) return <div class="empty">reading…</div>;
  const most = Math.max(1, ...found.changes.map(([, i, d]) => i + d));
  const of = identify(about);
  const pairs = changed.value ? new Set(changed.value.inserted.map(of)) : new Set<string>();
  const replaced = changed.value ? new Set(changed.value.deleted.map(of).filter((id) => pairs.has(id))) : new Set<string>();
  return (
    <div class="history-place">
      <div class="scroll card list versions">
        <table>
          <thead>
            <tr>
              <th class="right">Version</th>
              <th>When</th>
              <th class="right">+</th>
              <th class="right">−</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {[...found.changes].reverse().map(([number, inserted, deleted, at]) => (
              <tr key={number} class={number === chosen.value ? "on" : ""} onClick={() => (chosen.value = number)}>
                <td class="right num">{format.count(number)}</td>
                <td class="muted">{format.age(at, now.value)}</td>
                <td class="right num plus">{inserted || ""}</td>
                <td class="right num minus">{deleted || ""}</td>
                <td class="measure">
                  <i class="plus" style={{ width: `${(inserted / most) * 100}%` }} />
                  <i class="minus" style={{ width: `${(deleted / most) * 100}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {!found.changes.length && (
          <div class="empty">
            <p>
              No change is known since version {format.count(found.begins)}. New ones appear here.
            </p>
          </div>
        )}
      </div>
      <div class="scroll card change">
        {changed.value ? (
          <table class="delta">
            <thead>
              <tr>
                <th />
                {about.columns.map((c) => (
                  <th key={c.name} class={format.isNumeric(c.type) ? "right" : ""}>
                    {c.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[
                ...changed.value.deleted.map((row) => ({ row, sign: "−" })),
                ...changed.value.inserted.map((row) => ({ row, sign: "+" })),
              ]
                .sort((a, b) => (of(a.row) < of(b.row) ? -1 : of(a.row) > of(b.row) ? 1 : a.sign < b.sign ? 1 : -1))
                .map(({ row, sign }, i) => (
                  <tr key={i} class={`${sign === "+" ? "plus" : "minus"}${replaced.has(of(row)) ? " pair" : ""}`}>
                    <td class="sign">{sign}</td>
                    {row.map((value, j) => (
                      <td key={j} class={format.isNumeric(about.columns[j].type) ? "right num" : ""}>
                        {format.cell(value)}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        ) : (
          <div class="empty">{chosen.value == null ? "Choose a version to see what it changed." : "reading…"}</div>
        )}
        {!!changed.value?.more && <p class="muted pad">and {format.count(changed.value.more)} more rows</p>}
      </div>
    </div>
  );
}
