// How sure a visitor was of answers, and how many of those were right.  Pure.
// Sureness is 1 (a guess), 2 (thinks so) or 3 (certain); 0 or nothing: it was not said.

export const GUESS = 1;
export const CERTAIN = 3;
const LEVELS = [CERTAIN, 2, GUESS];
/** Answers of one level below which nothing is said of how well one knows what one knows. */
const FEWEST = 5;
const WELL = 0.8;
const LUCK = 0.6;

export const isSure = (sure) => LEVELS.includes(sure);

/** [{sure, right, of}], the surest first; of {sure, right} answers those that say how sure. */
export const calibration = (answers) =>
  LEVELS.map((sure) => {
    const so = answers.filter((one) => one.sure === sure);
    return { sure, right: so.filter((one) => one.right).length, of: so.length };
  });

/** What there is to say: {...row of the surest answers there are, found: over, under, well, few or
 *  plain}; null where no answer has it. */
export function saying(rows) {
  const row = rows.find((one) => one.of);
  if (!row) return null;
  const [certain, , guess] = rows;
  const share = ({ right, of }) => (of < FEWEST ? null : right / of);
  let found = "few";
  if (share(certain) !== null) found = share(certain) < WELL ? "over" : "well";
  if (found !== "over" && share(guess) > LUCK) found = "under";
  if (found === "few" && row.of >= FEWEST) found = "plain"; // the count itself says it
  return { ...row, found };
}

/** A result of ten questions as answers: marks "0101…" and, sign by sign, how sure "0321…". */
export const answersOf = (marks, sure) =>
  [...(marks ?? "")].map((mark, i) => ({ right: mark === "1", sure: Number(sure?.[i] ?? 0) }));
