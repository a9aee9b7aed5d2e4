// The matrix: every partition a row, every broker a column; a square leads to that partition's
// lanes.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { rows, shade } from "../scene/matrix.js";
import { Icon } from "./common.js";

const SIGN = { full: "tick", under: "plusminus", under_min: "alert", leaderless: "cross" };

function words(sq, broker, t) {
  const state = sq.off ? t(`alive.${broker.alive}`) : t(`role.${sq.role}`);
  const member = sq.member ? t("lane.in") : sq.eligible ? "ELR" : t("lane.out");
  return [
    s.name.value(broker.id),
    state,
    member,
    `LEO ${sq.leo}`,
    `HW ${sq.hw}`,
    sq.behind > 0 && t("matrix.behind", { n: sq.behind }),
  ]
    .filter(Boolean)
    .join(t("list.comma"));
}

function Square({ sq, broker, index }) {
  const t = s.t.value;
  if (!sq) return html`<td class="nobody"></td>`;
  const drill = () => {
    s.partition.value = index;
    s.selected.value = `b${broker.id}`;
    s.chosen.value = "tanks";
  };
  const standing = sq.member ? "in" : sq.eligible ? "may" : "out";
  const cls = `sq ${standing} ${sq.off ? "off" : ""} lag${shade(sq.behind)}`;
  return html`<td>
    <button
      type="button"
      class=${cls}
      data-square=${`${index}:${broker.id}`}
      data-role=${sq.role}
      data-member=${sq.member ? 1 : 0}
      data-leo=${sq.leo}
      data-hw=${sq.hw}
      aria-label=${words(sq, broker, t)}
      title=${words(sq, broker, t)}
      onClick=${drill}
    >
      ${
        sq.off
          ? html`<${Icon} name="cross" />`
          : sq.role === "leader"
            ? html`<${Icon} name="crown" />`
            : null
      }<span>${sq.behind > 0 ? `−${sq.behind}` : sq.leo}</span>
    </button>
  </td>`;
}

export function Matrix() {
  const t = s.t.value;
  const step = s.step.value;
  if (!step) return null;
  const { brokers, partitionsMore: more } = step.view;
  return html`<div class="scrollx" role="region" aria-label=${t("matrix.caption")} tabindex="0">
      <table class="matrix">
        <caption class="sr">
          ${t("matrix.caption")}
        </caption>
        <thead>
          <tr>
            <th scope="col">${t("title.partition")}</th>
            <th scope="col">${t("matrix.state")}</th>
            ${brokers.map(
              (b) =>
                html`<th key=${b.id} scope="col">
                  ${s.name.value(b.id, true)}${
                    b.rack ? html` <span class="soft">${b.rack}</span>` : null
                  }
                </th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows(step.view).map(
            (row) =>
              html`<tr
                key=${row.part.p}
                class=${row.health}
                aria-current=${row.part.p === s.partition.value ? "true" : null}
              >
                <th scope="row">${row.part.name}</th>
                <td class="state">
                  <span class=${row.health}
                    ><${Icon} name=${SIGN[row.health]} />${t(`matrix.${row.health}`)}</span
                  >
                </td>
                ${row.squares.map(
                  (sq, j) =>
                    html`<${Square} key=${j} sq=${sq} broker=${brokers[j]} index=${row.part.p} />`,
                )}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${more && html`<p class="soft small">${t("matrix.more", more)}</p>`}
    <p class="soft small">${t("matrix.legend")}</p>`;
}
