// The cheat sheet: a button that prints it, or keeps it as PDF.

const print = document.getElementById("print");
print.hidden = false;
print.addEventListener("click", () => window.print());
document.body.dataset.ready = "1";
