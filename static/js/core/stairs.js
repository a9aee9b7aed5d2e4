// The line of a share that holds from one step to the next.  Pure.

export const HEIGHT = 26;

/** Steps of equal width up to the next one that was looked at: "x,y x,y ..." in percent and px. */
export function staircase(steps, place, end) {
  return steps.flatMap(({ step, share }, i) => {
    const y = (HEIGHT * (1 - share)).toFixed(1);
    const to = steps[i + 1]?.step ?? end;
    return [`${place(step)},${y}`, `${place(to)},${y}`];
  });
}
