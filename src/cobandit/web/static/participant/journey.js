// A participant's way through the study: the server says which step it is, this draws it and sends what is done.

import { api, Events, Link, Trouble } from "./api.js";
import { burger } from "./burger.js";
import { casino } from "./casino.js";
import { el } from "./dom.js";
import { grid } from "./grid.js";
import { Moves, Sender } from "./moves.js";
import { badge } from "./partner.js";
import { labBurger, RobotNews, robotIsThrough } from "./robot/lab.js";
import { stagedBurger } from "./robot/stage.js";
import { STEPS } from "./steps.js";
import { lasting, passing, uuid } from "./store.js";
import { oneTab } from "./tabs.js";

/** @type {Record<string, (app: App) => Task>} */
const TASKS = { burger: robotOrNone, casino, grid };

/** The burger shop, with the robot that the server has.
 * @param {App} app */
function robotOrNone(app) {
  const { robot } = app.state;
  if (!robot) return burger(app);
  return robot.kind === "lab" ? labBurger(app) : stagedBurger(app, robot);
}

export class Journey {
  #token;
  #frame;
  #words;
  #language;
  #texts;
  /** @type {State | null} */
  #state = null;
  #drawn = ""; // the step that is on the page
  /** @type {Task | null} */
  #task = null;
  /** @type {Keys | null} */
  #keys = null;
  #since = 0;
  #moves;
  /** @type {Sender | null} */
  #sender = null;
  #link;
  #events;
  /** @type {Tab | null} */
  #tab = null;
  #on = false;
  #turn = 0;
  #lastInput = performance.now();
  #warned = false;
  #errors = 0;
  #stored = 0; // rounds of the present episode that the server has

  /** @param {{ token: string, frame: Frame, words: Words, language: Language, texts: Texts }} lent */
  constructor({ token, frame, words, language, texts }) {
    this.#token = token;
    this.#frame = frame;
    this.#words = words;
    this.#language = language;
    this.#texts = texts;
    this.#moves = new Moves(lasting, `cobandit:moves:${token}`);
    this.#events = new Events(token);
    this.#link = new Link((lost) => this.#connection(lost));
    this.#watch();
  }

  start() {
    this.#events.note("load");
    this.#tab = oneTab(`cobandit:${this.#token}`, { active: () => this.#wakeUp(), passive: () => this.#stepAside() });
  }

  // ------------------------------------------------------------------------------------------------ tabs and time

