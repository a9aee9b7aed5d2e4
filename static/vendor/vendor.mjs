// Copies the browser libraries into this folder under versioned names and writes VENDOR.json.
// Development only:  npm ci && node vendor.mjs   Nothing here runs when the site is served.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync, readdirSync, rmSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const inside = (...parts) => join(here, "node_modules", ...parts);
const read = (...parts) => readFileSync(inside(...parts), "utf8");
const about = (name) => JSON.parse(read(name, "package.json"));

// import: the bare specifier the pages use; from: the file inside the published package.
const COPIED = [
  { import: "preact", name: "preact", from: "dist/preact.mjs", as: "preact" },
  { import: "preact/hooks", name: "preact", from: "hooks/dist/hooks.mjs", as: "preact-hooks" },
  { import: "@preact/signals-core", name: "@preact/signals-core", from: "dist/signals-core.mjs", as: "signals-core" },
  { import: "@preact/signals", name: "@preact/signals", from: "dist/signals.mjs", as: "signals" },
  { import: "htm", name: "htm", from: "dist/htm.mjs", as: "htm" },
  { import: "htm/preact", name: "htm", from: "preact/index.mjs", as: "htm-preact" },
  { import: "socket.io-client", name: "socket.io-client", from: "dist/socket.io.esm.min.js", as: "socket.io" },
  // Import maps do not reach workers, so its one user names the file.
  { name: "gifenc", from: "dist/gifenc.esm.js", as: "gifenc" },
];
// Plot arrives as many small modules, the scheduler with its comments: one small file is kinder.
const BUNDLED = [
  { import: "@observablehq/plot", name: "@observablehq/plot", as: "plot" },
  { import: "ts-fsrs", name: "ts-fsrs", as: "ts-fsrs" },
];

// The typeface as it is published, Latin letters in all weights.
const FONTS = [
  { name: "@fontsource-variable/inter", from: "files/inter-latin-wght-normal.woff2", as: "inter" },
];

/** A library file without its pointer to a source map that is not shipped. */
const withoutMap = (text) => text.replace(/\n?\/\/# sourceMappingURL=\S*\s*$/, "\n");

async function bundle(name) {
  const result = await build({
    stdin: { contents: `export * from "${name}";`, resolveDir: here },
    bundle: true, format: "esm", minify: true, write: false, legalComments: "inline", target: "es2022",
  });
  return result.outputFiles[0].text;
}

function licenceOf(name) {
  const file = readdirSync(inside(name)).find((f) => /^licen[cs]e/i.test(f));
  return file ? read(name, file) : null;
}

const entries = [];
const licences = new Map();
for (const file of readdirSync(here)) if (/-\d+\.\d+\.\d+\.(mjs|woff2)$/.test(file)) rmSync(join(here, file));
const scriptOf = async (item) => withoutMap(item.from ? read(item.name, item.from) : await bundle(item.name));
for (const item of [...COPIED, ...BUNDLED, ...FONTS]) {
  const { version, license } = about(item.name);
  const text = FONTS.includes(item) ? readFileSync(inside(item.name, item.from)) : await scriptOf(item);
  const file = `${item.as}-${version}.${FONTS.includes(item) ? "woff2" : "mjs"}`;
  writeFileSync(join(here, file), text);
  entries.push({
    file, import: item.import, name: item.name, version, licence: license,
    sha256: createHash("sha256").update(text).digest("hex"),
    from: item.from ? `npm:${item.name}@${version}/${item.from}` : `npm:${item.name}@${version}, bundled with its dependencies by esbuild`,
  });
  licences.set(item.name, licenceOf(item.name));
}
// What is bundled carries its parts' licences along.
for (const name of Object.keys(JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8")).packages)) {
  const part = name.replace(/^node_modules\//, "");
  if (/^(d3(-|$)|internmap|delaunator|robust-predicates|isoformat|interval-tree-1d|binary-search-bounds)/.test(part)) {
    licences.set(part, licenceOf(part));
  }
}
const notices = [...licences].sort().map(([name, text]) => `== ${name} ${about(name).version}\n\n${(text ?? about(name).license).trim()}\n`);
mkdirSync(join(here, "licences"), { recursive: true });
writeFileSync(join(here, "licences", "NOTICES.txt"), notices.join("\n\n"));
writeFileSync(join(here, "VENDOR.json"), JSON.stringify(entries, null, 2) + "\n");
console.log(entries.map((e) => `${e.file}  ${e.sha256.slice(0, 12)}`).join("\n"));
