// Program text with colours, in which the same word is marked wherever it stands.

import { signal } from "@preact/signals";
import { graph, go, pathOf } from "./state";

const TOKEN = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(#.*$|--.*$)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_][\w~.]*)|(\s+|.)/gm;
const WORDS = new Set(
  `select from where group by having order limit join left right full inner outer on as and or not in is null exists
  union all distinct case when then else end with recursive create view table insert into values update delete set primary key references
  define struct for each over partition rows between def return if elif else while import lambda none true false pass continue del yield
  count sum min max avg bag list set emit yield lookup state relation trigger`.split(/\s+/),
);
export const word = signal<string | null>(null);

export function Code({ text }: { text: string }) {
  const names = new Map((graph.value?.nodes ?? []).flatMap((n) => (n.kind === "state" ? [] : [[n.name, n.id] as const])));
  const parts: preact.JSX.Element[] = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [all, string, comment, number, name, other] = found;
    at++;
    if (other != null) parts.push(<>{all}</>);
    else if (string != null) parts.push(<span class="s">{all}</span>);
    else if (comment != null) parts.push(<span class="c">{all}</span>);
    else if (number != null) parts.push(<span class="n">{all}</span>);
    else if (name != null && WORDS.has(all.toLowerCase())) parts.push(<span class="k">{all}</span>);
    else {
      const to = names.get(all);
      parts.push(
        <span class={`w${to ? " link" : ""}`} data-word={all} key={at} onClick={to ? () => go(pathOf(to)) : undefined} title={to ? `open ${to.replace(":", " ")}` : undefined}>
          {all}
        </span>,
      );
    }
  }
  return (
    <pre
      class="code"
      onMouseOver={(e) => (word.value = (e.target as Element).getAttribute("data-word"))}
      onMouseLeave={() => (word.value = null)}
    >
      {parts}
    </pre>
  );
}

/** A style sheet of one rule: the word under the pointer, wherever it stands. */
export function Marked() {
  const chosen = word.value;
  if (!chosen) return null;
  return <style>{`.code .w[data-word="${CSS.escape(chosen)}"] { background: var(--mark); border-radius: 3px; }`}</style>;
}
