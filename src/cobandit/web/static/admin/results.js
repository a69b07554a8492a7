// The results of a study: the page asks for the part that takes a while, and shows it when it is computed.

import { el, find, post, reason } from "./common.js";

const summary = find("summary");

async function load() {
  try {
    const answer = await fetch(summary.dataset.address, { cache: "no-store", credentials: "same-origin" });
    const text = await answer.text();
    if (answer.redirected) return location.reload(); // the login has ended
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!answer.ok) throw new Error(page.querySelector("main p, p")?.textContent ?? `The server answered with ${answer.status}.`);
    summary.replaceChildren(...page.body.childNodes);
  } catch (error) {
    summary.replaceChildren(
      el("p", { class: "notice bad", role: "alert" }, reason(error)),
      el("p", null, el("button", { class: "small", type: "button", onclick: () => location.reload() }, "Try again")),
    );
  }
  find("show-results")?.addEventListener("click", show);
}

/** @param {MouseEvent} event */
async function show(event) {
  const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
  button.disabled = true;
  try {
    await post(button.dataset.address ?? "");
    location.reload();
  } catch (error) {
    button.disabled = false;
    const notice = summary.querySelector(".notice");
    notice.hidden = false;
    notice.textContent = reason(error);
  }
}

load();
