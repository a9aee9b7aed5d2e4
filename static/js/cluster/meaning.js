// What a text means besides the state of its partitions: named lines, known bugs, search hits.

import { html } from "htm/preact";

import { pageWords } from "../core/dom.js";
import { translator } from "../i18n/words.js";
import { Choose, Story } from "../incident/story.js";

const { lang } = JSON.parse(document.getElementById("boot").textContent);
const t = translator(await pageWords(), lang);

const Named = ({ line, count, key, args, links }) =>
  html`<li key=${line}>
    <b>${t("cluster.line", { line })}</b> ${t(key, args)}
    ${count > 1 && html` <span class="soft">${t("cluster.times", { n: count })}</span>`}
    ${
      links.length > 0 &&
      html`<ul class="links">
        ${links.map(
          ({ kind, title, href }) =>
            html`<li key=${kind}><a href=${href}>${t(`cluster.${kind}`, { title })}</a></li>`,
        )}
      </ul>`
    }
  </li>`;

const Bug = ({ line, jira, statement, href, hit }) =>
  html`<li key=${jira}>
    <a href=${href}>${jira}</a> ${line > 0 && html`<b>${t("cluster.line", { line })}</b> `}
    ${statement} ${hit === false && html` <span class="soft">${t("cluster.bug.not")}</span>`}
  </li>`;

const Hit = ({ url, title, text }) =>
  html`<li key=${url}><a href=${url}>${title}</a> <span class="soft">${text}</span></li>`;

const Quorum = ({ sentences, voters }) =>
  sentences.length > 0 &&
  html`<div>
    <h2>${t("cluster.quorum")}</h2>
    <ul>
      ${sentences.map(({ key, args }) => html`<li key=${key}>${t(`voting.${key}`, args)}</li>`)}
    </ul>
    <p>
      <a class=${voters ? "btn" : ""} href=${voters ?? "/s/S85"}>
        ${t(voters ? "cluster.quorum.play" : "cluster.quorum.watch")}
      </a>
    </p>
  </div>`;

const Part = ({ title, rows, shape }) =>
  rows.length > 0 &&
  html`<div>
    <h2>${title}</h2>
    <ul>
      ${rows.map(shape)}
    </ul>
  </div>`;

export function Meaning({ box, film, voters, read }) {
  const { named, quorum, bugs, hits, story, without, release, has, masked } = box;
  const told = story && !story.choose && html`<${Story} answer=${story} link=${film} />`;
  const ofRelease = t("cluster.has", { release, n: has });
  return html`${masked > 0 && html`<p role="status">${t("cluster.masked", { n: masked })}</p>`}
    <${Quorum} sentences=${quorum.sentences} voters=${voters} />
    ${without && html`<p role="status">${without}</p>`}
    ${story?.choose && html`<${Choose} answer=${story} read=${read} />`}
    ${story?.states > 0 && told}
    <${Part} title=${has ? ofRelease : t("cluster.bugs")} rows=${bugs} shape=${Bug} />
    <${Part} title=${t("cluster.named")} rows=${named} shape=${Named} />
    ${!story?.states && told}
    ${
      release &&
      html`<p>
        <a class="btn" href=${`/upgrade?from=${release}`}>${t("cluster.release", { release })}</a>
      </p>`
    }
    <${Part} title=${t("cluster.hits")} rows=${hits} shape=${Hit} />`;
}
