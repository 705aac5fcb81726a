// Follows a shape with Electric's own client and prints its rows as JSON, one line for each time it is up to date.
import { Shape, ShapeStream } from "@electric-sql/client";

const [url, table] = process.argv.slice(2);
const stream = new ShapeStream({ url: `${url}/v1/shape`, params: { table } });
const shape = new Shape(stream);
const plain = (key, value) => (typeof value === "bigint" ? Number(value) : value);
shape.subscribe(({ rows }) => console.log(JSON.stringify(rows, plain)));
