// The library works without this script; with it, cards can be searched and filtered in place.
const cards = [...document.querySelectorAll(".card")];
const filters = document.getElementById("filters");
const find = document.getElementById("find");
const chips = [...document.querySelectorAll(".chip")];
const found = document.getElementById("found");
const texts = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));

function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const tags = chips.filter((c) => c.getAttribute("aria-pressed") === "true").map((c) => c.dataset.tag);
  let shown = 0;
  for (const card of cards) {
    const mine = (card.dataset.tags ?? "").split(" ");
    const fits = words.every((w) => texts.get(card).includes(w)) && (!tags.length || tags.some((t) => mine.includes(t)));
    card.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  document.getElementById("nothing").hidden = shown > 0;
  found.textContent = found.dataset.text.replace("{n}", shown);
}

find.addEventListener("input", show);
for (const chip of chips) {
  chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    show();
  });
}
const used = new Set(cards.flatMap((card) => (card.dataset.tags ?? "").split(" ")));
for (const chip of chips) chip.hidden = !used.has(chip.dataset.tag);
filters.hidden = false;
document.body.dataset.ready = "1";
