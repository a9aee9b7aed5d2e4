// Frames of a call chain, outermost first: of one release, or of two side by side.

import { html } from "htm/preact";

import * as s from "../animator/state.js";
import { titleOf } from "../panels/rulecard.js";

/** The last part of a path, which names the class's file. */
const short = (path) => path.slice(path.lastIndexOf("/") + 1);

/** Where a frame stands in Kafka's public source at the release's tag. */
function place(frame, release, base, line = frame.line) {
  return `${base}/${release.tag}/${frame.file}${line ? `#L${line}` : ""}`;
}

/** A long name that may break before its humps and after its dot. */
export const humps = (name) =>
  name.split(/(?<=\.)|(?=[A-Z][a-z])/).flatMap((part, i) => (i ? [html`<wbr />`, part] : [part]));

function Frame({ frame, release, base, acting }) {
  const t = s.t.value;
  const opens = t("lens.opens", { release: release.release });
  return html`<code class="name">${humps(frame.name)}</code>
    ${acting && html`<span class="sr"> (${t("lens.acts")})</span>`}
    ${
      frame.file &&
      html`<a
        class="at"
        href=${place(frame, release, base)}
        target="_blank"
        rel="noreferrer"
        title=${`${frame.file} · ${opens}`}
        >${humps(short(frame.file))}${frame.line ? `:${frame.line}` : ""}</a
      >`
    }
    ${
      frame.calls > 0 &&
      html`<a
        class="at calls"
        href=${place(frame, release, base, frame.calls)}
        target="_blank"
        rel="noreferrer"
        title=${opens}
        >${t("lens.calls", { n: frame.calls })}</a
      >`
    }`;
}

export const Gap = ({ kind }) =>
  html`<span class="gap"><span aria-hidden="true">⋮</span> ${s.t.value(`lens.gap.${kind}`)}</span>`;

/** Why there is no chain. */
export const Reason = ({ stack, release }) =>
  html`<p class="soft">
    ${s.t.value(`lens.reason.${stack.reason}`, { release: release.release })}
  </p>`;

/** Thread and node above a stack. */
function Thread({ stack, release }) {
  const t = s.t.value;
  const name = stack.node === null ? "" : s.name.value(stack.node, true);
  const node = name === String(stack.node) ? name : `${name} (${stack.node})`;
  const mode = t(`lens.controller.${release.mode}`);
  return html`<p class="thread">
    <span class="soft"
      >${release.release} · ${mode} · ${t(`lens.where.${stack.where}`, { node })}</span
    >
    <code>${stack.thread}</code>
  </p>`;
}

/** One release: the thread, then its frames from the run loop down to what acts. */
export function Source({ release, stack, base, rule }) {
  if (stack.reason) return html`<${Reason} stack=${stack} release=${release} />`;
  return html`<${Instead} stack=${stack} rule=${rule} /><${Thread}
      stack=${stack}
      release=${release}
    />
    <ol class="frames">
      ${stack.frames.map(
        (frame, i) =>
          html`<li
            key=${i}
            class=${i === stack.acting ? "acting" : ""}
            aria-current=${i === stack.acting ? "true" : null}
          >
            ${frame.gap && html`<${Gap} kind=${frame.gap} />`}<${Frame}
              frame=${frame}
              release=${release}
              base=${base}
              acting=${i === stack.acting}
            />
          </li>`,
      )}
    </ol>`;
}

function Cell({ stack, release, base, at, kind }) {
  const frame = at === null ? null : stack.frames[at];
  if (!frame) return html`<td class="none"></td>`;
  const acting = at === stack.acting;
  return html`<td class=${acting ? "acting" : ""}>
    ${frame.gap && html`<${Gap} kind=${frame.gap} />`}<${Frame}
      frame=${frame}
      release=${release}
      base=${base}
      acting=${acting}
    />
    ${kind && kind !== "same" && html`<span class="pill">${s.t.value(`lens.kind.${kind}`)}</span>`}
  </td>`;
}

/** A rule that stands in the place of the run's own in that release. */
const Instead = ({ stack, rule }) =>
  stack.rule !== rule &&
  html`<p class="thread"><code class="rule">${stack.rule}</code> ${titleOf(stack.rule)}</p>`;

/** Two releases: a row for each frame, with what became of it between them. */
export function Beside({ rows, left, right, at, base }) {
  const pair = [
    [left, left.stacks[at]],
    [right, right.stacks[at]],
  ];
  const rule = left.stacks[at].of;
  const head = ([release, stack]) =>
    html`<th key=${release.release} scope="col">
      <${Instead} stack=${stack} rule=${rule} />${
        stack.reason
          ? html`<b>${release.release}</b><${Reason} stack=${stack} release=${release} />`
          : html`<${Thread} stack=${stack} release=${release} />`
      }
    </th>`;
  return html`<div
    class="besidebox"
    role="region"
    aria-label=${`${left.release} – ${right.release}`}
    tabindex="0"
  >
    <table class="beside">
      <thead>
        <tr>
          ${pair.map(head)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([i, j, kind], n) =>
            html`<tr key=${n} data-kind=${kind}>
              <${Cell}
                stack=${left.stacks[at]}
                release=${left}
                base=${base}
                at=${i}
                kind=${j === null ? kind : ""}
              />
              <${Cell}
                stack=${right.stacks[at]}
                release=${right}
                base=${base}
                at=${j}
                kind=${kind}
              />
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
