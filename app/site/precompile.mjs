// Compiles the archives of a static site in the folder it lies in, run by app/site/precompiling.py.

import { readFileSync, writeFileSync } from "node:fs";

import { loadPyodide } from "./pyodide.mjs";

const [, , site] = process.argv;
const read = (name) => new Uint8Array(readFileSync(name));
const python = await loadPyodide({ indexURL: "./" });
for (const name of ["engine.zip", "pages.zip"])
  python.unpackArchive(read(name), "zip", { extractDir: "/highwater" });
const compile = python.runPython(`
import json, sys
sys.path.insert(0, "/highwater")
from ${site}.tab_session import TabSession
tab_session = TabSession()
tab_session.ask("open", json.dumps({"scenario": "S20", "step": 0}), "en")
from ${site} import tab
app = tab.build(tab_session)
for path in ("/", "/s/S20", "/scenarios"):
    tab.fetch(app, "GET", path)
names = {
    "python_stdlib.zip": next(path for path in sys.path if path.endswith(".zip")),
    "engine.zip": "/highwater",
    "pages.zip": "/highwater",
}
from ${site}.precompiling import imported, with_bytecode
used = {archive: imported(place) for archive, place in names.items()}
lambda name, data: with_bytecode(bytes(data), used[name], 2 if "stdlib" in name else -1)
`);
for (const name of ["python_stdlib.zip", "engine.zip", "pages.zip"])
  writeFileSync(name, compile(name, python.toPy(read(name))).toJs());
process.exit(0);
