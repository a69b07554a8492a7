// One choice at a time: choose, both are revealed together, and only then the next. The burger and the grid differ in
// their scenes alone.

import { Counts, face, range } from "./counts.js";
import { el, still, typing } from "./dom.js";
import { fitWords } from "./fit.js";

const SHORTEST_WAIT = 250;
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/**
 * A scene has `element`, `hold(arm, t)` (the participant's choice, the other's still hidden), `reveal(round)` which gives
 * animations (`expect(round)`, if there is one, is called a moment before), `show(round)` (without animation) and `clear()`; `icon(arm)`, `picture(i, j)` and `symbol(seat, arm)` are optional drawings, and `question` is the
 * key of what to ask, where it is not "Your choice?".
 * @param {App} app
 * @param {Scene} scene
 * @returns {Task}
 */
export function turns(app, scene) {
  const { state, texts } = app;
  const { episode } = state;
  const { seat } = state.task;
  const layers = state.task.layers ?? 1; // the rounds that make one outcome
  /** @type {(t: number) => number} */
  const layerOf = (t) => (t - 1) % layers;
  const counts = scene.record ?? new Counts(state, texts, scene.picture, scene.symbol);
  let played = episode.played;
  let waiting = false;
  let ready = performance.now();
  let chosenAt = 0;
  /** @type {((value?: unknown) => void) | null} */
  let skip = null;
  let closed = false;
  /** @type {Round[]} */
  let coming = []; // rounds that are not shown yet
  let revealing = false;

  const ask = () => (layers > 1 ? texts.say("burger-line.question", { layer: layerOf(played + 1) + 1, layers }) : texts.say(scene.question ?? "turn.question"));
  const number = el("p", { class: "number" });
  const news = el("p", { class: "news" });
  const labels = range(state.task.arms[seat]).map((arm) => el("span", { class: "label" }, texts.arm(seat, arm, layerOf(played + 1))));
  const choices = labels.map((label, arm) => el("button", {
    type: "button", class: scene.icon ? "choice" : "choice plain", "data-arm": arm, "aria-keyshortcuts": String(arm + 1), onclick: () => choose(arm),
  }, scene.icon?.(arm), label, el("kbd", { "aria-hidden": "true" }, String(arm + 1))));
  const group = el("div", { class: "choices-row", role: "group", "aria-labelledby": "question" }, choices);
  fitWords(group, [{ nodes: labels, texts: range(layers).flatMap((layer) => labels.map((_, arm) => texts.arm(seat, arm, layer))) }]);
  const question = el("p", { class: "question", id: "question" }, ask());
  const keys = el("p", { class: "soft keys" }, texts.say(choices.length === 2 ? "turn.keys.two" : "turn.keys", { n: choices.length }));
  const status = scene.status ?? null; // what the scene says while it performs, in place of the question
  const panel = el("div", { class: "panel" }, question, status, group, keys);
  const totals = el("p", { class: "totals" });

  const element = el("div", { class: Math.max(...state.task.arms) > 2 ? "task even" : "task" },
    el("div", { class: "play" }, scene.element, news, panel),
    el("div", { class: "record card" }, number, totals, counts.element));

  function tally() {
    number.textContent = texts.say("turn.so-far", {
      configuration: texts.capital(texts.own("task.configuration")), played: Math.floor(played / layers), rounds: episode.rounds / layers,
    });
    if (state.task.score) totals.textContent = texts.say("turn.points", { points: texts.points(counts.score, state.task.score) });
    else totals.replaceChildren(
      el("span", {}, face(true), texts.say("turn.good", { n: counts.good, good: texts.own("task.good") })),
      el("span", {}, face(false), texts.say("turn.bad", { n: counts.bad, bad: texts.own("task.bad") })));
    app.advance(played / episode.rounds);
  }

  /** @param {Round} round */
  function tell(round) {
    const layer = layerOf(round.t);
    const line = texts.say(layers > 1 ? "burger-line.latest" : episode.hidden ? "turn.latest.hidden" : "turn.latest", {
      configuration: texts.capital(texts.own("task.configuration")), t: Math.ceil(round.t / layers), layer: layer + 1,
      mine: texts.arm(seat, /** @type {number} */ (round.arms[seat]), layer), theirs: texts.others(round.arms, seat, layer),
    });
    const result = layer + 1 < layers ? "" : texts.result(round, state.task);
    news.replaceChildren(
      el("span", {}, line, " "),
      el("strong", { class: round.good === null ? "" : round.good ? "good" : "bad" },
        round.good !== null && face(round.good), texts.capital(result)));
    news.dataset.t = String(round.t);
    return `${line} ${result}`;
  }

  /** Offer the choices of the layer that is next. */
  function offer() {
    const layer = layerOf(played + 1);
    choices.forEach((choice, arm) => {
      labels[arm].textContent = texts.arm(seat, arm, layer);
      if (scene.icon) choice.firstElementChild?.replaceWith(scene.icon(arm));
    });
  }

  /** @param {boolean} on */
  function enable(on) {
    panel.classList.toggle("waiting", !on);
    for (const choice of choices) {
      if (on) choice.removeAttribute("aria-disabled");
      else choice.setAttribute("aria-disabled", "true");
    }
    if (on) ready = performance.now();
  }

  /** @param {number | null} arm */
  function mark(arm) {
    for (const choice of choices) choice.classList.toggle("picked", Number(choice.dataset.arm) === arm);
  }

  /** @param {number} arm */
  function hold(arm) {
    waiting = true;
    chosenAt = performance.now();
    enable(false);
    mark(arm);
    counts.mark(null);
    scene.hold(arm, played + 1);
    news.replaceChildren(); // the line below says what happens now
    say(texts.say("turn.waiting", { partner: texts.capital(texts.own("task.partner")), n: state.task.arms.length - 1 }));
  }

  /** Show one line above the choices, and nothing of the scene's own.
   * @param {string} text */
  function say(text) {
    question.textContent = text;
    question.hidden = false;
    if (status) status.hidden = true;
  }

  /** @param {number} arm */
  function choose(arm) {
    if (skip) {
      skip();
      return;
    }
    if (waiting || played >= episode.rounds) return;
    const ms = Math.round(performance.now() - ready);
    hold(arm);
    app.choose(arm, ms);
  }

  /**
   * Show rounds in their order. Several come together to a page of a team that was away: only the last one is performed.
   * @param {Round[]} rounds
   */
  async function take(rounds) {
    coming.push(...rounds);
    if (revealing) {
      if (rounds.length) skip?.();
      return;
    }
    revealing = true;
    for (let round = coming.shift(); round && !closed; round = coming.shift()) {
      if (round.t !== played + 1) continue;
      if (coming.length) count(round);
      else await reveal(round);
    }
    revealing = false;
  }

  /** @param {Round} round */
  function count(round) {
    played = round.t;
    for (const known of round.known ?? [round]) counts.add(known);
  }

  /** @param {Round} round */
  async function reveal(round) {
    waiting = true; // an AI may have chosen in this person's place
    const { known = [round] } = round; // where feedback is delayed, earlier rounds, or none yet
    const shown = known[known.length - 1];
    if (shown) scene.expect?.(shown);
    const left = SHORTEST_WAIT - (performance.now() - chosenAt);
    if (left > 0 && !still()) await pause(left);
    if (closed) return;
    if (shown) await perform(shown);
    else news.textContent = late();
    if (closed) return;
    count(round);
    counts.mark(shown?.arms ?? null);
    mark(null);
    app.speak(shown ? tell(shown) : late());
    tally();
    waiting = false;
    if (played >= episode.rounds) end();
    else {
      if (layers > 1) offer();
      say(ask());
      enable(true);
      app.shown(played);
    }
  }

  /** When outcomes appear, where feedback is delayed. */
  const late = () => texts.say("turn.late", { n: episode.delay ?? 0 });

  /** @param {Round} round */
  async function perform(round) {
    if (status) {
      question.hidden = true;
      status.hidden = false;
    } else if (scene.performing) say(texts.say(scene.performing, { partner: texts.own("task.partner") }));
    const animations = scene.reveal(round);
    const shown = Promise.all(animations.map((animation) => animation.finished.catch(() => {})));
    await Promise.race([
      Promise.all([shown, pause(still() ? 400 : 0)]),
      new Promise((resolve) => { if (!scene.patient) skip = resolve; }),
    ]);
    skip = null;
    if (closed) return;
    for (const animation of animations) animation.finish();
    scene.show(round);
  }

  function end() {
    const { score } = state.task;
    const over = score ? texts.say("turn.points.over", { points: texts.points(counts.score, score), rounds: episode.rounds })
      : texts.say("turn.over", { n: counts.good, rounds: episode.rounds / layers, good: texts.own("task.good") });
    const go = el("button", { type: "button", class: "primary", onclick: () => app.next() }, texts.say("continue"));
    panel.replaceChildren(
      el("p", { class: "question" }, over),
      el("div", { class: "actions" }, go));
    panel.classList.remove("waiting");
    app.shown(played);
    go.focus();
  }

  app.keys((event) => {
    if (typing(event)) return;
    const digit = Number(event.key) - 1;
    const at = choices.findIndex((choice) => choice === document.activeElement);
    const step = STEPS[event.key];
    if (skip && !event.repeat && (event.key === " " || event.key === "Enter" || choices[digit] || step)) {
      event.preventDefault();
      skip();
    } else if (event.repeat && (event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
    } else if (choices[digit] && !event.repeat) {
      event.preventDefault();
      choices[digit].focus();
      choose(digit);
    } else if (step) {
      event.preventDefault();
      const to = at < 0 ? (step > 0 ? 0 : choices.length - 1) : (at + step + choices.length) % choices.length;
      choices[to].focus();
    }
  });
  scene.element.addEventListener("click", () => skip?.());

  if (episode.latest) {
    scene.show(episode.latest);
    counts.mark(episode.latest.arms);
    tell(episode.latest);
  } else {
    scene.clear(played + 1);
    news.textContent = played ? late() : app.opening;
  }
  tally();
  const [unsent] = app.unsent();
  if (unsent) hold(unsent.arm);

  return {
    element,
    answered: ({ rounds }) => { take(rounds); },
    close() {
      closed = true;
      skip?.();
      scene.close?.();
    },
  };
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
