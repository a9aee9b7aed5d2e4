// Words written like another one.  Pure.

/** How many letters must change to make one word of the other; more than `most` is not counted. */
export function distance(a, b, most = 3) {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}

/** The words of a vocabulary nearest to those of a query, at most `count`. */
export function nearest(query, vocabulary, count = 6) {
  const found = [];
  for (const word of query
    .toLowerCase()
    .split(/\s+/)
    .filter((w) => w.length > 1)) {
    const most = word.length < 5 ? 1 : 2;
    for (const known of vocabulary) {
      const far =
        known.startsWith(word.slice(0, 4)) && word.length > 3 ? 1 : distance(word, known, most);
      if (far > 0 && far <= most) found.push([far, known]);
    }
  }
  return [...new Set(found.sort((a, b) => a[0] - b[0]).map(([, word]) => word))].slice(0, count);
}
