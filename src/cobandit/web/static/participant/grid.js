// A task with labels, and perhaps icons, of its own: a card for each seat, all turned over together.

import { face, range } from "./counts.js";
import { el, still } from "./dom.js";
import { fitWords } from "./fit.js";
import { avatar } from "./partner.js";
import { symbol } from "./symbols.js";
import { turns } from "./turns.js";

/** @param {App} app */
export const grid = (app) => turns(app, new Cards(app.texts, app.state.task, app.state.partner));

const unknown = () => el("span", { class: "hidden-card" }, "?");

export class Cards {
  #texts;
  #score;
  #seat;
  /** @type {HTMLElement[]} */
  #cards;
  #icons;
  #outcome = el("div", { class: "outcome" });

  /**
   * @param {Texts} texts
   * @param {State["task"]} task
   * @param {Partner} [partner]
   */
  constructor(texts, task, partner) {
    this.#texts = texts;
    this.#score = task.score;
    this.#seat = task.seat;
    const { icons } = task;
    this.#icons = icons;
    if (icons) {
      /** @type {(seat: number, arm: number) => Element} */
      this.symbol = (seat, arm) => symbol(icons[seat][arm]);
      /** @type {(arm: number) => Element} */
      this.icon = (arm) => symbol(icons[task.seat][arm]);
    }
    this.#cards = task.arms.map(() => el("strong", {}));
    // Among several others, some may be people and some AIs, so the look of people is shown for a single partner only.
    const look = partner && (task.arms.length === 2 || partner.look !== "person") ? partner.look : "";
    const sides = this.#cards.map((card, seat) => el("div", { class: seat === task.seat ? "side mine" : "side" },
      el("span", { class: "soft who" }, look && seat !== task.seat && avatar(look), texts.seat(seat, task.seat)), card));
    this.element = el("div", { class: task.score ? "scene cards scored" : "scene cards", "aria-hidden": "true" }, sides, this.#outcome);
    this.element.style.setProperty("--seats", String(task.arms.length));
    const labels = task.arms.flatMap((arms, seat) => range(arms).map((arm) => texts.arm(seat, arm)));
    fitWords(this.element, [{ nodes: this.#cards, texts: labels }]);
  }

  /**
   * @param {number} seat
   * @param {number | null} arm null: hidden
   */
  #turn(seat, arm) {
    if (arm === null) {
      this.#cards[seat].replaceChildren(unknown());
      return;
    }
    const icon = this.#icons ? symbol(this.#icons[seat][arm]) : "";
    this.#cards[seat].replaceChildren(icon, el("span", { class: "words" }, this.#texts.arm(seat, arm)));
  }

  clear() {
    for (const card of this.#cards) card.replaceChildren(unknown());
    this.#outcome.replaceChildren();
  }

  /** @param {number} arm */
  hold(arm) {
    this.clear();
    this.#turn(this.#seat, arm);
  }

  /** @param {Round} round */
  show({ arms, good, score }) {
    this.#cards.forEach((_, seat) => this.#turn(seat, arms[seat]));
    const points = this.#score && score !== null && score !== undefined ? [el("strong", { class: "points" }, this.#texts.points(score, this.#score))] : [];
    this.#outcome.replaceChildren(...(good === null ? points : [face(good)]));
  }

  /** @param {Round} round */
  reveal(round) {
    this.show(round);
    if (still()) return [];
    const turn = [{ transform: "rotateY(90deg)" }, { transform: "none" }];
    const grow = [{ transform: "scale(0)" }, { transform: "scale(0)", offset: 0.4 }, { transform: "scale(1.15)", offset: 0.75 }, { transform: "none" }];
    return [
      ...this.#cards.filter((_, seat) => seat !== this.#seat && round.arms[seat] !== null).map((card) => card.animate(turn, { duration: 300, easing: "ease-out" })),
      this.#outcome.animate(grow, { duration: 850, easing: "ease-out" }),
    ];
  }
}
