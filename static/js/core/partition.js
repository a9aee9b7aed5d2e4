// Which partition is meant: by its number, which it keeps whatever becomes of the others.

/** Drawn when no topic is left: brokers without logs. */
const NONE = {
  p: -1,
  name: "",
  ar: [],
  same: 0,
  differ: null,
  gone: "empty",
  replicas: {},
  record: {
    leader: -1,
    le: "–",
    pe: "–",
    isr: [],
    elr: [],
    lastKnown: [],
    recovering: false,
    adding: [],
    removing: [],
  },
};

/** The partition of this number; without it the first there is.
 * @param {Pick<View, "partitions">} view
 * @param {number} p
 * @returns {Partition | typeof NONE} */
export const partOf = (view, p) => partIn(view, p) ?? view.partitions[0] ?? NONE;

/** How many partitions the cluster has, those that a view leaves out among them; 1 without a view.
 * @param {Pick<View, "partitions" | "partitionsMore"> | undefined} view */
export const countOf = (view) =>
  view ? view.partitions.length + (view.partitionsMore?.n ?? 0) : 1;

/** The partition of this number, or undefined.
 * @param {Pick<View, "partitions">} view
 * @param {number} p */
export const partIn = (view, p) => view.partitions.find((one) => one.p === p);
