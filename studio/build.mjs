// Builds the page into the Python package: one script, one style sheet, one HTML file. Nothing is loaded from elsewhere.
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.env.STUDIO_FILES ?? join(here, "..", "src", "evercurrent", "serve", "studio", "files");
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await copyFile(join(here, "src", "index.html"), join(out, "index.html"));
const options = {
  entryPoints: { studio: join(here, "src", "main.tsx") },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "linked",
  logLevel: "info",
};
if (process.argv.includes("--watch")) {
  const context = await esbuild.context(options);
  await context.watch();
} else {
  await esbuild.build(options);
}
