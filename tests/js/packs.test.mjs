// The server joins modules by reading a few forms of import and export (app/server/bundler.py).  Here a
// real parser says that all modules keep to them, and that joining them changes nothing.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { parse } from "acorn";

const ROOT = new URL("../../static/js/", import.meta.url).pathname;
const files = readdirSync(ROOT, { recursive: true }).filter((one) => one.endsWith(".js"));

/** Modules of a static site: they import packs and the interpreter from addresses in its map. */
const IN_A_FOLDER = /^(site\/|pages\/site\.js$)/;

/** Every node of a tree; those of functions inside it too. */
function* nodes(tree) {
  if (typeof tree?.type === "string") yield tree;
  for (const child of Object.values(tree ?? {}))
    if (child && typeof child === "object") yield* nodes(child);
}

for (const file of files)
  test(`${file} keeps to the forms that packs read`, () => {
    const text = readFileSync(join(ROOT, file), "utf8");
    const comments = [];
    const tree = parse(text, {
      ecmaVersion: "latest",
      sourceType: "module",
      onComment: (_block, _text, start, end) => comments.push([start, end]),
    });
    for (const { index, 0: line } of text.matchAll(/^[ \t]*(?=\/\/|\/\*\*)/gm)) {
      const at = index + line.length;
      assert.ok(
        comments.some(([start, end]) => start <= at && at < end),
        "what begins like a comment is one",
      );
    }
    for (const one of tree.body) {
      if (one.type === "ImportDeclaration")
        for (const name of one.specifiers) assert.notEqual(name.type, "ImportDefaultSpecifier");
      assert.notEqual(one.type, "ExportDefaultDeclaration");
      assert.notEqual(one.type, "ExportAllDeclaration");
      if (one.type !== "ExportNamedDeclaration") continue;
      assert.ok(one.declaration, "what is exported is declared there");
      assert.notEqual(one.declaration.kind, "let", "an export is never assigned again");
      assert.notEqual(one.declaration.kind, "var");
      for (const { id } of one.declaration.declarations ?? [one.declaration])
        assert.equal(id.type, "Identifier");
      assert.ok((one.declaration.declarations ?? [0]).length === 1, "one name an export");
    }
    for (const one of nodes(tree)) {
      if (one.type !== "ImportExpression" || IN_A_FOLDER.test(file)) continue;
      assert.equal(one.source.type, "Literal", "what comes later is named in the text");
      assert.match(one.source.value, /^\.\.?\//);
    }
    assert.doesNotMatch(text, /\$(later|parts)?\[/, "the pack's own names");
  });