  #wakeUp() {
    this.#on = true;
    this.#refresh();
  }

  #stepAside() {
    this.#on = false;
    this.#turn += 1;
    this.#sender?.stop();
    this.#clear();
    this.#frame.banner(null);
    this.#drawn = "elsewhere";
    this.#frame.main.dataset.step = "elsewhere";
    const take = () => {
      this.#events.note("takeover");
      this.#tab?.take();
    };
    this.#frame.show({
      heading: this.#texts.say("elsewhere.heading"),
      body: [
        el("p", {}, this.#texts.say("elsewhere.text")),
        el("div", { class: "actions" }, el("button", { type: "button", class: "primary", onclick: take }, this.#texts.say("elsewhere.here"))),
      ],
    });
  }

  #watch() {
    const awake = () => {
      this.#lastInput = performance.now();
      this.#warned = false;
    };
    for (const kind of ["keydown", "pointerdown", "touchstart", "input"]) addEventListener(kind, awake, { passive: true });
    setInterval(() => this.#idle(), 1000);
    addEventListener("keydown", (event) => this.#keys?.(event));
    addEventListener("online", () => this.#events.note("online"));
    addEventListener("offline", () => this.#events.note("offline"));
    document.addEventListener("visibilitychange", () => this.#events.note(document.visibilityState === "hidden" ? "hidden" : "visible"));
    addEventListener("error", (event) => this.#complain(event.message));
    addEventListener("unhandledrejection", (event) => this.#complain(String(event.reason)));
    // A page that the browser kept aside must neither hold the lock there nor come back with an old round.
    addEventListener("pagehide", () => {
      this.#sender?.stop();
      this.#tab?.leave();
    });
    addEventListener("pageshow", (event) => {
      if (event.persisted) this.#tab?.claim();
    });
  }

  /** @param {unknown} message */
  #complain(message) {
    this.#errors += 1;
    if (this.#errors <= 5) this.#events.note("error", { message: String(message).slice(0, 300) });
  }

  #idle() {
    const limits = this.#state?.limits;
    if (!this.#on || !limits || this.#warned || this.#state?.step.kind === "thanks") return;
    if (performance.now() - this.#lastInput < 1000 * limits.warn_seconds) return;
    this.#warned = true;
    this.#events.note("warned");
    /** @type {(key: string, values?: Values) => string} */
    const say = (key, values) => this.#texts.say(key, values);
    /** @type {HTMLDialogElement} */
    const dialog = el("dialog", { "aria-labelledby": "idle-heading" },
      el("h2", { id: "idle-heading" }, say("idle.heading")),
      el("p", {}, say("idle.text", { n: Math.max(1, Math.round(limits.idle_seconds / 60)) })),
      el("div", { class: "actions" }, el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, say("idle.here"))));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  /** @param {boolean} lost */
  #connection(lost) {
    const key = this.#moves.size || this.#state?.step.kind === "episode" ? "connection.lost" : "connection.waiting";
    this.#frame.banner(lost && this.#on ? this.#texts.say(key) : null);
  }

  // ------------------------------------------------------------------------------------------------ state

  /** The state as the server has it, in the language that was chosen. */
  async #refresh(focus = true) {
    const turn = (this.#turn += 1);
    const wanted = () => this.#on && turn === this.#turn;
    try {
      const state = await this.#link.insist(() => api.state(this.#token, this.#language()), wanted);
      if (wanted()) await this.#show(state, focus);
    } catch (trouble) {
      if (wanted()) this.#refuse(trouble);
    }
  }

  /** @param {State} state */
  async #show(state, focus = true) {
    const chosen = this.#language();
    if (chosen && state.language !== chosen && state.languages.includes(chosen)) {
      await this.#refresh(focus);
      return;
    }
    const turn = this.#turn;
    const texts = (await this.#words(state.language)).with(state.texts);
    if (!this.#on || turn !== this.#turn) return;
    this.#clear();
    this.#texts = texts;
    const again = this.#drawn === state.step.id;
    this.#drawn = state.step.id;
    this.#state = state;
    this.#since = performance.now();
    this.#frame.dress({
      title: state.title, kind: state.kind, languages: state.languages, texts,
      onLanguage: (language) => {
        this.#language(language);
        this.#events.note("language", { language });
        this.#refresh(false);
      },
    });
    this.#frame.progress(state.progress.done, state.progress.total, texts, state.step.kind !== "episode");
    this.#frame.main.dataset.step = state.step.id;
    if (state.step.kind === "episode") this.#play(state, focus && !again);
    else this.#draw(state, state.step.kind, focus && !again);
    this.#connection(this.#link.lost);
  }

  #clear() {
    this.#task?.close();
    this.#task = null;
    this.#keys = null;
  }

  /**
   * @param {State} state
   * @returns {Lent}
   */
  #lent(state) {
    const { step } = state;
    return {
      state,
      texts: this.#texts,
      answer: (answers) => this.#answer(step.id, answers),
      decline: () => this.#decline(state),
      draft: draft(this.#token, step.id),
      keys: (handler) => { this.#keys = handler; },
      again: this.#again(state),
    };
  }

  /**
   * @param {State} state
   * @param {StepKind} kind
   * @param {boolean} focus
   */
  #draw(state, kind, focus) {
    this.#moves.fit(null, 0);
    this.#frame.show({ ...STEPS[kind](this.#lent(state)), focus });
  }

  /** Where a finished person came from, if someone else may begin there.
   * @param {State} state */
  #again(state) {
    const from = lasting.get(`cobandit:from:${this.#token}`);
    if (!from || (from.named && state.kind === "real")) return null;
    return { href: from.href, forget: () => lasting.remove(from.name) };
  }

  /** @param {State} state */
  #decline(state) {
    const back = () => this.#draw(state, "consent", true);
    /** @param {string} key */
    const say = (key) => this.#texts.say(key);
    this.#frame.show({
      heading: say("declined.heading"),
      body: [
        el("p", {}, say("declined.text")),
        el("div", { class: "actions" }, el("button", { type: "button", class: "quiet", onclick: back }, say("declined.back"))),
      ],
    });
  }

  /**
   * @param {string} step
   * @param {Answers} answers
   */
  async #answer(step, answers) {
    const sent = { answers, ms: Math.round(performance.now() - this.#since), key: uuid() };
    const turn = this.#turn;
    const wanted = () => this.#on && turn === this.#turn;
    try {
      const reply = await this.#link.insist(() => api.answer(this.#token, step, this.#language(), sent), wanted);
      if (!wanted()) return null;
      if (reply.accepted) {
        draft(this.#token, step).forget();
        await this.#show(reply.state);
      }
      return reply;
    } catch (trouble) {
      if (wanted()) this.#refuse(trouble);
      return null;
    }
  }

  // ------------------------------------------------------------------------------------------------ rounds

  /**
   * @param {State} state
   * @param {boolean} focus
   */
  #play(state, focus) {
    const { episode, task } = state;
    const texts = this.#texts;
    this.#stored = episode.played;
    this.#moves.reload();
    this.#moves.fit(episode.index, episode.played);
    const several = episode.sets > 1 || episode.episodes > 1;
    /** @type {App} */
    const app = {
      state,
      texts,
      opening: episode.practice ? texts.say("episode.practice") : episode.set > 1 && episode.episode === 1 ? texts.say("episode.new", { n: task.arms.length - 1 }) : texts.say("episode.first"),
      keys: (handler) => { this.#keys = handler; },
      speak: (text) => this.#frame.speak(text),
      advance: (part) => this.#frame.within(part),
      shown: (played) => { this.#frame.main.dataset.shown = String(played); },
      unsent: () => this.#moves.all,
      choose: (arm, ms) => this.#choose(episode, arm, ms),
      next: () => this.#refresh(),
      note: (kind, data) => this.#events.note(kind, data),
      robot: async () => (await api.robot(this.#token)).robot,
      placed: (request) => api.placed(this.#token, request),
    };
    if (state.robot?.kind === "lab" && state.robot.wait) {
      this.#waitForRobot(app, state.robot, focus);
      return;
    }
    this.#frame.main.dataset.shown = String(episode.played);
    this.#task = (TASKS[task.kind] ?? grid)(app);
    this.#frame.show({ heading: this.#title(state, several), body: [this.#task.element], layout: "play wide",
      beside: badge(state.partner, texts.say("partner.with", { partner: state.partner?.name })), focus });
    this.#sender?.stop();
    /** @type {() => boolean} */
    const mine = () => this.#on && sender === this.#sender;
    /** @type {Sender} */
    const sender = new Sender(
      this.#moves,
      (batch) => this.#link.insist(() => api.rounds(this.#token, this.#language(), batch), mine),
      (reply) => this.#answered(reply),
      (trouble) => mine() && this.#refuse(trouble),
    );
    this.#sender = sender;
    sender.kick();
    this.#count();
  }

  /**
   * The robot in the lab is with somebody else, or still with the burger before: the page goes on by itself.
   * @param {App} app
   * @param {LabRobot} robot
   * @param {boolean} focus
   */
  async #waitForRobot(app, robot, focus) {
    const turn = this.#turn;
    const news = new RobotNews(app);
    let page = "";
    /** @type {(latest: LabRobot, focus: boolean) => void} */
    const tell = (latest, focus) => {
      if (latest.wait && latest.wait !== page) {
        page = latest.wait;
        this.#frame.show({ heading: app.texts.say(`robot.${page}.heading`), body: [news.element], focus });
      }
      news.tell(latest);
    };
    this.#moves.fit(null, 0);
    this.#frame.main.dataset.step = "robot";
    tell(robot, focus);
    const wanted = () => this.#on && turn === this.#turn;
    await robotIsThrough(app, (latest) => tell(latest, false), wanted);
    if (wanted()) await this.#refresh();
  }

  /**
   * @param {State} state
   * @param {boolean} several
   */
  #title(state, several) {
    const { practice, set, sets, episode, episodes } = state.episode;
    const kind = this.#texts.knows(`episode.${state.task.kind}.one`) ? state.task.kind : "grid";
    if (practice) return this.#texts.say(`episode.${kind}.trial`);
    if (episodes > 1) return this.#texts.say(`episode.${kind}.many`, {
      set, sets, episode, episodes, number: (set - 1) * episodes + episode, total: sets * episodes,
    });
    return several ? this.#texts.say("episode.part", { set, sets }) : this.#texts.say(`episode.${kind}.one`);
  }

  /**
   * @param {Episode} episode
   * @param {number} arm
   * @param {number} ms
   */
  #choose({ index, rounds }, arm, ms) {
    const t = this.#moves.next(this.#stored);
    if (t > rounds || !this.#on) return false;
    this.#moves.add({ episode: index, t, arm, key: uuid(), ms: Math.max(0, ms) });
    this.#count();
    this.#sender?.kick();
    return true;
  }

  /** @param {RoundsReply} reply */
  #answered(reply) {
    this.#stored = reply.played;
    this.#task?.answered(reply);
    this.#count();
  }

  #count() {
    this.#frame.main.dataset.unsent = String(this.#moves.size);
  }

  // ------------------------------------------------------------------------------------------------ trouble

  /** @param {unknown} trouble */
  #refuse(trouble) {
    if (!(trouble instanceof Trouble)) throw trouble;
    if (trouble.status === 409) this.#catchUp(trouble);
    else if (trouble.status === 404) this.#end("unknown");
    else if (trouble.status === 403) this.#end(this.#texts.knows(`${trouble.code}.title`) ? trouble.code : "forbidden");
    else {
      this.#complain(`${trouble.status} ${trouble.code}: ${trouble.message}`);
      this.#moves.fit(null, 0);
      this.#end("trouble", true);
    }
  }

  /** The server is elsewhere than this page thought: go there, and say so kindly.
   * @param {Trouble} trouble */
  async #catchUp(trouble) {
    const key = trouble.code === "already-played" || trouble.code === "already-answered" ? "conflict.played" : "conflict.moved";
    const state = trouble.state;
    if (state) await this.#show(state, false);
    else await this.#refresh(false);
    this.#frame.hint(this.#texts.say(key));
  }

  /** @param {string} page */
  #end(page, reload = false) {
    this.#clear();
    this.#sender?.stop();
    this.#frame.hideProgress();
    this.#frame.main.dataset.step = page;
    this.#frame.show({
      heading: this.#texts.say(`${page}.title`),
      body: [
        el("p", {}, this.#texts.say(`${page}.text`)),
        reload && el("div", { class: "actions" },
          el("button", { type: "button", class: "primary", onclick: () => location.reload() }, this.#texts.say("reload"))),
      ],
    });
  }
}

/**
 * Answers as far as they are filled in, for as long as the tab lives.
 * @param {string} token
 * @param {string} step
 * @returns {Draft}
 */
function draft(token, step) {
  const name = `cobandit:draft:${token}:${step}`;
  return { read: () => passing.get(name) ?? {}, keep: (answers) => passing.set(name, answers), forget: () => passing.remove(name) };
}
