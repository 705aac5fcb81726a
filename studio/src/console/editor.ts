// The editor of the console: SQL and OQL with colours, completion of names, and a mark where an error is.

import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completeFromList, completionKeymap, type Completion, type CompletionSource } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql, StandardSQL } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder, type DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { GraphNode } from "../api";

const OQL_WORDS =
  "define undefine import as select distinct from in where group by having order asc desc struct partition exists for all and or not element first last count sum min max avg bag set list array flatten nil true false is_defined is_undefined union except intersect like abs mod unique some any";

const oqlWords = new Set(OQL_WORDS.split(" "));
const oql = StreamLanguage.define<{ inText: boolean }>({
  name: "oql",
  startState: () => ({ inText: false }),
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/\/\/.*/) || stream.match(/--.*/)) return "comment";
    if (stream.match(/"(?:[^"\\]|\\.)*"/) || stream.match(/'(?:[^'\\]|\\.)*'/)) return "string";
    if (stream.match(/\d+(\.\d+)?/)) return "number";
    const found = stream.match(/[A-Za-z_]\w*/) as RegExpMatchArray | null;
    if (found) return oqlWords.has(found[0].toLowerCase()) ? "keyword" : "variableName";
    stream.next();
    return "operator";
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: tags.typeName, color: "var(--code-type)" },
]);

export const setFault = StateEffect.define<{ from: number; to: number } | null>();
const fault = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, change) {
    let found = change.docChanged ? Decoration.none : marks;
    for (const effect of change.effects)
      if (effect.is(setFault)) {
        const length = change.state.doc.length;
        const value = effect.value;
        if (!value) found = Decoration.none;
        else {
          const from = Math.max(0, Math.min(value.from, length - 1));
          const to = Math.min(length, Math.max(from + 1, value.to));
          found = from < to ? Decoration.set([Decoration.mark({ class: "fault" }).range(from, to)]) : Decoration.none;
        }
      }
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export type Language = "sql" | "oql";

function languageOf(language: Language, nodes: GraphNode[]): LanguageSupport {
  const relations = nodes.filter((n) => n.kind === "table" || n.kind === "view");
  if (language === "sql") {
    const schema = Object.fromEntries(
      relations.map((n) => [n.name, n.columns.map((c): Completion => ({ label: c.name, type: "property", detail: c.type }))]),
    );
    const support = sql({ dialect: StandardSQL, schema, upperCaseKeywords: true });
    // The package offers columns after a table's name and a dot only.
    const columns = new Map<string, Completion>();
    for (const n of relations)
      for (const c of n.columns) columns.set(c.name, { label: c.name, type: "property", detail: columns.has(c.name) ? undefined : n.name, boost: 1 });
    const listed = completeFromList([...columns.values()]);
    const source: CompletionSource = (at) => (at.matchBefore(/\b(from|join|into|update|table|view)\s+\w*$/i) ? null : listed(at));
    const own = support.language.data.of({ autocomplete: source });
    return new LanguageSupport(support.language, [support.support, own]);
  }
  const options: Completion[] = [
    ...OQL_WORDS.split(" ").map((label): Completion => ({ label, type: "keyword" })),
    ...relations.map((n): Completion => ({ label: n.name, type: "class", detail: n.kind })),
    ...relations.flatMap((n) => n.columns.map((c): Completion => ({ label: c.name, type: "property", detail: n.name }))),
  ];
  return new LanguageSupport(oql, [oql.data.of({ autocomplete: completeFromList(options) })]);
}

export class Editor {
  private readonly language = new Compartment();
  readonly view: EditorView;

  constructor(parent: HTMLElement, text: string, private nodes: GraphNode[], kind: Language, onRun: () => void, onChange: (text: string) => void, onPast: (by: number) => boolean) {
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.highest(
            keymap.of([
              { key: "Mod-Enter", run: (view) => (closeCompletion(view), onRun(), true) },
              { key: "Alt-ArrowUp", run: () => onPast(-1) },
              { key: "Alt-ArrowDown", run: () => onPast(1) },
            ]),
          ),
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ activateOnTyping: true }),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
          syntaxHighlighting(colours),
          fault,
          this.language.of(languageOf(kind, nodes)),
          placeholder("SELECT …"),
          EditorView.updateListener.of((change) => change.docChanged && onChange(change.state.doc.toString())),
        ],
      }),
    });
  }

  use(kind: Language, nodes: GraphNode[]): void {
    this.nodes = nodes;
    this.view.dispatch({ effects: this.language.reconfigure(languageOf(kind, this.nodes)) });
  }
  get text(): string {
    return this.view.state.doc.toString();
  }
  set text(value: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: value } });
  }
  /** Offsets are those of Python: code points. The editor counts UTF-16 units. */
  mark(place: { start: number; end: number } | null): void {
    const points = [...this.text];
    const unit = (n: number) => points.slice(0, n).join("").length;
    this.view.dispatch({
      effects: setFault.of(place && { from: unit(place.start), to: unit(place.end) }),
      ...(place ? { selection: { anchor: Math.min(unit(place.start), this.view.state.doc.length) }, scrollIntoView: true } : {}),
    });
  }
}
