// The burger shop: the participant on the left, the robot on the right, a customer behind the counter. Robots differ
// from part to part, and each participant and part has its own order of customers.

import { svg, still } from "./dom.js";
import { range } from "./counts.js";
import { DEFAULT_LOOK, head } from "./partner.js";
import { shuffled } from "./shuffle.js";
import { turns } from "./turns.js";

/** @param {App} app */
export const burger = (app) => turns(app, new Shop(app.texts, app.state));

const DROP = 450;
const NEXT = 380; // until the next two layers follow
const LID = 350;
const TASTE = 250;

// ---------------------------------------------------------------------------------------------------- food

const bottomBun = () => svg("g", {},
  svg("path", { class: "bun edge", d: "M-48-2h96v7q0 14-16 14h-64q-16 0-16-14z" }),
  svg("path", { class: "crumb", d: "M-46 1h92" }));

const topBun = () => svg("g", {},
  svg("path", { class: "bun edge", d: "M-50 0C-54-45 54-45 50 0q0 5-6 5h-88q-6 0-6-5z" }),
  svg("path", { class: "shine", d: "M-38-12q5-13 20-17" }),
  [[-26, -14, -18], [-8, -24, 8], [12, -15, -8], [28, -17, 22], [-14, -7, 12], [20, -27, -20]].map(([x, y, turn]) =>
    svg("ellipse", { class: "seed", cx: x, cy: y, rx: 3.4, ry: 1.8, transform: `rotate(${turn} ${x} ${y})` })));

const patty = () => svg("g", {},
  svg("rect", { class: "patty edge", x: -49, y: -9, width: 98, height: 18, rx: 8.5 }),
  [[-36, -1], [-24, 4], [-11, -3], [3, 3], [16, -3], [28, 4], [38, -1]].map(([cx, cy]) =>
    svg("circle", { class: "char", cx, cy, r: 2 })));

const cheese = () => svg("g", {},
  svg("path", { class: "cheese edge", d: "M-52-6H52L48 1 33 13 18 1H2L-14 11-29 1-38 1-45 7z" }),
  svg("circle", { class: "hole", cx: -16, cy: 0, r: 2.4 }), svg("circle", { class: "hole", cx: 32, cy: 3, r: 2.4 }));

const tomato = () => svg("g", {},
  [-31, 31, 0].map((cx) => svg("g", {},
    svg("ellipse", { class: "tomato edge", cx, cy: 0, rx: 20, ry: 8 }),
    svg("ellipse", { class: "flesh", cx, cy: -1, rx: 14, ry: 4.6 }),
    [-7, 0, 7].map((x) => svg("ellipse", { class: "pip", cx: cx + x, cy: -1, rx: 1.9, ry: 1.4 })))));

const egg = () => svg("g", {},
  svg("path", { class: "plate edge", d: "M-50 1C-52-9-30-7-18-8S16-11 34-7 54 3 44 7 10 6-8 7-49 11-50 1z" }),
  svg("ellipse", { class: "cheese", cx: 2, cy: -3, rx: 15, ry: 6 }));

const bacon = () => svg("g", {},
  svg("path", { class: "tomato edge", d: "M-50-3q12-9 25-2t25 0 25 0 25-1v9q-12 7-25 1t-25 0-25 0-25 2z" }),
  svg("path", { class: "shine", d: "M-45 1q12-6 22-1t22 0 22 0 24-1" }));

const onion = () => svg("g", {},
  [-30, 0, 30].map((cx) => svg("g", {},
    svg("ellipse", { class: "slab-2 edge", cx, cy: 0, rx: 19, ry: 7 }), svg("ellipse", { class: "slab-1", cx, cy: 0, rx: 12, ry: 3.8 }))));

const pickle = () => svg("g", {},
  [-30, 0, 30].map((cx) => svg("g", {},
    svg("ellipse", { class: "lettuce edge", cx, cy: 0, rx: 17, ry: 7 }), svg("ellipse", { class: "vein", cx, cy: -0.5, rx: 10, ry: 3.4 }))));

