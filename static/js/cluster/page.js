// One box: what was pasted goes to the server, which says what it is and stores nothing.

import "../incident/files.js";

import { html } from "htm/preact";
import { render } from "preact";

import { at, field, pageWords } from "../core/dom.js";
import { pack } from "../core/packing.js";
import { post, Refused } from "../core/post.js";
import { translator } from "../i18n/words.js";
import { Found } from "./found.js";
import { colour } from "./gutter.js";
import { EXAMPLE, pruned, withLine } from "./pasting.js";

const boot = JSON.parse(document.getElementById("boot").textContent);
const { lang } = boot;
const t = translator(await pageWords(), lang);

/** A header line goes where the cursor is, on a line of its own. */
function header() {
  const box = field("text");
  const file = field("file").value;
  const of = file === "leader-epoch-checkpoint" ? `${field("partition").value.trim()} ` : "";
  const line = `# broker ${Number(field("broker").value) || 0} ${of}${file}\n`;
  const before = box.value.slice(0, box.selectionStart);
  box.setRangeText(
    (before && !before.endsWith("\n") ? "\n" : "") + line,
    box.selectionStart,
    box.selectionEnd,
    "end",
  );
  box.focus();
}

/** What a press says instead of an assumption becomes a line of the text, which is read again. */
function put(choice) {
  field("text").value = withLine(field("text").value, choice);
  read();
}

/** Reads what the box has; `partition` chooses one of those that logs are about. */
async function read(event, partition = "") {
  event?.preventDefault();
  const { text, left } = pruned(field("text").value, boot.most);
  if (!text.trim()) {
    render(html`<p role="alert">${t("cluster.empty")}</p>`, at("found"));
    at("text").focus();
    return;
  }
  if (text.length > boot.most) {
    const sentence = t("cluster.long", { most: boot.most });
    render(html`<p class="bad" role="alert">${sentence}</p>`, at("found"));
    return;
  }
  const body = { text };
  if (partition) body.partition = partition;
  if (field("profile").value) body.profile = field("profile").value;
  let answer;
  try {
    answer = await post(`/api/cluster?lang=${lang}`, body);
  } catch (problem) {
    const sentence = problem instanceof Refused ? problem.message : t("cluster.offline");
    render(html`<p class="bad" role="alert">${sentence}</p>`, at("found"));
    return;
  }
  const { story, quorum } = answer.box;
  const [link, film, voters] = await Promise.all(
    [answer.run, story?.run, quorum.run].map(async (run) => run && `/r#run=${await pack(run)}`),
  );
  const again = (name) => read(null, name);
  render(
    html`<${Found} ...${{ answer, link, left, put, film, voters }} read=${again} />`,
    at("found"),
  );
  colour(answer.box.lines, answer.problems);
  at("found").scrollIntoView({ block: "nearest" });
}

at("paste").addEventListener("submit", read);
at("header").addEventListener("click", header);
// The example never replaces a pasted text.
const filled = () => {
  field("example").disabled = field("text").value.trim() !== "";
};
at("text").addEventListener("input", filled);
at("example").addEventListener("click", () => {
  field("text").value = EXAMPLE;
  filled();
  at("text").focus();
});
at("file").addEventListener("change", () => {
  at("which").hidden = field("file").value !== "leader-epoch-checkpoint";
});
const handed = sessionStorage.getItem("pasted");
sessionStorage.removeItem("pasted");
if (handed) field("text").value = handed;
filled();
if (handed || boot.asked) await read();
document.body.dataset.ready = "1";
