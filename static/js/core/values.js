// Values of the wire as text.

/** "–" for none, "[1, 2]", "{epoch 3, leader 1}".
 * @param {unknown} value
 * @returns {string} */
export function valueText(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (typeof value !== "object") return String(value);
  const fields = Object.entries(value).map(([name, one]) => `${name} ${valueText(one)}`);
  return `{${fields.join(", ")}}`;
}