const lettuce = () => svg("g", {},
  svg("path", {
    class: "lettuce edge",
    d: "M-55 0Q-44-9 0-8T55 0q-4 12-11 3-6 12-12 1-6 9-13 1-6 12-13 0-6 9-12 0-7 12-13 0-6 9-13-1-6 12-12-1-7 9-12-4z",
  }),
  svg("path", { class: "vein", d: "M-40 0q12-4 24-1t26-1 28 1" }));

/** @param {number} number */
const slab = (number) => svg("g", {},
  svg("rect", { class: `slab-${number % 3} edge`, x: -48, y: -7, width: 96, height: 14, rx: 5 }),
  range(number).map((i) => svg("circle", { class: "char", cx: -36 + 12 * i, cy: 0, r: 2.2 })));

/** A filling of the robot's that is not known yet. */
const unknown = () => svg("g", {},
  svg("rect", { class: "unknown", x: -46, y: -8, width: 92, height: 16, rx: 7 }),
  svg("text", { class: "unknown-mark", y: 5, "text-anchor": "middle" }, "?"));

/** How each item is drawn, and how far what carries it and what lies on it are from its middle.
 * @type {Record<string, { draw: () => SVGElement, below: number, above: number }>} */
const ITEMS = {
  bottom_bun: { draw: bottomBun, below: 19, above: 2 },
  patty: { draw: patty, below: 8, above: 8 },
  cheese: { draw: cheese, below: 3, above: 5 },
  tomato: { draw: tomato, below: 6, above: 5 },
  lettuce: { draw: lettuce, below: 6, above: 6 },
  egg: { draw: egg, below: 6, above: 7 },
  bacon: { draw: bacon, below: 6, above: 5 },
  onion: { draw: onion, below: 5, above: 6 },
  pickle: { draw: pickle, below: 6, above: 6 },
  unknown: { draw: unknown, below: 9, above: 12 },
  top_bun: { draw: topBun, below: 4, above: 34 },
};
const SLAB = { below: 6, above: 6 };

/** @param {string} item */
export const itemCalled = (item) => ITEMS[item] ?? { draw: () => slab(Number(item.split("_")[1])), ...SLAB };

/** Items one on another, and how high they reach; the plate is at 0.
 * @param {string[]} items */
function stacked(items) {
  let surface = 0;
  const places = items.map((item) => {
    const { draw, below, above } = itemCalled(item);
    const y = surface - below;
    surface = y - above;
    return { y, node: draw() };
  });
  return { places, height: -surface };
}

/** @type {(kind: string, items: string[], height: number, label?: string) => SVGElement} */
export function drawing(kind, items, height, label) {
  const said = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return svg("svg", { class: kind, viewBox: `-60 ${-height - 4} 120 ${height + 6}`, "data-items": items.join(" "), ...said },
    stacked(items).places.map(({ y, node }) => at(0, y, node)));
}

/** @type {(x: number, y: number, ...children: Child[]) => SVGGElement} */
const at = (x, y, ...children) => svg("g", { transform: `translate(${x} ${y})` }, children);

// ---------------------------------------------------------------------------------------------------- people

const HAIR = [
  "M-41-2C-46-52 46-52 41-2 34-24 10-26-10-24-26-22-36-16-41-2z",
  "M-43 40C-56-50 56-50 43 40 34 44 32 20 36-8 20-26-20-26-36-8-32 20-34 44-43 40z",
  "M-40-8C-36-34-20-40 0-40s36 6 40 32C20-20-20-20-40-8zM-12-42a13 12 0 1 1 24 0z",
  "M-44-10C-42-50 42-50 44-10h18q2 6-6 7h-100z",
  "M-43 0a14 14 0 0 1 4-24 14 14 0 0 1 20-16 15 15 0 0 1 26-4 15 15 0 0 1 22 11 14 14 0 0 1 12 22q4 8-1 12C32-20-22-24-43 0z",
];
/** Return the seed of the customers' order, which differs between participants and parts.
 * @type {(state: State) => string} */
export const companyOf = ({ participant, episode }) => `${participant}:${episode.index}`;

const PEOPLE = range(15).map((n) => ({ hair: n % 5, skin: n % 4, shirt: n % 3, dye: (n * 2) % 5 }));

