// The run, what real brokers did with its script, or both side by side.

import { html } from "htm/preact";

import { release, releases, side, SIDES, wanted } from "../animator/reality.js";
import * as s from "../animator/state.js";
import { Icon } from "./common.js";
import { playUnder } from "./release.js";

/** Another release that was recorded, from the move at which the page stands. */
async function playOn(kafka) {
  wanted.value = kafka;
  const profile = s.boot.value.seen.profiles[kafka];
  if (profile !== s.facts.value.profile) await playUnder(profile);
}

/** The run, real brokers, or both; under a release that was not recorded, one that was. */
async function look(one) {
  if (one !== "model" && !release.value) await playOn(releases.value[0]);
  s.beside.value = one;
}

/** Nothing where the script was not recorded. */
export function RealBrokers({ t }) {
  if (!s.boot.value.seen || !releases.value.length) return null;
  const { equal, explained, href, releases: played } = s.boot.value.seen;
  const words =
    t("seen.badge", { releases: played.join(t("seen.and")), equal }) +
    (explained ? `, ${t("seen.badge.explained", { n: explained })}` : "");
  return html`<div class="row reals">
    <a class="seenreal" href=${href} title=${words} aria-label=${words}
      ><${Icon} name="tick" />${t("seen.badge.short")}</a
    >
    <div class="segments" role="group" aria-label=${t("seen.sides")}>
      ${SIDES.map(
        (one) =>
          html`<button
            key=${one}
            type="button"
            aria-pressed=${side.value === one ? "true" : "false"}
            onClick=${() => look(one)}
          >
            ${t(`seen.side.${one}`)}
          </button>`,
      )}
    </div>
    ${
      side.value !== "model" &&
      releases.value.length > 1 &&
      html`<select
        aria-label=${t("seen.releases")}
        value=${release.value}
        onChange=${(e) => playOn(e.target.value)}
      >
        ${releases.value.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select>`
    }
  </div>`;
}
