// Entry of every page of a static site, before its own script: addresses, requests and the live
// channel are answered by the folder and by the engine in a Web Worker.

import { Refused } from "../core/post.js";
import { inAddress, translator } from "../i18n/words.js";
import { fileOf, toServer, toSite } from "./addresses.js";
import { Bar } from "./bar.js";
import { Channel } from "./channel.js";
import { Engine } from "./engine.js";
import { fetching } from "./fetching.js";
import { framed } from "./framing.js";
import { Frozen } from "./frozen.js";
import { keepOffline } from "./keeping.js";
import { lead } from "./links.js";
import { keep, textOf } from "./runs.js";
import { show } from "./shell.js";

const map = globalThis.highwaterMap;
const { dataset, lang: tag } = document.documentElement;
const root = new URL(dataset.site, location.href).href;
const lang = inAddress(tag);
const site = { ...map, root, lang, pages: new Set(map.pages), answers: new Set(map.answers) };
const t = translator(map.words[lang], lang);
const bar = new Bar(t);
const frozen = new Frozen(root, lang);
const PLAIN = new Set(["bytes", "package"]); // no files of the folder
const absolute = (files) =>
  Object.fromEntries(
    Object.entries(files).map(([name, file]) => [name, PLAIN.has(name) ? file : root + file]),
  );
const started = (heard) =>
  new Engine({
    script: `${root}static/js/site/worker.js`,
    files: absolute(map.files),
    heard,
    learned: (runs) => {
      for (const digest of Object.keys(runs)) engine.told.add(digest);
      keep(runs);
    },
  });
const engine = started((progress) => bar.show(progress));

const placed = (path) => {
  const said = toServer(new URL(path, path.startsWith("/") ? root : location.href).href, site);
  return said === null ? path : toSite(said, site);
};

const plain = globalThis.fetch.bind(globalThis);
const fetched = fetching({ site, engine, frozen, textOf, plain });
globalThis.fetch = fetched;

/** What the address says of the run that an animator page opens with. */
function first() {
  const runs = JSON.parse(dataset.runs ?? "{}");
  const asked = new URLSearchParams(location.search);
  const boot = document.getElementById("boot");
  if (!boot || !document.body.classList.contains("animator")) return { runs, named: null };
  const said = JSON.parse(boot.textContent);
  said.kept = true;
  const profile = asked.get("profile")?.replaceAll(" ", "+") ?? said.profile;
  const seed = Number(asked.get("seed") ?? 0);
  let named = null;
  if (asked.has("run") && said.bare)
    Object.assign(said, { run: asked.get("run"), bare: false, kept: false });
  else if (said.named && (seed || !(profile in runs))) {
    named = { scenario: said.scenario.slug, profile, seed };
    Object.assign(said, { run: NAMED, profile, seed });
  } else if (said.named) Object.assign(said, { run: runs[profile], profile });
  boot.textContent = JSON.stringify(said);
  return { runs, named };
}

const NAMED = "0000000000000000"; // stands for a run whose digest the engine has to find out
const { runs, named } = first();

const channel = new Channel({
  engine,
  frozen,
  textOf,
  lang,
  runOf: (_scenario, profile) => runs[profile] ?? null,
  refuse: (answer) => new Refused(answer),
  said: (key) => t(key),
});
const asks = channel.ask.bind(channel);
channel.ask = (event, payload) =>
  asks(event, payload?.run === NAMED ? { ...payload, ...named, run: undefined } : payload);

globalThis.highwaterSite = {
  placed,
  t,
  lang,
  engine: () => started((progress) => bar.show(progress)),
  connect: ({ onConnect }) => {
    queueMicrotask(onConnect);
    engine.soon();
    return channel;
  },
};

lead({ placed, fetched, inFolder: (href) => fileOf(toServer(href, site), site) !== null });
addEventListener("load", () => setTimeout(() => keepOffline({ root, bar }), 3000));

async function frame() {
  if (await framed({ channel, root, lang, t })) await import(root + map.packs["pages/embed.js"]);
  else document.body.dataset.ready = "1";
}

const AT = "/at/?p=";
/** This address as a page of the folder has it, with the slash that hosts forgive. */
function canonical() {
  const url = new URL(location.href);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url.href;
}

const there = placed(canonical());
const path = new URL(there).pathname;
// A server's address on a host that shows 404.html, or a query that this page cannot answer.
if (path !== new URL(canonical()).pathname && !(document.body.dataset.shell && there.includes(AT)))
  location.replace(there);
else if (document.body.dataset.frame) frame();
else if (document.body.dataset.shell) shell();
else if (document.querySelector("[data-asks]")) engine.soon("warm");

function shell() {
  engine.start();
  show({
    path: toServer(canonical(), site),
    fetched,
    placed,
    root,
    packs: map.packs,
    sorry: () => bar.show({ loaded: 0, total: 1, ready: false, failed: "folder.failed" }),
  });
}
