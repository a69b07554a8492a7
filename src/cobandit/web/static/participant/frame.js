// The frame of every step: title, language, badge of a demo, progress, banner, heading and announcements for screen
// readers.

import { el } from "./dom.js";
import { languageName } from "./text.js";

export class Frame {
  #banner = el("p", { class: "banner", role: "status", hidden: true });
  #hint = el("p", { class: "banner hint", role: "status", hidden: true });
  #voice = el("p", { class: "unseen", "aria-live": "polite" });
  #bar = el("div", { class: "fill" });
  #steps = el("span", { class: "steps" });
  #meter = el("div", { class: "meter", role: "progressbar", "aria-valuemin": "0" }, this.#bar);
  #progress = el("div", { class: "progress", hidden: true }, this.#meter, this.#steps);
  #title = el("p", { class: "study" });
  #tools = el("div", { class: "tools" });
  #chip = el("button", { type: "button", class: "chip", hidden: true, onclick: () => this.hint(this.#chip.title) });
  #step = el("div", { class: "step" });
  notes = el("div", { class: "notes", role: "log", "aria-live": "polite" });
  #hinted = 0;
  #done = 0;
  #total = 1;

  /**
   * @param {HTMLElement} header
   * @param {HTMLElement} main
   */
  constructor(header, main) {
    this.main = main;
    header.replaceChildren(el("div", { class: "bar" }, this.#title, this.#chip, this.#tools), this.#progress);
    main.replaceChildren(this.#banner, this.#hint, this.notes, this.#step, this.#voice);
    main.removeAttribute("aria-busy");
  }

  /**
   * Title, badge, the choice of language, and the button to withdraw.
   * @param {{ title: string, kind: string, languages: string[], texts: Texts, onLanguage: (chosen: string) => void, onWithdraw?: (() => void) | null }} dress
   */
  dress({ title, kind, languages, texts, onLanguage, onWithdraw = null }) {
    document.documentElement.lang = texts.language;
    document.title = title;
    this.#title.textContent = title;
    this.#chip.hidden = kind === "real";
    if (kind !== "real") {
      this.#chip.textContent = texts.say(`ribbon.${kind}.short`);
      this.#chip.title = texts.say(`ribbon.${kind}`);
    }
    /** @type {HTMLSelectElement} */
    const choice = el("select", { id: "language", onchange: () => onLanguage(choice.value) },
      languages.map((language) => el("option", { value: language, lang: language }, languageName(language))));
    choice.value = texts.language;
    const focused = document.activeElement?.id;
    const leave = el("button", { type: "button", id: "withdraw", class: "leave", onclick: () => onWithdraw?.() }, texts.say("withdraw.button"));
    this.#tools.replaceChildren(...(languages.length > 1
      ? [el("label", { for: "language", class: "unseen" }, texts.say("language.label")), choice] : []), ...(onWithdraw ? [leave] : []));
    if (focused === "language") choice.focus();
    else if (focused === "withdraw" && onWithdraw) leave.focus();
  }

  /**
   * Show how far the whole study is, in steps. Where the heading counts games or parts, the steps are only in the bar.
   * @param {number} done
   * @param {number} total
   * @param {Texts} texts
   * @param {boolean} counted
   */
  progress(done, total, texts, counted) {
    this.#done = done;
    this.#total = total;
    this.#progress.hidden = false;
    this.#steps.hidden = !counted;
    this.#steps.textContent = texts.say("progress.short", { done, total });
    this.#meter.setAttribute("aria-label", texts.say("progress.label"));
    this.#meter.setAttribute("aria-valuemax", String(total));
    this.#meter.setAttribute("aria-valuenow", String(done));
    this.#meter.setAttribute("aria-valuetext", texts.say("progress.long", { done, total }));
    this.within(0);
  }

  /** How much of the present step is done.
   * @param {number} part */
  within(part) {
    this.#bar.style.setProperty("width", `${(100 * Math.min(this.#done + part, this.#total)) / this.#total}%`);
  }

  /** A new page below the bar; the focus goes to its heading unless it only replaces itself.
   * @param {Shown} page */
  show({ heading, body, layout = "", focus = true, beside = null }) {
    const title = el("h1", { tabindex: "-1" }, heading);
    const top = beside ? el("div", { class: "heading" }, title, beside) : title;
    this.#step.replaceChildren(top, .../** @type {any[]} */ (body).flat(Infinity).filter(Boolean));
    this.main.className = layout;
    this.speak(""); // a screen reader must not find the last round's outcome on the next page
    if (focus) {
      scrollTo(0, 0);
      title.focus({ preventScroll: true });
    }
  }

  /** Put the focus at the beginning of the page. */
  focus() {
    this.#step.querySelector("h1")?.focus();
  }

  hideProgress() {
    this.#progress.hidden = true;
  }

  /** The calm line about the connection; null takes it away.
   * @param {string | null} text */
  banner(text) {
    this.#banner.hidden = text === null;
    this.#banner.textContent = text ?? "";
  }

  /** A remark that goes away by itself.
   * @param {string} text */
  hint(text) {
    clearTimeout(this.#hinted);
    this.#hint.hidden = false;
    this.#hint.textContent = text;
    this.#hinted = setTimeout(() => { this.#hint.hidden = true; }, 8000);
  }

  /** @param {string} text */
  speak(text) {
    this.#voice.textContent = text;
  }
}
