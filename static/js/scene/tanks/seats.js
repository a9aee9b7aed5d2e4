// Which brokers have a tank, and which are a mark below the tanks.  Pure.

import { partOf } from "../../core/partition.js";
import { NARROW, ROOM, sideOf } from "./layout.js";

const MOST = 5; // of more brokers only those that hold the partition have a tank

/** {shown, others}: the leader's tank is always there, and no tank is too narrow to read.
 *  `guest`: a broker that takes the last place beside it; `skip`: how many others come last.
 * @param {View} view
 * @param {{width: number, partition?: number, guest?: number | null, skip?: number,
 *   letters?: typeof ROOM.narrow}} room */
export function seats(view, { width, partition = 0, guest = null, skip = 0, letters = undefined }) {
  const room = letters ?? ROOM[width < NARROW ? "narrow" : "wide"];
  const most = Math.max(1, Math.floor((width - 2 * sideOf(view, width)) / room.least));
  if (view.brokers.length <= Math.min(MOST, most)) return { shown: view.brokers, others: [] };
  const part = partOf(view, partition);
  const mine = view.brokers.filter((one) => part.replicas[one.id]);
  const wanted = mine.length ? mine : view.brokers;
  const leader = wanted.find((one) => one.id === part.record.leader);
  const shown = wanted.slice(0, most);
  if (leader && !shown.includes(leader)) shown[most - 1] = leader;
  const called = view.brokers.find((one) => one.id === guest);
  if (called && !shown.includes(called)) {
    const last = shown.length - 1;
    shown[shown[last] === leader ? Math.max(0, last - 1) : last] = called;
  }
  const others = view.brokers.filter((one) => !shown.includes(one));
  const first = skip % Math.max(1, others.length);
  return { shown, others: [...others.slice(first), ...others.slice(0, first)] };
}
