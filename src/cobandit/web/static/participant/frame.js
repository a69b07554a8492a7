// What stands around every step: title, language, ribbon, progress, banner, heading and the voice for screen readers.

import { el } from "./dom.js";
import { languageName } from "./text.js";

export class Frame {
  #banner = el("p", { class: "banner", role: "status", hidden: true });
  #hint = el("p", { class: "banner hint", role: "status", hidden: true });
  #voice = el("p", { class: "unseen", "aria-live": "polite" });
  #ribbon = el("p", { class: "ribbon", hidden: true });
  #bar = el("div", { class: "fill" });
  #steps = el("span", { class: "steps" });
  #meter = el("div", { class: "meter", role: "progressbar", "aria-valuemin": "0" }, this.#bar);
  #progress = el("div", { class: "progress", hidden: true }, this.#meter, this.#steps);
  #title = el("p", { class: "study" });
  #tools = el("div", { class: "tools" });
  #chip = el("span", { class: "chip", hidden: true });
  #step = el("div", { class: "step" });
  #hinted = 0;
  #done = 0;
  #total = 1;

  /**
   * @param {HTMLElement} header
   * @param {HTMLElement} main
   */
  constructor(header, main) {
    this.main = main;
    header.replaceChildren(el("div", { class: "bar" }, this.#title, this.#chip, this.#tools), this.#ribbon, this.#progress);
    main.replaceChildren(this.#banner, this.#hint, this.#step, this.#voice);
    main.removeAttribute("aria-busy");
  }

  /**
   * Title, ribbon and the choice of language.
   * @param {{ title: string, kind: string, languages: string[], texts: Texts, onLanguage: (chosen: string) => void }} dress
   */
  dress({ title, kind, languages, texts, onLanguage }) {
    document.documentElement.lang = texts.language;
    document.title = title;
    this.#title.textContent = title;
    this.#ribbon.hidden = kind === "real";
    this.#chip.hidden = kind === "real";
    if (kind !== "real") {
      this.#ribbon.textContent = texts.say(`ribbon.${kind}`);
      this.#chip.textContent = texts.say(`ribbon.${kind}.short`);
      this.#chip.title = texts.say(`ribbon.${kind}`);
    }
    /** @type {HTMLSelectElement} */
    const choice = el("select", { id: "language", onchange: () => onLanguage(choice.value) },
      languages.map((language) => el("option", { value: language, lang: language }, languageName(language))));
    choice.value = texts.language;
    const focused = document.activeElement?.id === "language";
    this.#tools.replaceChildren(...(languages.length > 1
      ? [el("label", { for: "language", class: "unseen" }, texts.say("language.label")), choice] : []));
    if (focused) choice.focus();
  }

  /**
   * Show how far the whole study is, in steps. During a game the heading counts games, so the steps are only in the bar.
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
