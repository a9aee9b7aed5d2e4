// Where things of the lanes can be pressed, and where a motion plays: boxes {x, y, w, h}.  Pure.

/** Functions and boxes of a geometry, the same that the tanks have. */
export function boxes(geo) {
  const lane = (id) => geo.lanes.get(id);
  return {
    card: (id) => ({
      x: geo.cardX + 6,
      y: lane(id).y + 5,
      w: geo.cardW - 8,
      h: geo.narrow ? geo.cardH - 8 : geo.laneH - 10,
    }),
    log: (id) => ({ x: geo.logX, y: lane(id).log + 3, w: geo.logW, h: geo.d.lane - 6 }),
    end: (id) => ({
      x: geo.x(geo.part.replicas[id].leo) + 4,
      y: lane(id).log + geo.d.cell - 22,
      w: 58,
      h: 24,
    }),
    top: { x: geo.narrow ? 0 : geo.gutter, y: 3, w: geo.cardW, h: 36 },
    fold: () => ({ x: geo.left - 4, y: geo.heads.ruler, w: geo.foldW, h: 28 }),
    slip: (m) => ({ x: m.at[0] - 64, y: m.at[1] - 18, w: 128, h: 36 }),
    bolt: (id) => {
      const h = geo.narrow && geo.cardH ? geo.cardH : geo.laneH;
      const size = Math.min(44, h - 4);
      return {
        x: geo.cardX + geo.cardW / 2 - size / 2,
        y: lane(id).y + (h - size) / 2,
        size,
      };
    },
    cut: (id, offset) => {
      const x = geo.x(offset) - 1.5;
      const y = lane(id).log + geo.d.cell;
      return { d: `M${x} ${y - 14}V${y + geo.d.cellH + 10}`, x, y };
    },
    spot: (id, value, what) => {
      const at = { leo: -18, mem: geo.d.memory - geo.d.cell - 4 }[what] ?? 4;
      return {
        x: geo.x(Math.max(value, geo.base)) - 12,
        y: lane(id).log + geo.d.cell + at,
        width: 24,
        height: 24,
      };
    },
  };
}
