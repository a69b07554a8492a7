// The burger shop with a robot arm that stacks the burger both have chosen. In three dimensions where the browser can,
// else as a film, else as the drawn shop; what happens here never changes what was chosen.

import { Shop, companyOf } from "../burger.js";
import { face } from "../counts.js";
import { el, still } from "../dom.js";
import { DEFAULT_LOOK } from "../partner.js";
import { turns } from "../turns.js";
import { caption } from "./captions.js";
import { Clip } from "./clip.js";
import { Recording } from "./recording.js";

const PATIENCE = 4000; // milliseconds for a recording; then the film has to do
const OPENING = 60_000; // milliseconds for the kitchen, which loads in the background: until then the shop is drawn
const MEANWHILE = 2000; // an empty wall for so long at most
const REACTION = 900; // the customer's face, before the next choice
const EXCUSE = 6000;

/** @typedef {import("./player.js").Player} Player */
/** @typedef {"loading" | "arm" | "clip" | "drawn"} Mode */

/** @param {App} app
 * @param {SimulatedRobot} robot */
export const stagedBurger = (app, robot) => turns(app, new Stage(app, robot));

export class Stage {
  #app;
  #shop;
  #look;
  #clip;
  /** @type {Player | null} */
  #player = null;
  /** @type {Mode} */
  #mode = "loading";
  /** @type {Map<string, Promise<Recording>>} */
  #recordings = new Map();
  #view = el("div", { class: "view" });
  #caption = el("p", { class: "caption", "aria-hidden": "true", hidden: true });
  #skip;
  #verdict = el("div", { class: "verdict", "aria-hidden": "true", hidden: true });
  #trouble = el("p", { class: "robot-trouble", role: "status", hidden: true });
  /** Whose the robot's looks are, where they are not ours; or that the robot is shown as a film. */
  #credit = el("p", { class: "robot-credit", hidden: true });
  /** The round that is over, if one is, and the number of the present one.
   * @type {OpenRound | null} */
  #latest = null;
  #t = 1;
  #turn = 0; // whatever takes a while looks whether it is still its turn
  #closed = false;
  /** The server had no recordings yet when the page came. */
  #early = false;
  /** What is being shown of a round.
   * @type {Promise<void>} */
  #performance = Promise.resolve();
  performing = "robot.stacking";

  /**
   * @param {App} app
   * @param {SimulatedRobot} robot
   */
  constructor(app, robot) {
    this.#app = app;
    this.#look = app.state.partner?.look ?? DEFAULT_LOOK;
    this.#clip = new Clip(this.#look);
    this.#shop = new Shop(app.texts, app.state);
    this.question = this.#shop.question;
    this.icon = this.#shop.icon;
    this.picture = this.#shop.picture;
    this.#skip = el("button", { type: "button", class: "skip-burger", hidden: true }, app.texts.say("robot.skip"));
    this.element = el("div", { class: `scene stage look-${this.#look}`, "data-mode": "loading" },
      this.#view, this.#verdict, el("div", { class: "stage-foot" }, this.#caption, this.#skip), this.#credit, this.#trouble);
    this.#open(robot);
    setTimeout(() => this.#mode === "loading" && this.#lift(this.#shop.element), MEANWHILE);
  }

  // ------------------------------------------------------------------------------------------------ which stage

  /** @param {SimulatedRobot} robot */
  async #open({ scene, opening, three: address }) {
    if (!address) {
      this.#fall("clip", "three.js is not installed on the server.");
      this.#credit.textContent = this.#app.texts.say("robot.film");
      this.#credit.hidden = false;
      return;
    }
    try {
      this.#early = !scene || !opening;
      if (!scene || !opening) throw new Error("There are no recordings yet.");
      const [three, { Player }, description, first] = await Promise.all([
        import(address), import("./player.js"), fetched(scene, OPENING).then((answer) => answer.json()), this.#fetch(opening, OPENING),
      ]);
      await this.#performance; // a burger ends on the stage on which it began
      if (this.#closed) return;
      this.#acknowledge(description);
      this.#player = new Player(three, description, first, companyOf(this.#app.state), this.#look, () => this.#fall("clip", "The graphics card went away."));
      this.#enter("arm");
    } catch (error) {
      this.#fall("clip", error);
    }
  }

  /** Recordings have come since the page did. */
  async #openLate() {
    this.#early = false;
    const robot = await this.#app.robot().catch(() => null);
    if (this.#closed) return;
    if (robot?.kind === "simulated") this.#open(robot);
    else this.#early = true; // with the next burger, then
  }

  /** @param {KitchenScene} scene */
  #acknowledge({ credit }) {
    this.#credit.hidden = !credit;
    this.#credit.textContent = credit ? this.#app.texts.say("robot.credit", credit) : "";
  }

  /** A lesser stage, from here on.
   * @param {"clip" | "drawn"} mode
   * @param {unknown} error */
  #fall(mode, error) {
    if (this.#closed || this.#mode === "drawn") return;
    this.#note(error);
    this.#player?.close();
    this.#player = null;
    this.#credit.hidden = true; // films and drawings are ours
    this.#enter(mode);
  }

  /** @param {Mode} mode */
  #enter(mode) {
    this.#mode = mode;
    this.element.dataset.mode = mode;
    this.#lift(this.#player?.element ?? (mode === "clip" ? this.#clip.element : this.#shop.element));
    this.#paint();
  }

  /** Put an element into view.
   * @param {Element} element */
  #lift(element) {
    if (this.#view.firstElementChild !== element) this.#view.replaceChildren(element);
  }

