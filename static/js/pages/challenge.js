// A challenge: moves that stand ready are put behind those that are written.  Typing works alone.

const moves = document.getElementById("moves");
const offered = document.getElementById("offered");

offered.hidden = false;
offered.addEventListener("click", (event) => {
  const move = event.target.closest("button")?.dataset.move;
  if (!move) return;
  const before = moves.value.trimEnd();
  moves.value = before ? `${before}\n${move}` : move;
  moves.scrollTop = moves.scrollHeight;
});
document.body.dataset.ready = "1";
