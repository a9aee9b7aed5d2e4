// Plays tests/digests.py under CPython as WebAssembly.
// Arguments: the repository, where PyYAML is installed (its pure Python part is enough), and n:
// each nth script is played.
import { loadPyodide } from "pyodide";

const [repository, packages, nth] = process.argv.slice(2);
const python = await loadPyodide({ stderr: (line) => console.error(line) });
for (const [place, root] of [
  ["/repository", repository],
  ["/packages", packages],
]) {
  python.FS.mkdir(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, place);
}
console.log(
  python.runPython(`
import sys
sys.dont_write_bytecode = True
sys.path[:0] = ["/repository", "/packages"]
from tests.digests import told
told(${Number(nth)})
`),
);
