// Run at scale: the form, the progress of a batch, its charts.  The pages work without this.

import { pageWords } from "../core/dom.js";
import { translator } from "../i18n/words.js";
import { inWords } from "./charts/names.js";

const INSTALLATION_EVERY_MS = 3000;

const boot = JSON.parse(document.getElementById("boot").textContent);

/** A figure has no width before its fold is opened; texts to quote are copied by pressing them. */
function unfold() {
  for (const fold of document.querySelectorAll("details.part"))
    fold.addEventListener("toggle", () => {
      for (const figure of fold.querySelectorAll("figure.chart"))
        /** @type {HTMLElement & {redraw?: () => void}} */ (figure).redraw?.();
    });
  for (const text of document.querySelectorAll("#copies textarea"))
    text.addEventListener("focus", () => {
      const area = /** @type {HTMLTextAreaElement} */ (text);
      area.select();
      navigator.clipboard?.writeText(area.value).catch(() => {});
    });
}

/** Reads how far the installation of Spark is, until nothing is missing. */
function followInstallation() {
  const panel = document.getElementById("installation");
  if (!panel) return;
  setTimeout(async () => {
    const answer = await fetch(location.href).catch(() => null);
    if (answer?.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.getElementById("installation");
      if (next) panel.replaceWith(next);
      else panel.remove();
    }
    followInstallation();
  }, INSTALLATION_EVERY_MS);
}

async function begin() {
  const words = await pageWords();
  const t = translator(words, boot.lang);
  followInstallation();
  if (document.getElementById("form")) (await import("./form.js")).prepare(boot, t);
  if (boot.batch) {
    boot.batch = inWords(boot.batch, t);
    const charts = await import("./result.js");
    if (boot.active) (await import("./progress.js")).follow(boot, t, charts);
    else charts.result(boot.batch, t);
    unfold();
  }
  document.body.dataset.ready = "1";
}

begin();
