// Which frames an animation has: pure, so that size and length are known before anything is drawn.

export const MOST_FRAMES = 300;
export const WIDEST = 960;
const MOVE_MS = 90;
const MOST_BETWEEN = 4;

/** A picture of step `n`, `p` of the way to it, shown for `delay` ms.
 * @typedef {{n: number, p: number, delay: number}} Frame */

/** Every step from a to b. */
export const range = (a, b) => Array.from({ length: b - a + 1 }, (_, i) => a + i);

/** The frames that rest on these steps: [{n, p, delay}], p < 1 being on the way to step n.
 *  When the steps alone are too many, every k-th is shown; the last one always is.
 * @param {number[]} every
 * @param {{rest?: (n: number) => number, motion?: boolean}} [how] `rest`: ms that a step is shown
 * @returns {Frame[]} */
export function plan(every, { rest = () => 1100, motion = true } = {}) {
  const stride = Math.ceil(every.length / MOST_FRAMES);
  const steps = every.filter((_, i) => i % stride === 0);
  const b = /** @type {number} */ (every.at(-1));
  if (steps.at(-1) !== b) steps[steps.length - 1] = b;
  const room = steps.length > 1 ? Math.floor((MOST_FRAMES - steps.length) / (steps.length - 1)) : 0;
  const between = motion && stride === 1 ? Math.min(MOST_BETWEEN, room) : 0;
  return steps.flatMap((n, i) => {
    const moving = i
      ? Array.from({ length: between }, (_, j) => ({
          n,
          p: (j + 1) / (between + 1),
          delay: MOVE_MS,
        }))
      : [];
    return [...moving, { n, p: 1, delay: rest(n) }];
  });
}

/** How long it plays, in ms.
 * @param {Frame[]} frames */
export const lasts = (frames) => frames.reduce((sum, one) => sum + one.delay, 0);

/** How many bytes it will have, from its first frame and from one that follows it. */
export const weighs = (frames, first, next) => Math.round(first + next * (frames.length - 1));
