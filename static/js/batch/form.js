// The form: profiles follow the scenario, examples fill themselves in, refusals stand where they
// arose.

import { at, every, field, fields, formAt, linkAt } from "../core/dom.js";
import { post } from "../core/post.js";
import { duration, whole } from "./charts/figures.js";

/** What the form asks for, as the server takes it. */
function asked(boot) {
  const fields = new FormData(formAt("form"));
  const scenario = field("scenario");
  return {
    ...(scenario ? { scenario: scenario.value } : boot.fixed),
    runs: Number(fields.get("runs")),
    first_seed: Number(fields.get("first_seed") || 0),
    profiles: fields.getAll("profiles"),
    within: Number(fields.get("within") || 0),
    vary: String(fields.get("vary"))
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  };
}

function refuse(sentence) {
  const problem = at("problem");
  problem.textContent = sentence;
  problem.hidden = !sentence;
}

/** Runs `act` while a button rests; what is refused is said beside it and nothing is lost. */
async function during(button, busy, act) {
  const label = button.textContent;
  refuse("");
  button.disabled = true;
  button.textContent = busy;
  try {
    await act();
  } catch (error) {
    refuse(error.message);
    at("estimated").textContent = "";
  }
  button.disabled = false;
  button.textContent = label;
}

/** Shows how long the runs would take, and how rare a failure they could find. */
async function tellEstimate(boot, t) {
  const said = await post("/api/batches/estimate", asked(boot));
  const { runs } = asked(boot);
  const speed = said.runs_per_s < 10 ? said.runs_per_s.toPrecision(2) : whole(said.runs_per_s);
  // A bound of one and more says nothing: three runs and fewer cannot tell that a thing is rare.
  const told = t(said.bound < 1 ? "batch.estimated" : "batch.estimated.few", {
    total: whole(said.total_runs),
    time: duration(t, said.seconds),
    speed,
    cores: said.cores,
    precision: (100 * said.precision).toPrecision(2),
    once: whole(Math.max(1, Math.floor(runs / 3))), // nothing in n runs: below 3 in n, 95 % sure
  });
  at("estimated").textContent = [told, ...said.notes].join(" ");
}

/** Where the address asks for a language, so does the next one. */
function languageAsked() {
  const lang = new URLSearchParams(location.search).get("lang");
  return lang ? `?${new URLSearchParams({ lang })}` : "";
}

export function prepare(boot, t) {
  const form = formAt("form");
  const scenario = field("scenario");
  const start = at("start");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    during(start, t("batch.starting"), async () => {
      const { url } = await post("/api/batches", asked(boot));
      location.href = url + languageAsked();
    });
  });

  const estimate = at("estimate");
  estimate.hidden = false;
  estimate.addEventListener("click", () =>
    during(estimate, t("batch.estimating"), () => tellEstimate(boot, t)),
  );

  scenario?.addEventListener("change", () => {
    const facts = boot.scenarios[scenario.value];
    at("teaches").textContent = facts?.teaches ?? "";
    at("same").hidden = facts?.random ?? true;
    if (facts) linkAt("twin").href = `/batch/twin?scenario=${encodeURIComponent(facts.name)}`;
    if (facts)
      for (const box of fields("[name=profiles]", form))
        box.checked = facts.profiles.includes(box.value);
    const others = /** @type {HTMLDetailsElement} */ (at("otherreleases"));
    others.open = others.querySelector(":checked") !== null;
  });

  const vary = field("vary");
  for (const chip of every("[data-example]", form)) {
    chip.addEventListener("click", () => {
      vary.value = [
        ...vary.value.split("\n").filter((line) => line.trim()),
        chip.dataset.example,
      ].join("\n");
      vary.focus();
    });
  }
}