/** @param {number} n */
function customer(n) {
  const { hair, skin, shirt, dye } = PEOPLE[n];
  /** @type {(y: number, shape: string) => SVGElement[]} */
  const eyes = (y, shape) => [-15, 15].map((x) => svg("path", { class: "feature", d: `M${x} ${y}${shape}` }));
  const moods = {
    wait: svg("g", { class: "mood wait" }, eyes(-3, "v4"), svg("path", { class: "feature", d: "M-10 18h20" })),
    good: svg("g", { class: "mood good" },
      svg("circle", { class: "cheek", cx: -25, cy: 10, r: 6 }), svg("circle", { class: "cheek", cx: 25, cy: 10, r: 6 }),
      [-15, 15].map((x) => svg("path", { class: "feature", d: `M${x - 6} 0q6-8 12 0` })),
      svg("path", { class: "laugh", d: "M-17 11h34q-3 17-17 17t-17-17z" }),
      at(66, -24, svg("path", { class: "bubble", d: "M-24 22q2-8-1-12a22 20 0 1 1 12 9q-4 4-11 3z" }),
        svg("path", { class: "heart", d: "M0 12C-16 0-14-12-6-12q5 0 6 5 1-5 6-5C14-12 16 0 0 12z" }))),
    bad: svg("g", { class: "mood bad" },
      eyes(0, "v4"), svg("path", { class: "feature", d: "M-22-6l11-5M22-6l-11-5M-11 21q11-9 22 0" }),
      at(66, -24, svg("path", { class: "bubble", d: "M-24 22q2-8-1-12a22 20 0 1 1 12 9q-4 4-11 3z" }),
        svg("path", { class: "cross", d: "M-8-8l16 16M8-8l-16 16" }))),
  };
  const node = svg("g", { transform: "translate(240 98)", "data-face": n },
    svg("path", { class: `shirt-${shirt}`, d: "M-62 132C-62 74-34 56 0 56s62 18 62 76z" }),
    svg("path", { class: `skin-${skin}`, d: "M-13 30h26v26q-13 14-26 0z" }),
    hair === 1 && svg("path", { class: `hair-${dye}`, d: HAIR[hair] }),
    svg("circle", { class: `skin-${skin}`, r: 39 }),
    hair !== 1 && svg("path", { class: `hair-${dye}`, d: HAIR[hair] }),
    hair === 1 && svg("path", { class: `hair-${dye}`, d: "M-40-4C-44-50 44-50 40-4 30-22-6-18-40-4z" }),
    Object.values(moods));
  return { node, moods };
}

const cook = () => svg("g", {},
  svg("path", { class: "cloth edge", d: "M4 236C4 168 24 146 58 146s54 22 54 90z" }),
  svg("path", { class: "apron", d: "M34 172h48v64H34z" }),
  svg("circle", { class: "skin-0", cx: 58, cy: 112, r: 31 }),
  svg("path", { class: "cloth edge", d: "M31 98q-15-4-13-18 4-16 20-12 4-15 20-15t20 15q16-4 20 12 2 14-13 18v4q-27-8-54 0z" }),
  svg("path", { class: "feature", d: "M47 112v4M69 112v4M48 126q10 8 20 0" }),
  svg("path", { class: "sleeve-edge", d: "M84 182 L128 126" }), svg("path", { class: "sleeve", d: "M84 182 L128 126" }));

const hand = () => svg("path", { class: "skin-0 edge", d: "M122 122q-6-16 8-20 10-3 17 3 9 4 6 11l-2 8q-5 7-9 0-5 8-10 1-7 4-10-3z" });

/** @param {string | undefined} look */
const robot = (look) => svg("g", {},
  svg("path", { class: "steel edge", d: "M376 236v-62q0-24 24-24h44q24 0 24 24v62z" }),
  svg("rect", { class: "teal", x: 400, y: 168, width: 44, height: 30, rx: 8 }),
  svg("path", { class: "light", d: "M408 183h8M422 183h14" }),
  svg("path", { class: "neck", d: "M422 138v14" }), at(422, 107, head(look)),
  svg("path", { class: "arm", d: "M396 178 L368 138 L343 104" }),
  svg("circle", { class: "joint", cx: 368, cy: 138, r: 7 }));

