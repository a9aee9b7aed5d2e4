// Where things of the tanks can be pressed, and where a motion plays: boxes {x, y, w, h}.  Pure.

/** Functions and boxes of a geometry, the same that the lanes have. */
export function boxes(geo) {
  const lane = (id) => geo.lanes.get(id);
  return {
    card: (id) => {
      const y = lane(id).foot + (geo.pipes ? 26 : 4);
      return { x: lane(id).left + 4, y, w: geo.col - 8, h: geo.narrow ? 54 : 70 };
    },
    log: (id) => ({
      x: lane(id).x,
      y: lane(id).top + 4,
      w: lane(id).w,
      h: lane(id).floor - lane(id).top - 4,
    }),
    end: (id) => {
      const x = lane(id).x + lane(id).w + 2;
      const y = geo.y(geo.part.replicas[id].leo, lane(id)) - 23;
      return { x, y, w: Math.min(54, geo.gap.right - 2, geo.width - x - 2), h: 24 };
    },
    top: geo.control,
    fold: () => {
      const first = geo.lanes.values().next().value;
      return { x: first.x, y: first.floor - geo.foldH, w: first.w, h: geo.foldH };
    },
    slip: (m) => ({ x: m.at[0] - m.w / 2, y: m.at[1] - m.h / 2, w: m.w, h: m.h }),
    bolt: (id) => {
      const size = Math.min(72, lane(id).w * 0.6);
      return {
        x: lane(id).mid - size / 2,
        y: (lane(id).top + lane(id).floor) / 2 - size / 2,
        size,
      };
    },
    cut: (id, offset) => {
      const y = geo.y(offset, lane(id));
      const { x, w } = lane(id);
      return { d: `M${x - 8} ${y}H${x + w + 8}`, x: x + w / 2, y, centred: true };
    },
    spot: (id, value, what) => {
      const y = geo.y(Math.max(value, geo.base), lane(id));
      return {
        x: lane(id).x + lane(id).w + 4,
        y: what === "leo" ? y - 20 : y - 12,
        width: 44,
        height: 20,
      };
    },
  };
}
