// The questions page: answers by number key, and what this browser remembers of them.
// Everything else is the server's: without this script one clicks, and nothing is counted.

const KEY = "highwater.learn";
const article = document.querySelector(".ask");

/** {asked, right, done: [numbers of the path], met: {belief: times}}; empty where nothing is kept. */
function kept() {
  const empty = { asked: 0, right: 0, done: [], met: {}, seen: [] };
  try {
    return { ...empty, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return empty;
  }
}

function keep(progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    // A browser that keeps nothing still shows every question.
  }
}

/** Counts an answer once: a page that is loaded again is the same answer. */
function note(progress) {
  const asked = new URLSearchParams(location.search);
  const name = ["s", "run", "profile", "q"].map((part) => asked.get(part) ?? "").join(" ");
  if (progress.seen.includes(name)) return progress;
  const right = article.dataset.right === "1";
  const met = { ...progress.met };
  for (const id of article.dataset.ids.split(" ").filter(Boolean)) met[id] = (met[id] ?? 0) + 1;
  const number = Number(asked.get("n"));
  return {
    asked: progress.asked + 1,
    right: progress.right + (right ? 1 : 0),
    done: number ? [...new Set([...progress.done, number])] : progress.done,
    met,
    seen: [...progress.seen, name].slice(-500),
  };
}

function show(progress) {
  const score = document.getElementById("score");
  if (progress.asked) {
    score.textContent = score.dataset.text
      .replace("{right}", progress.right)
      .replace("{asked}", progress.asked);
    score.hidden = false;
  }
  document.querySelectorAll(".topics a").forEach((link, i) => {
    link.classList.toggle("done", progress.done.includes(i + 1));
  });
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const choice = document.querySelectorAll(".choice")[Number(event.key) - 1];
  if (choice) choice.click();
}

let progress = kept();
if (article.dataset.right !== undefined) {
  progress = note(progress);
  keep(progress);
  document.getElementById("verdict").focus({ preventScroll: true });
}
show(progress);
addEventListener("keydown", keys);
document.body.dataset.ready = "1";
