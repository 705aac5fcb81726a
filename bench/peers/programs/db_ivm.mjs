// Four queries of TPC-H in TanStack's db-ivm: `node db_ivm.mjs QUERY STREAM BATCH START TIMED RESULT`.

import { readFileSync, writeFileSync } from "node:fs";
import { D2, MultiSet, filter, groupBy, groupByOperators, join, map, output, reduce } from "@tanstack/db-ivm";

const { sum } = groupByOperators;
const LOADING = 10_000;
// 15 March 1995, and the first days of 1994 and 1995, as days since 1970.
const [CUT, FIRST, LAST] = [9204, 8766, 9131];
const TABLES = {
  Q3: ["customer", "orders", "lineitem"],
  Q5: ["region", "nation", "supplier", "customer", "orders", "lineitem"],
  Q17: ["part", "lineitem"],
  Q18: ["customer", "orders", "lineitem"],
};
const READ = {
  region: ([key, name]) => ({ key: +key, name }),
  nation: ([key, name, region]) => ({ key: +key, name, region: +region }),
  supplier: ([key, nation]) => ({ key: +key, nation: +nation }),
  part: ([key, brand, container]) => ({ key: +key, brand, container }),
  customer: ([key, name, nation, segment]) => ({ key: +key, name, nation: +nation, segment }),
  orders: ([key, customer, price, date, priority]) => ({
    key: +key,
    customer: +customer,
    price: +price,
    date: +date,
    priority: +priority,
  }),
  lineitem: ([order, number, part, supplier, quantity, price, discount, shipped]) => ({
    order: +order,
    number: +number,
    part: +part,
    supplier: +supplier,
    quantity: +quantity,
    price: +price,
    discount: +discount,
    shipped: +shipped,
  }),
};

const revenue = (line) => line.price * (100 - line.discount);
const by = (key, value = (row) => row) => map((row) => [key(row), value(row)]);

const QUERIES = {
  Q3(t) {
    const building = t.customer.pipe(filter((c) => c.segment === "BUILDING"), by((c) => c.key, () => 1));
    const orders = t.orders.pipe(
      filter((o) => o.date < CUT),
      by((o) => o.customer, (o) => ({ key: o.key, date: o.date, priority: o.priority })),
      join(building, "inner"),
      map(([, [order]]) => [order.key, order]),
    );
    return t.lineitem.pipe(
      filter((l) => l.shipped > CUT),
      by((l) => l.order, (l) => ({ number: l.number, revenue: revenue(l) })),
      join(orders, "inner"),
      map(([, [line, order]]) => ({ ...order, revenue: line.revenue })),
      groupBy(({ key, date, priority }) => ({ key, date, priority }), { revenue: sum((r) => r.revenue) }),
      map(([, r]) => [r.key, r.revenue, r.date, r.priority].join("|")),
    );
  },
  Q5(t) {
    const asia = t.region.pipe(filter((r) => r.name === "ASIA"), by((r) => r.key, () => 1));
    const nations = t.nation.pipe(by((n) => n.region), join(asia, "inner"), map(([, [n]]) => [n.key, n.name]));
    const customers = t.customer.pipe(
      by((c) => c.nation, (c) => c.key),
      join(nations, "inner"),
      map(([nation, [customer]]) => [customer, nation]),
    );
    const orders = t.orders.pipe(
      filter((o) => FIRST <= o.date && o.date < LAST),
      by((o) => o.customer, (o) => o.key),
      join(customers, "inner"),
      map(([, [order, nation]]) => [order, nation]),
    );
    const suppliers = t.supplier.pipe(by((s) => `${s.key}|${s.nation}`, () => 1));
    return t.lineitem.pipe(
      by((l) => l.order, (l) => ({ id: `${l.order}|${l.number}`, supplier: l.supplier, revenue: revenue(l) })),
      join(orders, "inner"),
      map(([, [line, nation]]) => [`${line.supplier}|${nation}`, { ...line, nation }]),
      join(suppliers, "inner"),
      map(([, [line]]) => [line.nation, line]),
      join(nations, "inner"),
      map(([, [line, name]]) => ({ name, revenue: line.revenue })),
      groupBy(({ name }) => ({ name }), { revenue: sum((r) => r.revenue) }),
      map(([, r]) => `${r.name}|${r.revenue}`),
    );
  },
  Q17(t) {
    const parts = t.part.pipe(
      filter((p) => p.brand === "Brand#23" && p.container === "MED BOX"),
      by((p) => p.key, () => 1),
    );
    return t.lineitem.pipe(
      by((l) => l.part, (l) => ({ id: `${l.order}|${l.number}`, quantity: l.quantity, price: l.price })),
      join(parts, "inner"),
      map(([part, [line]]) => [part, line]),
      reduce((lines) => {
        const add = (value) => lines.reduce((total, [line, n]) => total + value(line) * n, 0);
        const [count, quantity] = [add(() => 1), add((l) => l.quantity)];
        return [[add((l) => (5 * l.quantity * count < quantity ? l.price : 0)), 1]];
      }),
      filter(([, price]) => price !== 0),
      groupBy(() => ({}), { price: sum(([, price]) => price) }),
      map(([, r]) => `${r.price}`),
    );
  },
  Q18(t) {
    const large = t.lineitem.pipe(
      groupBy(({ order }) => ({ order }), { quantity: sum((l) => l.quantity) }),
      filter(([, r]) => r.quantity > 30_000),
      map(([, r]) => [r.order, r.quantity]),
    );
    const customers = t.customer.pipe(by((c) => c.key, (c) => c.name));
    return t.orders.pipe(
      by((o) => o.key),
      join(large, "inner"),
      map(([, [order, quantity]]) => [order.customer, { ...order, quantity }]),
      join(customers, "inner"),
      map(([, [o, name]]) => [name, o.customer, o.key, o.date, o.price, o.quantity].join("|")),
    );
  },
};

function events(path, tables) {
  const found = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const [table, sign, ...fields] = line.split("|");
    if (tables.includes(table)) found.push([table, [READ[table](fields), +sign]]);
  }
  return found;
}

const [query, stream, batch, start, timed, result] = process.argv.slice(2);
const tables = TABLES[query];
const graph = new D2();
const inputs = Object.fromEntries(tables.map((table) => [table, graph.newInput()]));
const answer = new Map();
QUERIES[query](inputs).pipe(
  output((message) => {
    for (const [row, change] of message.getInner()) {
      const count = (answer.get(row) ?? 0) + change;
      if (count === 0) answer.delete(row);
      else answer.set(row, count);
    }
  }),
);
graph.finalize();

function run(part, size) {
  for (let from = 0; from < part.length; from += size) {
    const rows = Object.fromEntries(tables.map((table) => [table, []]));
    for (let i = from; i < Math.min(from + size, part.length); i++) rows[part[i][0]].push(part[i][1]);
    for (const table of tables) {
      if (rows[table].length) inputs[table].sendData(new MultiSet(rows[table]));
    }
    graph.run();
  }
}

const all = events(stream, tables);
const end = +start + +timed;
run(all.slice(0, +start), LOADING);
const measured = all.slice(+start, end);
const before = process.cpuUsage();
run(measured, +batch);
const spent = process.cpuUsage(before);
run(all.slice(end), LOADING);
if ([...answer.values()].some((count) => count !== 1)) throw new Error("a row of the result is not there once");
writeFileSync(result, [...answer.keys()].map((row) => `${row}\n`).join(""));
console.log(JSON.stringify({ seconds: (spent.user + spent.system) / 1e6, rows: +timed }));
