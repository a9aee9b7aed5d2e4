// Every test of the scripts in one process: to start node for each file costs as much as the tests.

import { readdirSync } from "node:fs";

const here = new URL(".", import.meta.url);
const files = readdirSync(here).filter((name) => /\.test\.m?js$/.test(name));
if (!files.length) throw new Error("there are no JavaScript tests");
for (const name of files.sort()) await import(new URL(name, here).href);
