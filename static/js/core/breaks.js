// Breakpoints and "until": what playing stops at.  Pure: looks only at what a step tells.

import { partIn } from "./partition.js";

export const WHATS = [
  "hw",
  "leo",
  "isr",
  "leader",
  "role",
  "rule",
  "method",
  "invariant",
  "offset",
];
const OF_BROKER = new Set(["hw", "leo", "role", "rule", "method", "offset"]);
const WITH_VALUE = new Set(["rule", "method", "invariant", "offset"]);

/** Which fields a kind of breakpoint has beside its kind. */
export const fieldsOf = (what) => ({ broker: OF_BROKER.has(what), value: WITH_VALUE.has(what) });

const said = (field) => field !== "" && field !== undefined && field !== null;

/** "hw@2", "rule=H-2@1", "offset=5": how a breakpoint is kept and sent in a link. */
export const breakText = ({ what, broker, value }) =>
  what + (said(value) ? `=${value}` : "") + (said(broker) ? `@${broker}` : "");

/** The breakpoint a text means, or null. */
export function breakOf(text) {
  const found = /^([a-z]+)(?:=([^@]*))?(?:@(-?\d+))?$/.exec(text);
  if (!found || !WHATS.includes(found[1])) return null;
  return { what: found[1], value: found[2] ?? "", broker: found[3] ?? "" };
}

/** Does this step do what the breakpoint waits for?  `partition`: the one that is watched;
 *  `cues`: of one on a method, the rules that run it under this Kafka.
 * @param {Step & {changed?: Set<string>}} step
 * @param {{what: string, broker?: string, value?: string, cues?: string[]}} wanted */
export function hit(step, { what, broker, value, cues = [] }, partition = 0) {
  const has = (field) => {
    const own = partition ? `p${partition}/` : "";
    return [...(step.changed ?? [])].some((one) =>
      broker === ""
        ? one.startsWith(`${own}b`) && one.endsWith(`:${field}`)
        : one === `${own}b${broker}:${field}`,
    );
  };
  const record = (...fields) =>
    fields.some((field) => step.changed?.has(`${partition ? `p${partition}/` : ""}rec:${field}`));
  switch (what) {
    case "isr":
      return record("isr");
    case "leader":
      return record("leader", "le");
    case "rule":
      return step.cues.some(
        (cue) =>
          (value === "" || cue.rule === value || cue.rule.startsWith(`${value}.`)) &&
          (broker === "" || String(cue.node) === String(broker)),
      );
    case "method":
      return step.cues.some(
        (cue) => cues.includes(cue.rule) && (broker === "" || String(cue.node) === String(broker)),
      );
    case "invariant":
      return step.broken.some((one) => value === "" || one.inv === value);
    case "offset":
      return touches(step, Number(value), broker, partition);
    default:
      return has(what);
  }
}

/** Was the record at this offset appended or cut in this step? */
function touches(step, offset, broker, partition) {
  return Object.entries(partIn(step.view, partition)?.replicas ?? {}).some(([id, r]) => {
    if (broker !== "" && String(broker) !== id) return false;
    const old = step.was?.[partition]?.[id]?.leo;
    return (
      (old !== undefined && old <= offset && r.leo > offset) ||
      r.cut.some((ghost) => ghost.o === offset && !ghost.old)
    );
  });
}

/** The first of these steps that one of the breakpoints waits for: {step, brk} or null. */
export function firstHit(steps, breaks, partition = 0) {
  for (const step of steps) {
    const brk = breaks.find((one) => hit(step, one, partition));
    if (brk) return { step, brk };
  }
  return null;
}
/** "HW of broker 2 moves", "rule H-2 acts", "offset 5 is written or cut". */
export function breakWords({ what, broker, value }, { t, name }) {
  const base = t(
    value === "" && ["rule", "invariant"].includes(what) ? `break.${what}.any` : `break.${what}`,
    { value },
  );
  return broker === "" ? base : t("break.on", { what: base, b: name(Number(broker)) });
}
