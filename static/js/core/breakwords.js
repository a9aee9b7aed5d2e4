// A breakpoint in words.

/** "HW of broker 2 moves", "rule H-2 acts", "offset 5 is written or cut". */
export function breakWords({ what, broker, value }, { t, name }) {
  const base = t(
    value === "" && ["rule", "invariant"].includes(what) ? `break.${what}.any` : `break.${what}`,
    { value },
  );
  return broker === "" ? base : t("break.on", { what: base, b: name(Number(broker)) });
}
