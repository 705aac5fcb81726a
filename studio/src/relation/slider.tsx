import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, type About } from "../api";
import { version } from "../state";
import * as format from "../format";

export interface Past {
  begins: number;
  version: number;
  changes: [number, number, number, (number | null)?][];
}
export const pastOf = (about: About): Promise<Past> => get<Past>(`api/history/${about.kind}/${encodeURIComponent(about.name)}`);

/** Goes back to an earlier version, as far as versions are known. */
export function Slider({ about, at }: { about: About; at: Signal<number | null> }) {
  const past = useSignal<Past | null>(null);
  const load = () => pastOf(about).then((found) => (past.value = found)).catch(() => (past.value = null));
  useEffect(() => void load(), [about]);
  const known = past.value;
  const last = Math.max(version.value, known?.version ?? 0);
  return (
    <div class={`slider${at.value == null ? " live" : ""}`}>
      <button class={at.value == null ? "chip on" : "chip"} onClick={() => (at.value = null)} title="Follow the present" data-test="live">
        <i />
        live
      </button>
      <input
        type="range"
        aria-label="Version"
        min={known?.begins ?? last}
        max={last}
        value={at.value ?? last}
        disabled={!known || known.begins >= last}
        onPointerDown={() => void load()}
        onInput={(e) => {
          const to = Number(e.currentTarget.value);
          at.value = to >= last ? null : to;
        }}
      />
      <span class="num">{at.value == null ? `version ${format.count(last)}` : `as of version ${format.count(at.value)}`}</span>
    </div>
  );
}
