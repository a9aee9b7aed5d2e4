// Run at scale: the form, the progress of a batch, its charts.  The pages work without this.

import { pageWords } from "../core/dom.js";
import { translator } from "../i18n/words.js";
import { inWords } from "./charts/names.js";

const boot = JSON.parse(document.getElementById("boot").textContent);

async function begin() {
  const words = await pageWords();
  const t = translator(words, boot.lang);
  if (document.getElementById("form")) (await import("./form.js")).prepare(boot, t);
  if (boot.batch) {
    boot.batch = inWords(boot.batch, t);
    const charts = await import("./result.js");
    if (boot.active) (await import("./progress.js")).follow(boot, t, charts);
    else charts.result(boot.batch, t);
  }
  document.body.dataset.ready = "1";
}

begin();
