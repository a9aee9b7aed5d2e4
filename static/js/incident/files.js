// Files of brokers: gathered here, read once by the server.

import { html } from "htm/preact";
import { render } from "preact";

import { at, field, pageWords } from "../core/dom.js";
import { pack } from "../core/packing.js";
import { post, Refused } from "../core/post.js";
import { translator } from "../i18n/words.js";
import { Choose, Story } from "./story.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const { lang } = boot;
const t = translator(await pageWords(), lang);
const MIB = 1024 * 1024;
const ROOM = 64 * 1024; // what a form takes around its files

/** Path -> file: a file that comes twice is read once. */
const files = new Map();
let going = null;

const say = (sentence) => render(html`<p class="bad" role="alert">${sentence}</p>`, at("found"));

function add(found) {
  let size = [...files.values()].reduce((sum, one) => sum + one.size, 0);
  for (const [name, file] of found) {
    size += file.size - (files.get(name)?.size ?? 0);
    if (size > boot.most_bytes - ROOM) {
      say(t("incident.large", { name, mib: boot.most_bytes / MIB }));
      break;
    }
    if (!files.has(name) && files.size === boot.files) {
      say(t("incident.many", { n: boot.files }));
      break;
    }
    files.set(name, file);
  }
  count();
}

function count() {
  const size = [...files.values()].reduce((sum, one) => sum + one.size, 0);
  const words = { n: files.size, kib: Math.ceil(size / 1024) };
  at("count").textContent = files.size ? t("incident.count", words) : "";
  field("read").disabled = !files.size;
}

/** Everything below what was dropped, as [path, file]. */
async function below(entry, found) {
  if (found.length > boot.files) return;
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    found.push([entry.fullPath.replace(/^\//, ""), file]);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const one of some) await below(one, found);
  }
}

async function dropped(event) {
  event.preventDefault();
  at("drop").classList.remove("over");
  const entries = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry?.());
  const found = [];
  for (const entry of entries) if (entry) await below(entry, found);
  add(found.length ? found : [...event.dataTransfer.files].map((one) => [one.name, one]));
}

async function read(partition = "") {
  const form = new FormData();
  if (partition) form.append("partition", partition);
  for (const [name, file] of files) form.append("file", file, name);
  going?.abort();
  const mine = (going = new AbortController());
  const cancel = () => mine.abort();
  render(
    html`<p role="status">
      ${t("incident.reading", { n: files.size })}
      <button class="btn quiet" type="button" onClick=${cancel}>${t("incident.cancel")}</button>
    </p>`,
    at("found"),
  );
  let answer;
  try {
    answer = await post(`${boot.path}?lang=${lang}`, form, mine.signal);
  } catch (problem) {
    if (problem instanceof Refused) say(problem.message);
    else if (going === mine)
      mine.signal.aborted ? render(null, at("found")) : say(t("incident.offline"));
    return;
  }
  if (answer.choose) render(html`<${Choose} answer=${answer} read=${read} />`, at("found"));
  else {
    const link = answer.run ? `/r#run=${await pack(answer.run)}` : null;
    render(html`<${Story} answer=${answer} link=${link} />`, at("found"));
  }
}

const chosen = (event) =>
  add([...event.target.files].map((one) => [one.webkitRelativePath || one.name, one]));
at("pick").addEventListener("change", chosen);
at("folder").addEventListener("change", chosen);
for (const name of ["dragenter", "dragover"])
  at("drop").addEventListener(name, (event) => {
    event.preventDefault();
    at("drop").classList.add("over");
  });
at("drop").addEventListener("dragleave", () => at("drop").classList.remove("over"));
at("drop").addEventListener("drop", dropped);
at("files").addEventListener("submit", (event) => {
  event.preventDefault();
  read();
});
at("clear").addEventListener("click", () => {
  files.clear();
  count();
  going?.abort();
  render(null, at("found"));
});
