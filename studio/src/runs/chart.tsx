import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark } from "../state";

export interface Line {
  name: string;
  color: string;
  values: (number | null)[];
  bars?: boolean;
  dashed?: boolean;
}

/** One chart over versions. */
export function Chart(props: { title: string; at: number[]; lines: Line[]; show: (n: number) => string; chosen: number | null; onChoose: (at: number) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const onChoose = useRef(props.onChoose);
  onChoose.current = props.onChoose;
  const dark = isDark();
  useEffect(() => {
    const el = box.current!;
    const style = getComputedStyle(document.documentElement);
    const [ink, rule] = [style.getPropertyValue("--muted"), style.getPropertyValue("--line")];
    const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, font: "11px system-ui" };
    const bars = uPlot.paths.bars!({ size: [0.7, 24], radius: 0.2 });
    const chart = new uPlot(
      {
        width: el.clientWidth,
        height: 190,
        padding: [10, 10, 0, 0],
        cursor: { points: { size: 7 }, drag: { x: false, y: false } },
        legend: { live: true },
        scales: { x: { time: false, range: (_, min, max) => [min - 0.5, max + 0.5] }, y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((t) => (Number.isInteger(t) ? String(t) : "")) },
          { ...axis, size: 62, values: (_, ticks) => ticks.map((t) => props.show(t)) },
        ],
        series: [
          { label: "version" },
          ...props.lines.map((line) => ({
            label: line.name,
            stroke: line.color,
            width: line.bars ? 0 : 2,
            fill: line.bars ? line.color + "b0" : undefined,
            paths: line.bars ? bars : undefined,
            dash: line.dashed ? [5, 4] : undefined,
            points: { show: line.bars ? false : props.at.length < 60, size: 5 },
            value: (_: uPlot, n: number | null) => (n == null ? "–" : props.show(n)),
          })),
        ],
      },
      [props.at, ...props.lines.map((l) => l.values)],
      el,
    );
    const click = () => chart.cursor.idx != null && onChoose.current(chart.cursor.idx);
    chart.over.addEventListener("click", click);
    const watch = new ResizeObserver(() => chart.setSize({ width: el.clientWidth, height: 190 }));
    watch.observe(el);
    return () => {
      watch.disconnect();
      chart.destroy();
    };
  }, [props.at, props.lines, dark]);
  return (
    <section class="card chart">
      <h3>{props.title}</h3>
      <div ref={box} />
    </section>
  );
}