const gripper = () => svg("path", { class: "gripper", d: "M328 106h26M330 106v14M352 106v14" });

/**
 * @param {number} x
 * @param {string} text
 */
function tag(x, text) {
  const width = Math.min(140, Math.max(58, 9.5 * text.length + 24));
  return at(x, 268, svg("rect", { class: "tag", x: -width / 2, y: -15, width, height: 30, rx: 8 }),
    svg("text", { class: "name", y: 6, "text-anchor": "middle", textLength: text.length > 12 ? width - 16 : null, lengthAdjust: "spacingAndGlyphs" }, text));
}

// ---------------------------------------------------------------------------------------------------- the scene

const PLATE = 224;
const HAND = [138, 132];
const GRIPPER = [341, 121];

/** From where it is held onto the burger; what is taken up later is not there before.
 * @type {(x: number, y: number, later: boolean) => Keyframe[]} */
const fall = (x, y, later) => [
  { transform: `translate(${x}px, ${y}px)`, opacity: later ? 0 : 1, easing: "ease-in-out" },
  { transform: `translate(${0.35 * x}px, ${y - 5}px)`, opacity: 1, offset: 0.5, easing: "cubic-bezier(.5, 0, .9, .6)" },
  { transform: "none", opacity: 1 },
];
const LAND = [{ transform: "translateY(-45px)", opacity: 0, easing: "ease-in" }, { transform: "none", opacity: 1 }];

export class Shop {
  #texts;
  #burgers;
  #scale;
  #stack = svg("g", {});
  #held = at(HAND[0], HAND[1]);
  #question = at(341, 134, svg("circle", { class: "bubble", r: 15 }), svg("text", { class: "guess", y: 7, "text-anchor": "middle" }, "?"));
  #guests = svg("g", {});
  /** @type {({ t: number } & ReturnType<typeof customer>) | null} */
  #guest = null;
  #faces;