  /** What went wrong, for the researcher.
   * @param {unknown} error */
  #note(error) {
    const trouble = error instanceof Error ? error.message : String(error);
    this.#app.note("robot", { trouble: trouble.slice(0, 200), stage: this.#mode, t: this.#t });
  }

  // ------------------------------------------------------------------------------------------------ without motion

  /** Draw the current state without animation. */
  async #paint() {
    const round = this.#latest;
    const turn = (this.#turn += 1);
    if (round) this.#shop.show(round);
    else this.#shop.clear(this.#t);
    this.#feel(round);
    if (this.#mode === "loading" || this.#mode === "drawn") return;
    const recording = round && this.#player ? await this.#recording(round) : null;
    if (turn !== this.#turn) return;
    if (this.#player && (recording || !round)) {
      this.#lift(this.#player.element);
      this.#player.show(recording);
      this.#showing(round);
      return;
    }
    this.#lift(this.#clip.element);
    try {
      await this.#clip.show(round ? round.arms : null);
      if (turn === this.#turn) this.#showing(round);
    } catch (error) {
      if (turn === this.#turn) this.#fall("drawn", error);
    }
  }

  /** Publish which round's burger is on the plate, as an attribute that tests and tools can read.
   * @param {OpenRound | null} round */
  #showing(round) {
    this.element.dataset.burger = round ? `${round.t}:${round.arms.join("-")}` : "";
  }

  /** The recording of a round; null where it is only there as a film.
   * @param {OpenRound} round */
  async #recording({ recording: address }) {
    if (!address) return null;
    try {
      return await this.#fetch(address);
    } catch (error) {
      this.#recordings.delete(address);
      this.#note(error);
      return null;
    }
  }

  /** @param {string} address */
  #fetch(address, patience = PATIENCE) {
    let recording = this.#recordings.get(address);
    if (!recording) {
      recording = fetched(address, patience).then(async (answer) => new Recording(await answer.arrayBuffer()));
      this.#recordings.set(address, recording);
    }
    return recording;
  }

  /** The customer of a round, and what they make of it.
   * @param {OpenRound | null} round */
  #feel(round, lively = false) {
    const mood = !round || round.good === null ? "wait" : round.good ? "good" : "bad";
    if (this.#player) this.element.dataset.customer = String(this.#player.feel(round?.t ?? this.#t, mood, lively));
    this.#verdict.hidden = mood === "wait";
    this.#verdict.replaceChildren(face(mood === "good"));
  }

  /** What the arm, or the person's hand, is doing.
   * @param {RecordingEvent | null} event */
  #say(event) {
    const text = event ? caption(this.#app, event) : "";
    this.#caption.hidden = !text;
    if (this.#caption.textContent !== text) this.#caption.textContent = text;
  }

  // ------------------------------------------------------------------------------------------------ a scene's duties

  /** @param {number} t */
  clear(t) {
    this.#t = t;
    this.#latest = null;
    this.#say(null);
    this.#paint();
  }

  /** Both are deciding: the kitchen is laid out, and the next customer comes.
   * @param {number} arm
   * @param {number} t */
  hold(arm, t) {
    this.clear(t);
    this.#shop.hold(arm, t);
  }

  /** @param {OpenRound} round */
  show(round) {
    this.#latest = round;
    this.#t = round.t;
    this.#say(null);
    this.#paint();
    if (this.#early && round.recording) this.#openLate();
  }

  /** The round is decided, and will be shown in a moment: what it needs is fetched meanwhile.
   * @param {OpenRound} round */
  expect(round) {
    if (this.#player) this.#recording(round);
  }

  /**
   * @param {OpenRound} round
   * @returns {Playing[]}
   */
  reveal(round) {
    if (still()) return [];
    if (this.#mode === "drawn" || this.#mode === "loading") {
      this.#lift(this.#shop.element);
      const falling = this.#shop.reveal(round);
      this.#performance = Promise.allSettled(falling.map((animation) => animation.finished)).then(() => {});
      return falling;
    }
    const turn = (this.#turn += 1);
    let over = false;
    const end = () => {
      over = true;
      this.#skip.hidden = true;
    };
    const finished = this.#perform(round, () => !over && turn === this.#turn && !this.#closed).finally(end);
    this.#performance = finished;
    const finish = () => {
      if (over) return;
      end();
      this.#player?.stop();
      this.#clip.stop();
      this.#app.note("robot", { skipped: round.t });
    };
    return [{ finished, finish }];
  }

  /**
   * The arm stacks, then the customer makes up their mind.
   * @param {OpenRound} round
   * @param {() => boolean} wanted
   */
  async #perform(round, wanted) {
    this.#skip.hidden = false;
    const recording = this.#player ? await this.#recording(round) : null;
    if (!wanted()) return;
    try {
      if (recording && this.#player) {
        this.#lift(this.#player.element);
        await this.#player.play(recording, (frame) => this.#say(recording.eventAt(frame)));
      } else {
        this.#lift(this.#clip.element);
        await this.#clip.play(round.arms);
      }
    } catch (error) {
      if (!wanted()) return;
      this.#excuse();
      this.#fall("drawn", error);
    }
    if (!wanted()) return;
    this.#say(null);
    this.#feel(round, true);
    await pause(REACTION);
  }

  /** The robot did not come: said kindly, and the round stands. */
  #excuse() {
    this.#trouble.textContent = this.#app.texts.say("robot.trouble");
    this.#trouble.hidden = false;
    setTimeout(() => { this.#trouble.hidden = true; }, EXCUSE);
  }

  close() {
    this.#closed = true;
    this.#turn += 1;
    this.#player?.close();
    this.#clip.close();
  }
}

/**
 * @param {string} address
 * @param {number} patience
 */
async function fetched(address, patience) {
  const answer = await fetch(address, { signal: AbortSignal.timeout?.(patience) });
  if (!answer.ok) throw new Error(`${address} came with ${answer.status}.`);
  return answer;
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
