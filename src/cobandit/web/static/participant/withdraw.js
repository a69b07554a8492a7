// The dialog that asks once whether the participant wants to withdraw.

import { el } from "./dom.js";

/**
 * @param {{ texts: Texts, rule: string, finished: boolean, confirm: () => void }} asked
 */
export function withdrawDialog({ texts, rule, finished, confirm }) {
  /** @param {string} key */
  const say = (key) => texts.say(key);
  const stay = el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, say(finished ? "withdraw.keep" : "withdraw.stay"));
  const leave = () => {
    dialog.close();
    confirm();
  };
  /** @type {HTMLDialogElement} */
  const dialog = el("dialog", { "aria-labelledby": "withdraw-heading", "aria-describedby": "withdraw-text" },
    el("h2", { id: "withdraw-heading" }, say("withdraw.heading")),
    el("p", { id: "withdraw-text" }, say(`withdraw.${rule}`)),
    el("div", { class: "actions" }, stay,
      el("button", { type: "button", class: "quiet", id: "withdraw-now", onclick: leave }, say("withdraw.confirm"))));
  dialog.addEventListener("close", () => {
    dialog.remove();
    document.getElementById("withdraw")?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}
