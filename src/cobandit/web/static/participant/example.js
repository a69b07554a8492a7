// Pictures for the instructions: one round as the task shows it, and every burger. No outcome is shown, because an example
// with an outcome would favour one choice.

import { Shop } from "./burger.js";
import { CasinoFloor } from "./casino.js";
import { face } from "./counts.js";
import { el, still } from "./dom.js";
import { Cards } from "./grid.js";
import { Plate } from "./line.js";

const [BEFORE, BETWEEN] = [900, 1300]; // milliseconds before the first choice, and until the others' choice is revealed

/** Return the example round, in which every player chooses the first arm; hidden choices are null.
 * @param {State} state
 * @returns {Round} */
const exampleRound = ({ task }) => ({
  t: task.layers ?? 1, arms: task.arms.map((_, seat) => (task.hidden && seat !== task.seat ? null : 0)), good: null,
});

/**
 * The scene of the task without a game behind it.
 * @param {State} state
 * @param {Texts} texts
 */
function sceneOf(state, texts) {
  if (state.task.kind === "burger") return new Shop(texts, /** @type {State} */ ({ ...state, episode: { index: 0 } }));
  if (state.task.kind === "burger-line") return new Plate(texts, state);
  return state.task.kind === "casino" ? new CasinoFloor(texts, state.task.arms) : new Cards(texts, state.task);
}

/**
 * Play a round once, when it comes into sight; without motion it stands still at its end.
 * @param {Pick<Scene, "element" | "clear" | "hold" | "reveal" | "show">} scene
 * @param {Round} round
 * @param {number} seat
 * @param {HTMLButtonElement} again
 */
function playOnce(scene, round, seat, again) {
  let turn = 0;
  const play = async () => {
    const mine = (turn += 1);
    again.hidden = true;
    scene.clear(round.t);
    await pause(BEFORE);
    if (mine !== turn) return;
    scene.hold(/** @type {number} */ (round.arms[seat]), round.t); // your own choice is never hidden
    await pause(BETWEEN);
    if (mine !== turn) return;
    await Promise.all(scene.reveal(round).map((animation) => animation.finished.catch(() => {})));
    scene.element.parentElement?.setAttribute("data-played", "true");
    again.hidden = still();
  };
  scene.show(round);
  again.addEventListener("click", play);
  const inSight = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    inSight.disconnect();
    if (!still()) play();
  }, { threshold: 0.6 });
  inSight.observe(scene.element);
}

/** One round, with words that say the same.
 * @param {State} state
 * @param {Texts} texts */
function exampleFigure(state, texts) {
  const { kind, seat } = state.task;
  const round = exampleRound(state);
  const scene = sceneOf(state, texts);
  const again = el("button", { type: "button", class: "replay", hidden: true }, texts.say("instructions.again"));
  const choices = round.arms.map((arm, i) => (arm === null ? "" : `${texts.seat(i, seat)}: ${texts.arm(i, arm, round.t - 1)}.`));
  const figure = el("figure", { class: "example" }, scene.element,
    el("figcaption", {}, el("strong", {}, texts.say("instructions.round")), " ", choices.join(" "), " ",
      state.task.score ? texts.say("instructions.points") : texts.say("instructions.outcome", { good: texts.own("task.good"), bad: texts.own("task.bad") }),
      el("span", { class: "example-foot" }, kind !== "casino" && !state.task.score && [face(true), face(false)], again)));
  playOnce(scene, round, seat, again);
  return figure;
}

/** Every burger with its name.
 * @param {State} state
 * @param {Texts} texts */
function burgersFigure(state, texts) {
  const burgers = state.task.burgers ?? [];
  const shop = new Shop(texts, /** @type {State} */ ({ ...state, episode: { index: 0 } }));
  return el("figure", { class: "all-burgers" },
    el("figcaption", {}, el("strong", {}, texts.say("instructions.burger.all", { n: burgers.length }))),
    el("ul", {}, burgers.map(({ arms: [mine, theirs] }) => el("li", {}, shop.picture(mine, theirs),
      el("span", {}, texts.arm(0, mine), el("br"), texts.arm(1, theirs))))));
}

/** Return the pictures of the instructions.
 * @param {State} state
 * @param {Texts} texts */
export const pictures = (state, texts) => el("div", { class: "pictures" },
  exampleFigure(state, texts), state.task.kind === "burger" && burgersFigure(state, texts));

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
