import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icons";
import { go, graph, live, pathOf } from "./state";
import * as format from "./format";

const open = signal(false);
const typed = signal("");
const chosen = signal(0);

export function openPalette(): void {
  typed.value = "";
  chosen.value = 0;
  open.value = true;
}

/** How well a name fits what was typed: every letter in order, the closer together and the earlier the better. */
export function fit(name: string, wanted: string): number {
  const text = name.toLowerCase();
  const whole = text.indexOf(wanted);
  if (whole >= 0) return 1000 - whole - text.length / 100;
  let at = -1;
  let gaps = 0;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return -1;
    gaps += next - at - 1;
    at = next;
  }
  return 500 - gaps;
}

const ORDER = { view: 0, table: 1, source: 2, assertion: 3, part: 4, state: 5 };

export function Palette() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (open.value) input.current?.focus();
  }, [open.value]);
  if (!open.value) return null;
  const wanted = typed.value.trim().toLowerCase();
  const found = (graph.value?.nodes ?? [])
    .map((node) => ({ node, score: wanted ? Math.max(fit(node.label, wanted), fit(node.name, wanted)) : 1 }))
    .filter((x) => x.score >= 0)
    .sort((a, b) => b.score - a.score || ORDER[a.node.kind] - ORDER[b.node.kind] || a.node.label.localeCompare(b.node.label))
    .slice(0, 12);
  const pick = (at: number) => {
    const one = found[at];
    if (!one) return;
    open.value = false;
    go(pathOf(one.node.id));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") open.value = false;
    else if (event.key === "ArrowDown") chosen.value = Math.min(found.length - 1, chosen.value + 1);
    else if (event.key === "ArrowUp") chosen.value = Math.max(0, chosen.value - 1);
    else if (event.key === "Enter") pick(chosen.value);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="veil" onClick={() => (open.value = false)}>
      <div class="card palette" role="dialog" aria-label="Search" onClick={(e) => e.stopPropagation()}>
        <div class="field">
          <Icon name="search" />
          <input
            ref={input}
            value={typed.value}
            placeholder="Search tables, states and views"
            onInput={(e) => {
              typed.value = e.currentTarget.value;
              chosen.value = 0;
            }}
            onKeyDown={onKey}
          />
        </div>
        <ul role="listbox">
          {found.map(({ node }, at) => (
            <li
              key={node.id}
              role="option"
              aria-selected={at === chosen.value}
              class={at === chosen.value ? "on" : ""}
              onMouseEnter={() => (chosen.value = at)}
              onClick={() => pick(at)}
            >
              <span class={`tag ${node.kind}`}>
                <Icon name={node.kind} />
              </span>
              <b>{node.label}</b>
              <small>{node.kind}</small>
              <em>{format.short(live.value.get(node.id)?.rows)}</em>
            </li>
          ))}
          {!found.length && <li class="none">nothing fits</li>}
        </ul>
      </div>
    </div>
  );
}
