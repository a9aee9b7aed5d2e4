// Run at scale: the form, the progress of a batch, its charts.  The pages work without this.

import { inWords } from "../charts/names.js";
import { translator } from "../i18n/words.js";
import { pageWords } from "./dom.js";

const boot = JSON.parse(document.getElementById("boot").textContent);

async function begin() {
  const words = await pageWords();
  const t = translator(words, boot.lang);
  if (document.getElementById("form")) (await import("./batch-form.js")).prepare(boot, t);
  if (boot.batch) {
    boot.batch = inWords(boot.batch, t);
    const charts = await import("./batch-charts.js");
    if (boot.active) (await import("./batch-progress.js")).follow(boot, t, charts);
    else charts.result(boot.batch, t);
  }
  document.body.dataset.ready = "1";
}

begin();
