// Numbers, sizes, times and values for people.

import type { Value } from "./api";

export const count = (n: number | null | undefined): string => (n == null ? "–" : n.toLocaleString("en-US"));

export function short(n: number | null | undefined): string {
  if (n == null) return "–";
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e4]] as const)
    if (Math.abs(n) >= size) return `${(n / (unit === "k" ? 1e3 : size)).toFixed(n >= size * 10 ? 0 : 1)}${unit}`;
  return n.toLocaleString("en-US");
}

export function bytes(n: number | null | undefined): string {
  if (n == null) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  while (n >= 1024 && at < units.length - 1) {
    n /= 1024;
    at++;
  }
  return `${at && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[at]}`;
}

export function seconds(s: number | null | undefined): string {
  if (s == null) return "–";
  if (s < 1e-3) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${(s * 1e3).toFixed(s < 0.01 ? 2 : 0)} ms`;
  return s < 60 ? `${s.toFixed(2)} s` : `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
}

export function age(at: number | null | undefined, now: number): string {
  if (at == null) return "";
  const s = Math.max(0, now - at);
  if (s < 2) return "now";
  if (s < 60) return `${Math.floor(s)} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86400)} d ago`;
}

export function cell(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

export const isNumeric = (type: string): boolean =>
  /^(TINYINT|SMALLINT|INT|BIGINT|INTEGER|FLOAT|DOUBLE|REAL|DECIMAL)/i.test(type);
