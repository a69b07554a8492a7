// A burger that is stacked layer by layer: what lies on the plate, and the outcomes of all finished burgers that began
// like it.

import { drawing, itemCalled } from "./burger.js";
import { Counts, face, range } from "./counts.js";
import { el, still, svg } from "./dom.js";
import { turns } from "./turns.js";

/** @param {App} app */
export const line = (app) => turns(app, new Plate(app.texts, app.state));

/** What lies where: by layer, seat and arm; further ones are plain slabs. */
const ITEMS = [[["patty", "cheese"], ["tomato", "lettuce"]], [["egg", "bacon"], ["onion", "pickle"]]];
const TALLEST = 112; // of two layers between buns; more of them are drawn smaller

/** @type {(layer: number, seat: number, arm: number) => string} */
const itemOf = (layer, seat, arm) => ITEMS[layer]?.[seat]?.[arm] ?? `slab_${1 + 2 * seat + arm}`;

export class Plate {
  #texts;
  #seat;
  #layers;
  /** @type {number[][]} */
  #plate;
  #burger = el("div", { class: "on-plate" });
  #words = el("p", { class: "soft plate-words" });
  #outcome = el("div", { class: "outcome" });

  /**
   * @param {Texts} texts
   * @param {State} state
   */
  constructor(texts, state) {
    const { seat, arms, layers = 1 } = state.task;
    this.#texts = texts;
    this.#seat = seat;
    this.#layers = layers;
    // An example shows the last layer, on the first items of each layer below.
    this.#plate = state.episode?.plate ?? range(layers - 1).map(() => arms.map(() => 0));
    if (state.episode?.burgers) this.record = new LineCounts(state, texts);
    /** @type {(arm: number) => Element} */
    this.icon = (arm) => svg("svg", { class: "icon", viewBox: "-58 -20 116 40", "aria-hidden": "true" },
      itemCalled(itemOf(this.#plate.length % layers, seat, arm)).draw());
    this.element = el("div", { class: "scene line", "aria-hidden": "true" }, this.#burger, this.#words, this.#outcome);
    this.#draw([]);
  }

  /** Draw what lies on the plate, and what is about to.
   * @param {string[]} more */
  #draw(more) {
    const fillings = this.#plate.flatMap((arms, layer) => arms.map((arm, seat) => itemOf(layer, seat, arm)));
    const done = this.#plate.length === this.#layers ? ["top_bun"] : [];
    this.#burger.replaceChildren(drawing("burger", ["bottom_bun", ...fillings, ...more, ...done], TALLEST));
    this.#words.textContent = this.#texts.say("burger-line.plate", {
      layers: this.#plate.map((arms, layer) => arms.map((arm, seat) => this.#texts.arm(seat, arm, layer)).join(" + ")).join(", ") || "–",
    });
  }

  /** Keep the layers below that of a round.
   * @param {number} t */
  #below(t) {
    this.#plate = this.#plate.slice(0, (t - 1) % this.#layers);
    this.#outcome.replaceChildren();
  }

  /** @param {number} t */
  clear(t) {
    this.#below(t);
    this.#draw([]);
  }

  /**
   * @param {number} arm
   * @param {number} t
   */
  hold(arm, t) {
    this.#below(t);
    const layer = (t - 1) % this.#layers;
    this.#draw(this.#seat === 0 ? [itemOf(layer, 0, arm), "unknown"] : ["unknown", itemOf(layer, 1, arm)]);
  }

  /** @param {OpenRound} round */
  show({ t, arms, good }) {
    this.#below(t);
    this.#plate.push(arms);
    this.#draw([]);
    if (good !== null) this.#outcome.replaceChildren(face(good));
  }

  /** @param {OpenRound} round */
  reveal(round) {
    this.show(round);
    if (still()) return [];
    const drop = [{ transform: "translateY(-12px)", opacity: 0.4 }, { transform: "none", opacity: 1 }];
    const grow = [{ transform: "scale(0)" }, { transform: "scale(0)", offset: 0.4 }, { transform: "scale(1.15)", offset: 0.75 }, { transform: "none" }];
    return [
      this.#burger.animate(drop, { duration: 350, easing: "ease-out" }),
      ...(round.good === null ? [] : [this.#outcome.animate(grow, { duration: 850, easing: "ease-out" })]),
    ];
  }
}

/** The outcomes of finished burgers that began like the one on the plate, by what was chosen next. */
class LineCounts {
  #state;
  #texts;
  #layers;
  /** @type {number[][]} */
  #plate;
  /** @type {Map<string, [number, number]>} */
  #burgers = new Map();
  #note = el("p", { class: "soft" });
  element = el("div", { class: "line-counts" });
  score = 0;

  /**
   * @param {State} state
   * @param {Texts} texts
   */
  constructor(state, texts) {
    const { burgers = [], plate = [], good, bad } = state.episode;
    this.#state = state;
    this.#texts = texts;
    this.#layers = state.task.layers ?? 1;
    this.#plate = plate.length < this.#layers ? [...plate] : [];
    this.good = good;
    this.bad = bad;
    for (const burger of burgers) this.#burgers.set(burger.arms.join("-"), [burger.good, burger.bad]);
    this.#draw();
  }

  #draw() {
    const [mine, theirs] = this.#state.task.arms;
    const counts = range(mine).flatMap((i) => range(theirs).map((j) => this.#sum([i, j])));
    const table = new Counts({ ...this.#state, episode: { ...this.#state.episode, counts } }, this.#texts, null, null, this.#plate.length);
    this.#note.textContent = this.#texts.say("burger-line.counts", { layer: this.#plate.length + 1, layers: this.#layers });
    this.element.replaceChildren(this.#note, table.element);
  }

  /** @param {number[]} arms */
  #sum(arms) {
    const start = `${[...this.#plate.flat(), ...arms].join("-")}-`;
    let [good, bad] = [0, 0];
    for (const [key, counts] of this.#burgers) {
      if (!`${key}-`.startsWith(start)) continue;
      good += counts[0];
      bad += counts[1];
    }
    return { arms, good, bad };
  }

  /** A round that the server has answered.
   * @param {OpenRound} round */
  add({ arms, good }) {
    this.#plate.push(arms);
    if (this.#plate.length === this.#layers) {
      const key = this.#plate.flat().join("-");
      const [satisfied, others] = this.#burgers.get(key) ?? [0, 0];
      if (good !== null) this.#burgers.set(key, good ? [satisfied + 1, others] : [satisfied, others + 1]);
      if (good) this.good += 1;
      else if (good === false) this.bad += 1;
      this.#plate = [];
    }
    this.#draw();
  }

  /** The table is about the next layer, so no cell of it is the latest. */
  mark() {}
}
