const PATHS: Record<string, string> = {
  brand: "M3 9c4-4 6.5 4 10.5 0s5 0 7.5-1M3 16c4-4 6.5 4 10.5 0s5 0 7.5-1",
  graph: "M5 6h4v4H5zM15 4h4v4h-4zM15 15h4v4h-4zM9 8h3m0 0V6h3m-3 2v9h3",
  table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 10v9",
  runs: "M4 19V5M4 19h16M8 15v-4M12 15V8M16 15v-2",
  console: "M4 6l5 5-5 5M11 17h8",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5L20 20",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4",
  moon: "M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  keys: "M4 7h16v10H4zM7 10h.01M10 10h.01M13 10h.01M16 10h.01M8 14h8",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  plus: "M12 6v12M6 12h12",
  minus: "M6 12h12",
  close: "M6 6l12 12M18 6L6 18",
  source: "M12 4v9m0 0l-3.5-3.5M12 13l3.5-3.5M5 15v4h14v-4",
  state: "M12 4c4 0 7 1.2 7 2.8S16 9.5 12 9.5 5 8.400 5 6.800 8 4 12 4zM5 6.800v10.400C5 18.800 8 20 12 20s7-1.200 7-2.800V6.800M5 12c0 1.600 3 2.800 7 2.800s7-1.200 7-2.800",
  view: "M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  part: "M4 5h7v6H4zM13 13h7v6h-7zM11 8h5v5",
  assertion: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 11.500l2.200 2.200L15.200 9.500",
  up: "M12 18V6M7 11l5-5 5 5",
  down: "M12 6v12M7 13l5 5 5-5",
  play: "M8 5.500v13l11-6.500z",
  why: "M12 4v5m0 0H6v5m6-5h6v5M4 14h4v5H4zM16 14h4v5h-4z",
  open: "M10 5H5v14h14v-5M13 5h6v6M19 5l-8 8",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name] ?? PATHS.table} />
    </svg>
  );
}
export const iconPath = (name: string): string => PATHS[name] ?? PATHS.table;
