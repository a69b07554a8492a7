// A participant's way through the study: the server says which step it is, this draws it and sends what is done.

import { api, Events, Link, Trouble } from "./api.js";
import { burger } from "./burger.js";
import { casino } from "./casino.js";
import { el } from "./dom.js";
import { grid } from "./grid.js";
import { line } from "./line.js";
import { Moves, Sender } from "./moves.js";
import { lobbyPage } from "./lobby.js";
import { Notes } from "./notes.js";
import { badge } from "./partner.js";
import { labBurger, RobotNews, robotIsThrough } from "./robot/lab.js";
import { stagedBurger } from "./robot/stage.js";
import { STEPS } from "./steps.js";
import { Signals } from "./signals.js";
import { TeamNews } from "./team.js";
import { lasting, passing, uuid } from "./store.js";
import { oneTab } from "./tabs.js";
import { episodeTitle } from "./title.js";
import { withdrawDialog } from "./withdraw.js";

/** @type {Record<string, (app: App) => Task>} */
const TASKS = { burger: robotOrNone, casino, grid, "burger-line": line };

/** Steps whose headings say "Casino 7 of 50" or "Part 1 of 2": a second count would confuse. */
const COUNTED_IN_HEADING = ["episode", "rest", "partner", "survey"];

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
  #signals;
  /** @type {Tab | null} */
  #tab = null;
  #on = false;
  #turn = 0;
  #lastInput = performance.now();
  #warned = false;
  #errors = 0;
  /** @type {{ close(): void } | null} */
  #team = null; // the lobby, or the news of the team
  #given = 0; // the last round that the task was given
  #stored = 0; // rounds of the present episode that the server has
  #notes;

  /** @param {{ token: string, frame: Frame, words: Words, language: Language, texts: Texts }} lent */
  constructor({ token, frame, words, language, texts }) {
    this.#token = token;
    this.#frame = frame;
    this.#words = words;
    this.#language = language;
    this.#texts = texts;
    this.#moves = new Moves(lasting, `cobandit:moves:${token}`);
    this.#events = new Events(token);
    this.#signals = new Signals((kind, data) => this.#events.note(kind, data));
    this.#link = new Link((lost) => this.#connection(lost));
    this.#notes = new Notes({
      token, region: frame.notes, texts: () => this.#texts, wanted: () => this.#on, leave: () => frame.focus(),
      ask: async () => (await api.notes(token)).messages,
      note: (key, dismissed) => this.#link.insist(() => api.noteMessage(token, key, dismissed)),
    });
    this.#watch();
  }

  start() {
    this.#events.note("load", { webdriver: navigator.webdriver === true });
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
    addEventListener("keydown", (event) => {
      if (!document.querySelector("dialog[open]")) this.#keys?.(event); // a dialog is modal for the keys of a task, too
    });
    addEventListener("online", () => this.#events.note("online"));
    addEventListener("offline", () => this.#events.note("offline"));
    document.addEventListener("visibilitychange", () => this.#events.note(document.visibilityState === "hidden" ? "hidden" : "visible"));
    addEventListener("error", (event) => this.#complain(event.message));
    addEventListener("unhandledrejection", (event) => this.#complain(String(event.reason)));
    // A page that the browser kept aside must neither hold the lock there nor come back with an old round.
    addEventListener("pagehide", () => {
      this.#signals.end();
      this.#events.flush();
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
    this.#signals.begin(state.step.id);
    this.#since = performance.now();
    this.#frame.dress({
      title: state.title, kind: state.kind, languages: state.languages, texts,
      onLanguage: (language) => {
        this.#language(language);
        this.#events.note("language", { language });
        this.#refresh(false);
      },
      onWithdraw: state.step.kind === "consent" || state.thanks?.ending === "withdrew" ? null : () => this.#askToWithdraw(state),
    });
    this.#frame.progress(state.progress.done, state.progress.total, texts, !COUNTED_IN_HEADING.includes(state.step.kind));
    this.#frame.main.dataset.step = state.step.id;
    if (state.step.kind === "episode") this.#play(state, focus && !again);
    else if (state.step.kind === "lobby") this.#wait(state, focus && !again);
    else this.#draw(state, state.step.kind, focus && !again);
    this.#connection(this.#link.lost);
    this.#notes.dress();
    this.#notes.take(state.messages);
  }

  #clear() {
    this.#task?.close();
    this.#task = null;
    this.#team?.close();
    this.#team = null;
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
    if (kind !== "lobby") this.#frame.show({ ...STEPS[kind](this.#lent(state)), focus });
  }

  /** Where a finished person came from, if someone else may begin there.
   * @param {State} state */
  #again(state) {
    const from = lasting.get(`cobandit:from:${this.#token}`);
    if (!from || (from.named && state.kind === "real")) return null;
    return { href: from.href, forget: () => lasting.remove(from.name) };
  }

  /** Ask once; then the server deletes or anonymises the data.
   * @param {State} state */
  #askToWithdraw(state) {
    const rule = state.withdrawal;
    withdrawDialog({ texts: this.#texts, rule, finished: state.step.kind === "thanks", confirm: () => this.#withdraw() });
  }

  async #withdraw() {
    const turn = (this.#turn += 1);
    const wanted = () => this.#on && turn === this.#turn;
    this.#sender?.stop();
    this.#clear();
    try {
      const state = await this.#link.insist(() => api.withdraw(this.#token, this.#language()), wanted);
      this.#signals.end();
      this.#events.forget();
      this.#moves.fit(null, 0);
      if (wanted()) await this.#show(state);
    } catch (trouble) {
      if (wanted()) this.#refuse(trouble);
    }
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

  // ------------------------------------------------------------------------------------------------ teams

  /** The lobby: other people are waited for.
   * @param {State} state
   * @param {boolean} focus */
  #wait(state, focus) {
    const turn = this.#turn;
    const wanted = () => this.#on && turn === this.#turn;
    const visit = async (/** @type {boolean} */ ready) => {
      try {
        return await this.#link.insist(() => api.lobby(this.#token, this.#language(), ready), wanted);
      } catch (trouble) {
        if (wanted()) this.#refuse(trouble);
        return null;
      }
    };
    this.#moves.fit(null, 0);
    const page = lobbyPage({
      texts: this.#texts, lobby: state.lobby ?? null, visit, done: () => this.#refresh(), wanted,
      stream: () => this.#stream(), speak: (text) => this.#frame.speak(text),
    });
    this.#team = page;
    this.#frame.show({ heading: this.#texts.say("lobby.heading"), body: [page.element], focus });
  }

  /** The events of the lobby or the team; messages among them are shown immediately. */
  #stream() {
    const events = api.stream(this.#token, this.#language());
    events?.addEventListener("message", (event) => this.#on && this.#notes.take([JSON.parse(event.data)]));
    return events;
  }

  /** Listen to what the others in the team do.
   * @param {State} state
   * @param {(lines: string[]) => void} tell */
  #listen(state, tell) {
    const { index } = state.episode;
    const turn = this.#turn;
    const wanted = () => this.#on && turn === this.#turn;
    this.#team = new TeamNews({
      texts: this.#texts, team: /** @type {Team} */ (state.team), wanted, tell,
      stream: () => this.#stream(),
      ask: () => api.team(this.#token, index, this.#stored),
      sealed: (reply) => {
        if (reply.episode !== index) return;
        this.#moves.settle(index, reply.played);
        this.#answered(reply);
      },
      moved: () => this.#moves.size > 0,
      step: () => this.#refresh(),
    });
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
    this.#given = episode.played;
    this.#moves.reload();
    this.#moves.fit(episode.index, episode.played);
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
    if (state.team?.meeting) {
      const line = el("p", { role: "status" });
      this.#moves.fit(null, 0);
      this.#frame.show({ heading: texts.say("team.meeting"), body: [line], focus });
      this.#listen(state, (lines) => { line.textContent = lines.join(" "); });
      return;
    }
    this.#frame.main.dataset.shown = String(episode.played);
    // The scenes of two are drawn for one person and an AI; several people see the labels of all seats.
    this.#task = (task.people ? grid : TASKS[task.kind] ?? grid)(app);
    const notice = state.team ? el("p", { class: "notice", role: "status" }) : null;
    if (notice) this.#listen(state, (lines) => {
      const text = lines.join(" ");
      if (notice.textContent !== text) notice.textContent = text;
    });
    this.#frame.show({ heading: episodeTitle(texts, state), body: [notice, this.#task.element], layout: "play wide",
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
   * Wait while the robot in the lab serves another participant or finishes the previous burger; then continue.
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
   * @param {Episode} episode
   * @param {number} arm
   * @param {number} ms
   */
  #choose({ index, rounds }, arm, ms) {
    const t = this.#moves.next(this.#stored);
    if (t > rounds || !this.#on || (this.#state?.team && this.#moves.size)) return false;
    this.#moves.add({ episode: index, t, arm, key: uuid(), ms: Math.max(0, ms) });
    this.#count();
    this.#sender?.kick();
    return true;
  }

  /** @param {RoundsReply} reply */
  #answered(reply) {
    this.#stored = Math.max(this.#stored, reply.played);
    // A round of a team may come as the answer to the own move, and by the stream: it is shown once.
    const rounds = reply.rounds.filter((round) => !this.#state?.team || round.t > this.#given);
    this.#given = Math.max(this.#given, ...rounds.map((round) => round.t));
    this.#task?.answered({ ...reply, rounds });
    this.#notes.take(reply.messages);
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
    else if (trouble.status === 404 && this.#state) {
      this.#state = null; // ask once more: after a withdrawal on another device, the server has a page that says so
      this.#refresh();
    } else if (trouble.status === 404) this.#end("unknown");
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
