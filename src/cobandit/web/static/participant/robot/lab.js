// The burger shop with a real arm: the page waits for the robot, shows what it does, and continues when it has finished.

import { Shop } from "../burger.js";
import { el } from "../dom.js";
import { turns } from "../turns.js";
import { caption, itemName } from "./captions.js";

const PAUSE = 500;

/** @param {App} app */
export const labBurger = (app) => turns(app, new LabStage(app));

/**
 * Wait until the robot has finished; call `watch` with the robot's state in the meantime.
 * @param {App} app
 * @param {(robot: LabRobot) => void} watch
 * @param {() => boolean} wanted
 */
export async function robotIsThrough(app, watch, wanted) {
  while (wanted()) {
    const robot = await app.robot().catch(() => null); // a lost connection comes back
    if (!wanted()) return;
    if (robot?.kind === "lab") {
      watch(robot);
      if (!robot.wait) return;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** What the robot is doing, in one line, and what the participant is asked for. */
export class RobotNews {
  #app;
  #line = el("p", { class: "caption robot-line", role: "status" });
  #placed = el("button", { type: "button", class: "primary", hidden: true });
  #request = 0;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    this.#placed.append(app.texts.say("robot.placed"));
    this.#placed.addEventListener("click", () => {
      this.#placed.hidden = true;
      this.#app.placed(this.#request).catch(() => {}); // the experimenter was faster, or it is asked for again
    });
    this.element = el("div", { class: "robot-news" }, this.#line, this.#placed);
  }

  /** @param {LabRobot | null} robot */
  tell(robot) {
    const place = robot?.burger?.place ?? null;
    this.#request = place?.number ?? 0;
    if (this.#placed.hidden === Boolean(place)) {
      this.#placed.hidden = !place;
      if (place) this.#placed.focus();
    }
    const text = robot ? this.#words(robot) : "";
    if (this.#line.textContent !== text) this.#line.textContent = text;
  }

  /** @param {LabRobot} robot */
  #words({ wait, burger }) {
    const { texts } = this.#app;
    if (!wait) return "";
    if (wait !== "stacking") return texts.say(`robot.${wait}.text`, { partner: texts.own("task.partner") });
    if (burger?.place) return texts.say("robot.your-turn", { item: itemName(this.#app, burger.place.item) });
    const next = burger?.layers.find(({ done }) => !done);
    return next && next.by === "robot" ? caption(this.#app, next) : texts.say("robot.stacking", { partner: texts.own("task.partner") });
  }
}

class LabStage {
  #app;
  #shop;
  #news;
  #closed = false;
  /** Only the experimenter can skip a burger of a real robot. */
  patient = true;

  /** @param {App} app */
  constructor(app) {
    this.#app = app;
    this.#shop = new Shop(app.texts, app.state);
    this.#news = new RobotNews(app);
    this.question = this.#shop.question;
    this.icon = this.#shop.icon;
    this.picture = this.#shop.picture;
    this.element = el("div", { class: "lab" }, this.#shop.element);
    this.status = this.#news.element;
    this.status.hidden = true;
  }

  /** @param {number} t */
  clear(t) { this.#shop.clear(t); }

  /**
   * @param {number} arm
   * @param {number} t
   */
  hold(arm, t) { this.#shop.hold(arm, t); }

  /** @param {OpenRound} round */
  show(round) {
    this.#news.tell(null);
    this.#shop.show(round);
  }

  /**
   * The burger is on the table; the drawing follows when it stands.
   * @param {OpenRound} _round
   * @returns {Playing[]}
   */
  reveal(_round) {
    this.#news.tell({ kind: "lab", wait: "stacking", burger: null });
    const finished = robotIsThrough(this.#app, (robot) => this.#news.tell(robot), () => !this.#closed);
    return [{ finished, finish: () => {} }];
  }

  close() { this.#closed = true; }
}
