// Changes to a pasted text: a line that settles an assumption, and what is left out of a long one.

export const EXAMPLE = [
  "Topic: orders\tTopicId: Nf2lS0sHQbKQ6wZ1ZzqgZA\tPartitionCount: 2\tReplicationFactor: 3\t" +
    "Configs: min.insync.replicas=2",
  "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2",
  "\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,1",
  "",
  "# broker 1 orders-0 leader-epoch-checkpoint",
  "0",
  "2",
  "5 812000",
  "7 1203404",
  "# broker 1 replication-offset-checkpoint",
  "0",
  "1",
  "orders 0 1203410",
  "",
  "# broker 3 orders-0 leader-epoch-checkpoint",
  "0",
  "2",
  "5 812000",
  "6 1203401",
  "# broker 3 replication-offset-checkpoint",
  "0",
  "1",
  "orders 0 1203399",
  "",
].join("\n");

const ROW = /Leader:\s*\d+\s+Replicas:\s*([\d,]+)\s+Isr:\s*([\d,]+)(?!\S)(?!.*Offline:\s*\d)/;
const ABOUT =
  /^# (broker \d+ is|min\.insync\.replicas|unclean\.leader\.election\.enable|kafka|the) ?/;

const ids = (text) => text.split(",").sort().join();

/** The text with a line put in: above line `before`, or first, instead of one about the same. */
export function withLine(text, { put, before }) {
  const lines = text.split("\n");
  if (before > 0) {
    lines.splice(before - 1, 0, put);
    return lines.join("\n");
  }
  const about = ABOUT.exec(put)?.[0];
  const rest = lines.filter((one) => !about || !one.startsWith(about));
  return [put, ...rest].join("\n");
}

/**
 * A text that is too long without its rows of healthy partitions, and how many those are. They
 * become empty lines, so that numbers of lines stay; the first row of each broker is kept.
 */
export function pruned(text, most) {
  if (text.length <= most) return { text, left: 0 };
  const seen = new Set();
  let left = 0;
  const lines = text.split("\n").map((line) => {
    const [, replicas, isr] = ROW.exec(line) ?? [];
    if (!replicas || ids(replicas) !== ids(isr)) return line;
    const members = isr.split(",");
    if (members.some((one) => !seen.has(one))) {
      for (const one of members) seen.add(one);
      return line;
    }
    left += 1;
    return "";
  });
  return { text: lines.join("\n"), left };
}
