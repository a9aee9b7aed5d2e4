// The settings of every page: what is chosen is kept in this browser and heard of as "settings".

import { store, stored } from "../core/storage.js";

const USUAL = { theme: "auto", motion: "auto", text: "normal", letters: "on", size: "event" };
const keyOf = (name) => (name === "theme" ? "theme" : `highwater.${name}`);

/** @type {NodeListOf<HTMLInputElement>} */
const fields = document.querySelectorAll("[data-setting]");
const show = () => {
  for (const field of fields)
    field.value = stored(keyOf(field.dataset.setting), USUAL[field.dataset.setting]);
};

for (const field of fields) {
  field.addEventListener("change", () => {
    const { setting: name } = field.dataset;
    store(keyOf(name), field.value);
    dispatchEvent(new CustomEvent("settings", { detail: { name, value: field.value } }));
  });
}

document.getElementById("settings")?.addEventListener("beforetoggle", show);
addEventListener("settings", show);
const again = document.getElementById("coachagain");
again?.addEventListener("click", () => {
  store("highwater.coached", "");
  again.textContent = again.dataset.done;
  dispatchEvent(new CustomEvent("coach"));
});
show();
