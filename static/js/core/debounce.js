// Work for the newest state only, and pauses.  Pure but for the timer it is given.

/**
 * Returns a function that has `work` done: one at a time, `gapMs` apart, and once more if it was
 * asked for meanwhile.  `work` reads the state itself, so whatever came in between is never done.
 */
export function newest(work, gapMs = 0, later = setTimeout) {
  /** @type {Promise<void> | null} */
  let busy = null;
  let again = false;
  const run = async () => {
    do {
      again = false;
      await work();
      if (gapMs) await new Promise((done) => later(done, gapMs));
    } while (again);
    busy = null;
  };
  return () => {
    if (busy) again = true;
    else busy = run();
    return busy;
  };
}

/** Resolves after `ms` milliseconds. */
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
