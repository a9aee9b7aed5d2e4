// Which of a profile's rule cards a cue belongs to.

/** The id of a cue's card: H-2 for H-2.min_isr; null where it has none. */
export function cardOf(cards, cue) {
  let id = cue;
  while (!(id in cards) && id.includes(".")) id = id.slice(0, id.lastIndexOf("."));
  return id in cards ? id : null;
}
