// The sound of a casino: off until the participant turns it on, made by the browser, and never delays a pull.

import { lasting } from "./store.js";

const NAME = "cobandit:sound";
const SHORTEST = 50; // ms between two sounds: a held key is no noise

export class Sound {
  /** @type {AudioContext | null} */
  #context = null;
  #last = 0;
  on = lasting.get(NAME) === true;

  /** @param {boolean} on */
  turn(on) {
    this.on = on;
    lasting.set(NAME, on);
    if (on) this.#play([[660, 0, 0.08], [990, 0.07, 0.12]]);
    else this.close();
  }

  /** What a pull gave.
   * @param {boolean | null} good */
  pull(good) {
    if (!this.on || performance.now() - this.#last < SHORTEST) return;
    this.#play(good ? [[880, 0, 0.06], [1320, 0.05, 0.1]] : [[150, 0, 0.04]]);
  }

  /** The end of a casino. */
  end() {
    if (this.on) this.#play([[523, 0, 0.12], [659, 0.12, 0.12], [784, 0.24, 0.25]]);
  }

  close() {
    this.#context?.close().catch(() => {});
    this.#context = null;
  }

  /** Tones as hertz, seconds from now and seconds long; a browser that makes no sound stays silent.
   * @param {[number, number, number][]} tones */
  #play(tones) {
    this.#last = performance.now();
    try {
      this.#context ??= new AudioContext();
      const context = this.#context;
      if (context.state === "suspended") context.resume().catch(() => {});
      for (const [pitch, from, length] of tones) {
        const tone = context.createOscillator();
        const volume = context.createGain();
        const at = context.currentTime + from;
        tone.frequency.value = pitch;
        tone.type = "triangle";
        volume.gain.setValueAtTime(0.08, at);
        volume.gain.exponentialRampToValueAtTime(0.0008, at + length);
        tone.connect(volume).connect(context.destination);
        tone.start(at);
        tone.stop(at + length);
      }
    } catch { /* no sound here */ }
  }
}
