import { readdirSync, readFileSync } from "node:fs";

import { tape } from "../../static/js/core/history.js";
import { namer, translator } from "../../static/js/i18n/words.js";
import { layersOf } from "../../static/js/scene/layers.js";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

const catalogues = readdirSync(new URL("../../static/i18n/", import.meta.url));
/** All that the pages may say: en.json, and what parts of them bring themselves (share.en.json). */
export const words = (lang) =>
  Object.assign(
    {},
    ...catalogues
      .filter((file) => file === `${lang}.json` || file.endsWith(`.${lang}.json`))
      .map((file) => read(`../../static/i18n/${file}`)),
  );
export const fixture = (name) => {
  const { facts, steps } = read(`./fixtures/${name}.json`);
  return tape(facts, steps);
};
export const t = translator(words("en"), "en");
/** A stage with all that experts switch on, but what lies on disks and in sessions. */
export const room = (step, width = 1000) => ({
  width,
  t,
  name: namer(t, step.view.brokers),
  layers: layersOf("ends,remote,offsets,epochs,pipes,controller"),
});
