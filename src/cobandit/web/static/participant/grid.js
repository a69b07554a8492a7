// A task with labels of its own: two cards that turn over together.

import { face } from "./counts.js";
import { el, still } from "./dom.js";
import { turns } from "./turns.js";

/** @param {App} app */
export const grid = (app) => turns(app, new Cards(app.texts));

class Cards {
  #texts;
  #mine = el("strong", {});
  #theirs = el("strong", {});
  #outcome = el("div", { class: "outcome" });

  /** @param {Texts} texts */
  constructor(texts) {
    this.#texts = texts;
    /** @type {(name: string, value: HTMLElement) => HTMLElement} */
    const side = (name, value) => el("div", { class: "side" }, el("span", { class: "soft" }, name), value);
    this.element = el("div", { class: "scene cards", "aria-hidden": "true" },
      side(texts.own("task.participant"), this.#mine), side(texts.own("task.partner"), this.#theirs), this.#outcome);
  }

  clear() {
    this.#mine.textContent = "?";
    this.#theirs.textContent = "?";
    this.#outcome.replaceChildren();
  }

  /** @param {number} arm */
  hold(arm) {
    this.clear();
    this.#mine.textContent = this.#texts.arm(0, arm);
  }

  /** @param {Round} round */
  show({ arms, good }) {
    this.#mine.textContent = this.#texts.arm(0, arms[0]);
    this.#theirs.textContent = this.#texts.arm(1, arms[1]);
    this.#outcome.replaceChildren(...(good === null ? [] : [face(good)]));
  }

  /** @param {Round} round */
  reveal(round) {
    this.show(round);
    if (still()) return [];
    const turn = [{ transform: "rotateY(90deg)" }, { transform: "none" }];
    const grow = [{ transform: "scale(0)" }, { transform: "scale(0)", offset: 0.4 }, { transform: "scale(1.15)", offset: 0.75 }, { transform: "none" }];
    return [
      this.#theirs.animate(turn, { duration: 300, easing: "ease-out" }),
      this.#outcome.animate(grow, { duration: 850, easing: "ease-out" }),
    ];
  }
}