  /**
   * @param {Texts} texts
   * @param {State} state
   */
  constructor(texts, state) {
    const burgers = state.task.burgers ?? [];
    this.#texts = texts;
    this.#faces = shuffled(PEOPLE.length, companyOf(state));
    this.#burgers = new Map(burgers.map(({ arms, layers }) => [arms.join("-"), layers]));
    const tall = burgers[0].layers.length > 4;
    this.#scale = tall ? 0.85 : 1;
    const height = Math.max(...burgers.map(({ layers }) => stacked(layers.map(({ item }) => item)).height));
    if (tall) this.question = "burger.question";
    /** @type {(i: number, j: number) => SVGElement} */
    this.picture = (i, j) => {
      const layers = this.#layers([i, j]);
      return drawing("picture", layers.map(({ item }) => item), height, this.#order(layers));
    };
    /** @type {(arm: number) => SVGElement} */
    this.icon = (arm) => {
      const layers = this.#layers([arm, 0]);
      if (!tall) return svg("svg", { class: "icon", viewBox: "-58 -20 116 40", "aria-hidden": "true" }, itemCalled(layers[1].item).draw());
      const items = layers.map(({ item, by }) => (by === "partner" ? "unknown" : item));
      return drawing("icon", items, stacked(items).height);
    };
    const stripes = range(12).map((i) =>
      svg("path", { class: i % 2 ? "stripe" : "stripe other", d: `M${40 * i} 0h40v26a20 13 0 0 1-40 0z` }));
    this.element = svg("svg", { class: `scene shop look-${state.partner?.look ?? DEFAULT_LOOK}`, viewBox: "0 0 480 300", "aria-hidden": "true" },
      svg("rect", { class: "wall", width: 480, height: 300 }), at(0, tall ? -10 : 0, this.#guests), stripes,
      cook(), robot(state.partner?.look),
      svg("rect", { class: "counter", y: 228, width: 480, height: 72 }), svg("rect", { class: "ledge", y: 222, width: 480, height: 14, rx: 4 }),
      svg("ellipse", { class: "plate edge", cx: 240, cy: 225, rx: 68, ry: 7 }),
      svg("g", { transform: `translate(240 ${PLATE}) scale(${this.#scale})` }, this.#stack), this.#held, this.#question, hand(), gripper(),
      tag(66, texts.own("task.participant")), tag(414, texts.own("task.partner")));
  }

  /**
   * @param {number[]} arms
   * @returns {Layer[]}
   */
  #layers(arms) {
    return this.#burgers.get(arms.join("-")) ?? [];
  }

  /** A burger for those who listen.
   * @param {Layer[]} layers */
  #order(layers) {
    return this.#texts.say("burger.layers", {
      configuration: this.#texts.capital(this.#texts.own("task.configuration")),
      layers: layers.flatMap(({ name }) => name ?? []).join(", "),
    });
  }

  /** @param {number} t */
  clear(t) {
    this.#put([{ item: "bottom_bun", by: "shop", name: null }]);
    this.#held.replaceChildren();
    this.#question.setAttribute("visibility", "hidden");
    this.#feel(t, "wait");
  }

  /**
   * @param {number} arm
   * @param {number} t
   */
  hold(arm, t) {
    this.clear(t);
    this.#held.replaceChildren(svg("g", { transform: `scale(${this.#scale})` }, itemCalled(this.#layers([arm, 0])[1].item).draw()));
    this.#question.removeAttribute("visibility");
  }

  /** Only a burger is worth telling, not the bun that waits for one.
   * @param {Layer[]} layers */
  #put(layers) {
    const { places } = stacked(layers.map(({ item }) => item));
    this.#stack.replaceChildren(...places.map(({ y, node }) => at(0, y, node)));
    this.#stack.dataset.items = layers.map(({ item }) => item).join(" ");
    const whole = layers.length > 1;
    for (const [name, value] of Object.entries({ role: "img", "aria-label": this.#order(layers), "aria-hidden": "true" })) {
      if (whole === (name !== "aria-hidden")) this.element.setAttribute(name, value);
      else this.element.removeAttribute(name);
    }
    return places;
  }

  /** Draw the whole burger without animation; return the places of its layers.
   * @param {OpenRound} round */
  show({ t, arms, good }) {
    const places = this.#put(this.#layers(arms));
    this.#held.replaceChildren();
    this.#question.setAttribute("visibility", "hidden");
    this.#feel(t, good === null ? "wait" : good ? "good" : "bad");
    return places;
  }

  /** The layers fall two by two, one of each side, then the bun; then the customer makes up their mind.
   * @param {OpenRound} round */
  reveal(round) {
    const places = this.show(round);
    if (still()) return [];
    const layers = this.#layers(round.arms);
    const closing = DROP + NEXT * (layers.length / 2 - 2);
    const animations = places.slice(1, -1).map(({ y, node }, number) => {
      const pair = Math.floor(number / 2);
      const [x, from] = layers[number + 1].by === "partner" ? GRIPPER : HAND;
      return node.animate(fall((x - 240) / this.#scale, (from - PLATE) / this.#scale - y, pair > 0),
        { duration: DROP, delay: NEXT * pair, fill: "backwards" });
    });
    animations.push(places[places.length - 1].node.animate(LAND, { duration: LID, delay: closing, fill: "backwards" }));
    const { moods } = this.#welcome(round.t);
    const mood = round.good === null ? null : moods[round.good ? "good" : "bad"];
    if (mood) {
      const end = closing + LID + TASTE;
      const taste = (closing + LID) / end;
      /** @type {(before: number, after: number) => Keyframe[]} */
      const when = (before, after) => [{ opacity: before }, { opacity: before, offset: taste }, { opacity: after, offset: taste + 0.04 }, { opacity: after }];
      animations.push(moods.wait.animate(when(1, 0), { duration: end }), mood.animate(when(0, 1), { duration: end }));
    }
    return animations;
  }
  /** Show the guest of a round; the guest enters if another one is at the counter.
   * @param {number} t */
  #welcome(t) {
    if (this.#guest?.t !== t) {
      this.#guest = { t, ...customer(this.#faces[t % this.#faces.length]) };
      this.#guests.replaceChildren(this.#guest.node);
    }
    return this.#guest;
  }

  /**
   * @param {number} t
   * @param {string} mood
   */
  #feel(t, mood) {
    for (const [name, node] of Object.entries(this.#welcome(t).moods)) node.classList.toggle("shown", name === mood);
  }
}
