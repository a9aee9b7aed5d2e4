import { readFileSync } from "node:fs";
import { tape } from "../../static/js/history.js";
import { namer, translator } from "../../static/js/i18n.js";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

export const words = (lang) => read(`../../static/i18n/${lang}.json`);
export const fixture = (name) => { const { facts, steps } = read(`./fixtures/${name}.json`); return tape(facts, steps); };
export const t = translator(words("en"), "en");
export const room = (step, width = 1000) => ({ width, t, name: namer(t, step.view.brokers) });
