// Many seeds of a scenario, dealt out to several engines of one page.

const CHUNK = 20; // seeds of one question: short enough to cancel, long enough to be worth it

/** Counts of a profile, and the first seed that broke each invariant. */
const none = () => ({ runs: 0, violates: 0, errors: 0, broken: {}, first: {} });

function add(sum, more) {
  for (const name of ["runs", "violates", "errors"]) sum[name] += more[name];
  for (const [name, n] of Object.entries(more.broken))
    sum.broken[name] = (sum.broken[name] ?? 0) + n;
  for (const [name, place] of Object.entries(more.first))
    if (!sum.first[name] || place[0] < sum.first[name][0]) sum.first[name] = place;
}

/** Chunks of all profiles, in turns: a batch that is cancelled has some of each. */
function* chunks(profiles, runs) {
  for (let first = 0; first < runs; first += CHUNK)
    for (const profile of profiles) yield { profile, first, count: Math.min(CHUNK, runs - first) };
}

/** Plays and counts; `heard(counts, done)` hears of every chunk.
 * @param {{scenario: string, profiles: string[], runs: number, lang: string,
 *   engines: import("./engine.js").Engine[], signal: AbortSignal,
 *   heard: (counts: Map<string, ReturnType<typeof none>>, done: number) => void}} how */
export async function count({ scenario, profiles, runs, lang, engines, signal, heard }) {
  const counts = new Map(profiles.map((one) => [one, none()]));
  const left = chunks(profiles, runs);
  let done = 0;
  const work = async (engine) => {
    for (const chunk of left) {
      if (signal.aborted) return;
      const request = JSON.stringify({ scenario, ...chunk });
      const answer = await engine.ask("ask", { event: "seeds", request, lang });
      if (!answer.ok) throw new Error(answer.sentence);
      if (signal.aborted) return;
      add(counts.get(chunk.profile), answer);
      done += answer.runs;
      heard(counts, done);
    }
  };
  await Promise.all(engines.map(work));
  return counts;
}
