// Requests that change or compute something, with the session's CSRF token.

/** A refusal of the server: its sentence is the message. */
export class Refused extends Error {
  /** @param {{code?: string, sentence?: string, args?: any}} answer */
  constructor(answer) {
    super(answer.sentence ?? answer.code);
    this.code = answer.code;
    this.args = answer.args ?? {};
  }
}

/** Sends a form, or another value as JSON, and returns the answer.  Throws Refused for a refusal,
 *  and another error where no answer came.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal] */
export async function post(path, body, signal) {
  const form = body instanceof FormData;
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json", "X-CSRF-Token": document.body.dataset.csrf ?? "" };
  if (!form) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method: "POST",
    headers,
    body: form ? body : JSON.stringify(body),
    signal,
  });
  const answer = await response.json();
  if (!answer.ok) throw new Refused(answer);
  return answer;
}
