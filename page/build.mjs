// Bundles the page into src/graphghha/web/static (or --out DIR); with --tests the unit tests into out/test.
import { build } from "esbuild";
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";

const here = path.dirname(fileURLToPath(import.meta.url));
const at = (name) => path.join(here, name);
const argument = (name) => {
  const place = process.argv.indexOf(name);
  return place < 0 ? undefined : process.argv[place + 1];
};
const shared = { bundle: true, jsx: "automatic", jsxImportSource: "preact", logLevel: "warning", target: "es2022" };

if (process.argv.includes("--tests")) {
  const names = (await readdir(at("test"))).filter((name) => name.endsWith(".test.ts"));
  await rm(at("out/test"), { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: names.map((name) => at(`test/${name}`)),
    outdir: at("out/test"),
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    external: ["node:*"],
  });
} else {
  const out = argument("--out") ?? at("../src/graphghha/web/static");
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await build({
    ...shared,
    entryPoints: { app: at("src/main.tsx") },
    outdir: out,
    format: "esm",
    minify: true,
    legalComments: "linked",
  });
  for (const name of await readdir(at("public"))) await cp(at(`public/${name}`), path.join(out, name));
}
