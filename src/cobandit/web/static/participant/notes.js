// Messages of the researcher. They lie above the page, so that no button moves, until they are closed.

import { el } from "./dom.js";
import { lasting } from "./store.js";

const POLL = 15_000;
const MOST_KEPT = 50;

export class Notes {
  #lent;
  #name;
  /** @type {Map<string, { box: HTMLElement, heading: HTMLElement, button: HTMLElement }>} */
  #shown = new Map();

  /**
   * `ask` asks the server for messages, `note` tells it that one is on the page or was closed.
   * @param {{ token: string, region: HTMLElement, texts: () => Texts, wanted: () => boolean, leave: () => void,
   *   ask: () => Promise<Note[]>, note: (key: string, dismissed: boolean) => Promise<unknown> }} lent
   */
  constructor(lent) {
    this.#lent = lent;
    this.#name = `cobandit:closed:${lent.token}`;
    // A page's keys must not choose an arm while a message is closed.
    lent.region.addEventListener("keydown", (event) => event.stopPropagation());
    setInterval(() => this.#poll(), POLL);
    document.addEventListener("visibilitychange", () => this.#poll());
  }

  /** Show the messages that are new to this page.
   * @param {Note[] | undefined} notes */
  take(notes) {
    const closed = this.#closed();
    for (const { key, text } of notes ?? []) {
      if (this.#shown.has(key) || closed.includes(key)) continue;
      const heading = el("strong");
      const button = el("button", { type: "button", class: "quiet", onclick: () => this.#close(key) });
      const box = el("div", { class: "message" }, el("p", {}, heading, el("span", {}, text)), button);
      this.#shown.set(key, { box, heading, button });
      this.dress();
      this.#lent.region.append(box);
      this.#lent.note(key, false).catch(() => {}); // closing it says the same again
    }
  }

  /** Put the words of the present language on what is shown. */
  dress() {
    const texts = this.#lent.texts();
    this.#lent.region.setAttribute("aria-label", texts.say("message.heading"));
    for (const { heading, button } of this.#shown.values()) {
      heading.textContent = texts.say("message.heading");
      button.textContent = texts.say("message.close");
    }
  }

  /** @returns {string[]} */
  #closed() {
    const known = lasting.get(this.#name);
    return Array.isArray(known) ? known : [];
  }

  /** @param {string} key */
  #close(key) {
    const note = this.#shown.get(key);
    if (!note) return;
    const focused = note.box.contains(document.activeElement);
    note.box.remove();
    this.#shown.delete(key);
    lasting.set(this.#name, [...this.#closed(), key].slice(-MOST_KEPT));
    if (focused) this.#lent.leave();
    this.#lent.note(key, true).catch(() => {}); // refused: it was deleted with everything else
  }

  async #poll() {
    if (document.visibilityState === "hidden" || !this.#lent.wanted()) return;
    try {
      const notes = await this.#lent.ask();
      if (this.#lent.wanted()) this.take(notes);
    } catch { /* asked again later */ }
  }
}
