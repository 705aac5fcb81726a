import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { text, type About } from "../api";
import { Code, Marked } from "../code";

const WHAT: Record<string, string> = {
  text: "the definition, as it was written",
  summary: "what is kept, why, and what a change costs",
  calculus: "the query as it was understood",
  events: "what can change the view",
  normal: "its normal form",
  algebra: "operators; no query is left inside another",
  optimised: "the plan that is maintained",
  program: "what is kept, and what each change does to it",
  source: "the Python that runs",
};
const FIRST = ["text", "summary", "optimised", "program"];

/** All stages of a view on its way from text to program, side by side. */
export function Stages({ about }: { about: About }) {
  const stages = ["text", "summary", ...(about.stages ?? [])];
  const texts = useSignal<Record<string, string>>({ text: about.text ?? "" });
  const shown = useSignal<string[]>(JSON.parse(localStorage.getItem("stages") ?? "null") ?? FIRST);
  useEffect(() => {
    for (const stage of shown.value) {
      if (stage in texts.value) continue;
      const query = stage === "summary" ? "" : `?stage=${stage}`;
      text(`../views/${encodeURIComponent(about.name)}/explain${query}`)
        .catch((error: Error) => error.message)
        .then((found) => (texts.value = { ...texts.value, [stage]: found }));
    }
  }, [shown.value, about]);
  const toggle = (stage: string) => {
    shown.value = stages.filter((s) => (s === stage ? !shown.value.includes(s) : shown.value.includes(s)));
    localStorage.setItem("stages", JSON.stringify(shown.value));
  };
  return (
    <div class="stages-place">
      <Marked />
      <div class="bar chips">
        {stages.map((stage) => (
          <button key={stage} class={shown.value.includes(stage) ? "chip on" : "chip"} onClick={() => toggle(stage)} title={WHAT[stage]}>
            {stage}
          </button>
        ))}
        <span class="muted">point at a name to see it in every stage</span>
      </div>
      <div class="stages" data-test="stages">
        {stages
          .filter((s) => shown.value.includes(s))
          .map((stage) => (
            <section key={stage} class={stage === "text" ? "card stage wraps" : "card stage"}>
              <header>
                <h3>{stage}</h3>
                <small>{WHAT[stage]}</small>
              </header>
              <div class="scroll">{stage in texts.value ? <Code text={texts.value[stage]} /> : <p class="muted pad">reading…</p>}</div>
            </section>
          ))}
      </div>
    </div>
  );
}
