// Follows two shapes as collections of TanStack DB, joins them in a live query, and prints its rows as JSON whenever they change.
import { createCollection, createLiveQueryCollection, eq } from "@tanstack/db";
import { electricCollectionOptions } from "@tanstack/electric-db-collection";

const [url] = process.argv.slice(2);
const collection = (table, getKey) =>
  createCollection(electricCollectionOptions({ id: table, shapeOptions: { url: `${url}/v1/shape`, params: { table } }, getKey }));
const customers = collection("customers", (row) => row.id);
const spend = collection("spend", (row) => row.customer);
const joined = createLiveQueryCollection({
  startSync: true,
  query: (q) =>
    q
      .from({ s: spend })
      .innerJoin({ c: customers }, ({ s, c }) => eq(s.customer, c.id))
      .select(({ s, c }) => ({ name: c.name, total: s.total })),
});
const plain = (key, value) => (typeof value === "bigint" ? Number(value) : value);
const show = () => console.log(JSON.stringify(joined.toArray.map(({ name, total }) => ({ name, total })), plain));
joined.subscribeChanges(show, { includeInitialState: true });
await joined.preload();
show();
