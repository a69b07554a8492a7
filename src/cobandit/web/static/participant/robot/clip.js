// A burger as a film, where there is no WebGL or no recording: one film for each of the four configurations and each
// look of a partner that has films. Where a look has none, the drawn shop, which has its colour, takes the film's place.

import { el } from "../dom.js";
import { DEFAULT_LOOK } from "../partner.js";

const DURATION = 3.2; // seconds, as long as a recording is played
const FASTEST = 8; // browsers play no faster than sixteen times
const KINDS = ["webm", "mp4"];
const FILMED = [DEFAULT_LOOK, "amber"];
const FIRST = [0, 0]; // every film begins with the same kitchen
const FOLDER = new URL("../../robot/clips/", import.meta.url).href;

export class Clip {
  #look;
  #shown = "";
  /** Ends the film that is playing, if one is.
   * @type {(() => void) | null} */
  #end = null;

  /** @param {string} look whose colour the robot has */
  constructor(look) {
    this.#look = look;
    this.element = el("video", { playsinline: true, disablepictureinpicture: true, "aria-hidden": "true", tabindex: "-1" });
    this.element.muted = true;
    document.addEventListener("visibilitychange", this.#wait);
  }

  /** Pause the film in a hidden tab, and resume it when the tab is visible again. */
  #wait = () => {
    if (!this.#end) return;
    if (document.hidden) this.element.pause();
    else this.element.play().catch(() => this.stop());
  };

  /**
   * The film of a configuration, ready to be played.
   * @param {number[]} arms
   */
  async #load(arms) {
    const name = [...(this.#look === DEFAULT_LOOK ? [] : [this.#look]), ...arms].join("-");
    const video = this.element;
    if (this.#shown === name) return;
    if (!FILMED.includes(this.#look)) throw new Error(`There are no films of the look ${this.#look}.`);
    this.#shown = "";
    const sources = KINDS.map((kind) => el("source", { src: `${FOLDER}burger-${name}.${kind}`, type: `video/${kind}` }));
    await new Promise((resolve, reject) => {
      const failed = () => reject(new Error(`The film of burger ${name} cannot be shown.`));
      video.onloadeddata = resolve;
      video.onerror = failed;
      sources[sources.length - 1].onerror = failed; // a browser goes from one to the next
      video.replaceChildren(...sources);
      video.load();
    });
    this.#shown = name;
  }

  /** Show a finished burger; null: the kitchen before the first layer.
   * @param {number[] | null} arms */
  async show(arms) {
    await this.#load(arms ?? FIRST);
    this.stop();
    this.element.currentTime = arms ? Math.max(0, this.element.duration - 0.04) : 0;
  }

  /** Play it to its end, or until `stop`.
   * @param {number[]} arms */
  async play(arms) {
    await this.#load(arms);
    const video = this.element;
    video.currentTime = 0;
    video.playbackRate = Math.min(FASTEST, Math.max(1, video.duration / DURATION));
    const over = new Promise((resolve, reject) => {
      this.#end = () => resolve(null);
      video.onended = resolve;
      video.onerror = () => reject(new Error("The film broke off."));
    });
    try {
      if (!document.hidden) await video.play().catch((error) => { if (error.name !== "AbortError") throw error; }); // stopped before it began
      await over;
    } finally {
      this.#end = null;
    }
  }

  stop() {
    this.element.pause();
    this.#end?.();
  }

  close() {
    this.stop();
    document.removeEventListener("visibilitychange", this.#wait);
  }
}
