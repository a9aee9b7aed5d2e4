// The settings of every page: what is chosen is kept in this browser and heard of as "settings".

const USUAL = { theme: "auto", motion: "auto", text: "normal", letters: "on", size: "event" };
const keyOf = (name) => (name === "theme" ? "theme" : `highwater.${name}`);

function read(name) {
  try {
    return localStorage.getItem(keyOf(name)) ?? USUAL[name];
  } catch {
    return USUAL[name];
  }
}

/** @type {NodeListOf<HTMLInputElement>} */
const fields = document.querySelectorAll("[data-setting]");
const show = () => {
  for (const field of fields) field.value = read(field.dataset.setting);
};

for (const field of fields) {
  field.addEventListener("change", () => {
    const { setting: name } = field.dataset;
    try {
      localStorage.setItem(keyOf(name), field.value);
    } catch {
      /* a private window: until the page is left */
    }
    dispatchEvent(new CustomEvent("settings", { detail: { name, value: field.value } }));
  });
}

document.getElementById("settings")?.addEventListener("beforetoggle", show);
addEventListener("settings", show);
const again = document.getElementById("coachagain");
again?.addEventListener("click", () => {
  try {
    localStorage.removeItem("highwater.coached");
  } catch {
    /* there was nothing to forget */
  }
  again.textContent = again.dataset.done;
  dispatchEvent(new CustomEvent("coach"));
});
show();
