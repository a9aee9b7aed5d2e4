import { readdirSync, readFileSync } from "node:fs";
import { tape } from "../../static/js/history.js";
import { namer, translator } from "../../static/js/i18n.js";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

const folder = new URL("../../static/i18n/", import.meta.url);
/** The catalogue of the pages: the common words and those a page brings itself. */
export const words = (lang) => Object.assign(read(`../../static/i18n/${lang}.json`), ...readdirSync(folder).filter((f) => f.endsWith(`.${lang}.json`)).map((f) => read(`../../static/i18n/${f}`)));
export const fixture = (name) => { const { facts, steps } = read(`./fixtures/${name}.json`); return tape(facts, steps); };
export const t = translator(words("en"), "en");
export const room = (step, width = 1000) => ({ width, t, name: namer(t, step.view.brokers) });
