// The pages of a draft in the editor's frame: the editor sends the state of a step, and nothing that is done here is sent.

import { burger } from "./burger.js";
import { casino } from "./casino.js";
import { el } from "./dom.js";
import { Frame } from "./frame.js";
import { grid } from "./grid.js";
import { line } from "./line.js";
import { badge } from "./partner.js";
import { STEPS } from "./steps.js";
import { Texts } from "./text.js";
import { episodeTitle } from "./title.js";

/** @type {Record<string, (app: App) => Task>} */
const TASKS = { burger, casino, grid, "burger-line": line };

const main = /** @type {HTMLElement} */ (document.getElementById("app"));
const frame = new Frame(/** @type {HTMLElement} */ (document.getElementById("top")), main);
/** @type {Task | null} */
let task = null;

/** @param {{ state: State, messages: Record<string, string> }} sent */
function show({ state, messages }) {
  const texts = new Texts(state.language, messages).with(state.texts);
  task?.close();
  task = null;
  frame.dress({ title: state.title, kind: state.kind, languages: state.languages, texts,
    onLanguage: (language) => parent.postMessage({ language }, location.origin) });
  frame.progress(state.progress.done, state.progress.total, texts, !["episode", "rest", "partner", "survey"].includes(state.step.kind));
  main.dataset.step = state.step.id;
  if (state.step.kind === "episode") play(state, texts);
  else if (state.step.kind === "lobby") frame.show({ heading: texts.say("lobby.heading"), body: [el("p", {}, texts.say("lobby.text"))], focus: false });
  else {
    frame.show({
      ...STEPS[state.step.kind]({
        state, texts, answer: async () => null, decline: () => {}, keys: () => {}, again: null,
        draft: { read: () => ({}), keep: () => {}, forget: () => {} },
      }), focus: false,
    });
  }
}

/**
 * @param {State} state
 * @param {Texts} texts
 */
function play(state, texts) {
  const { episode, partner } = state;
  task = (state.task.people ? grid : TASKS[state.task.kind] ?? grid)({
    state, texts, opening: texts.say(episode.practice ? "episode.practice" : "episode.first"), keys: () => {}, speak: () => {}, advance: () => {},
    shown: () => {}, unsent: () => [], choose: () => false, next: () => {}, note: () => {}, robot: async () => null, placed: async () => null,
  });
  frame.show({ heading: episodeTitle(texts, state), body: [task.element], layout: "play wide",
    beside: partner ? badge(partner, texts.say("partner.with", { partner: partner.name })) : null, focus: false });
}

addEventListener("message", (event) => {
  if (event.origin === location.origin && event.source === parent) show(event.data);
});
parent.postMessage({ ready: true }, location.origin);
