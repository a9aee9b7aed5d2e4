// Which brokers have a tank, and which are a mark below the tanks.  Pure.

import { partOf } from "../../core/partition.js";
import { NARROW, ROOM, sideOf } from "./layout.js";

const MOST = 5; // of more brokers only those that hold the partition have a tank

/** {shown, others}: the leader's tank is always there, and no tank is too narrow to read. */
export function seats(view, { width, partition = 0, letters = undefined }) {
  const room = letters ?? ROOM[width < NARROW ? "narrow" : "wide"];
  const most = Math.max(1, Math.floor((width - 2 * sideOf(view, width)) / room.least));
  if (view.brokers.length <= Math.min(MOST, most)) return { shown: view.brokers, others: [] };
  const part = partOf(view, partition);
  const mine = view.brokers.filter((one) => part.replicas[one.id]);
  const wanted = mine.length ? mine : view.brokers;
  const leader = wanted.find((one) => one.id === part.record.leader);
  const shown = wanted.slice(0, most);
  if (leader && !shown.includes(leader)) shown[most - 1] = leader;
  return { shown, others: view.brokers.filter((one) => !shown.includes(one)) };
}
