// Messages to participants: one dialog, for all participants at work, one team, or one participant.

import { find, plural, post, problem, toast } from "./common.js";
import { ROOT } from "../shared/root.js";

/** @typedef {{ participant?: string, team?: string, kind?: string }} Recipients */

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const form = find("message-form");
/** @type {Recipients} */
let recipients = {};
let key = "";

/** A random name, so that a repeated request reaches each participant once. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Open the dialog.
 * @param {string} whom
 * @param {Recipients} to
 */
export function write(whom, to) {
  recipients = to;
  key = newKey();
  form.reset();
  problem(form, null);
  find("message-to").textContent = whom;
  find("message-dialog").showModal();
  find("message-text").focus();
}

form?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const button = form.querySelector('[type="submit"]');
  problem(form, null);
  button.disabled = true;
  try {
    const { people } = await post(`${ROOT}/api/admin/studies/${main.dataset.study}/messages`, { text: find("message-text").value, key, ...recipients });
    find("message-dialog").close();
    toast(people ? `Sent to ${plural(people, "person", "people")}.` : "No participant is at work, so the message was not sent.");
    document.dispatchEvent(new Event("changed"));
  } catch (error) {
    problem(form, error);
  } finally {
    button.disabled = false;
  }
});
