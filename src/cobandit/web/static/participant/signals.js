// How a page is operated: counts and intervals of inputs, and pastes. The server stores them as data, without a verdict.

/** Collects the inputs of one step after the other; no key and no text is kept. */
export class Signals {
  #note;
  #step = "";
  #since = 0;
  #keys = 0;
  #clicks = 0;
  #moves = 0;
  #untrusted = 0;
  /** @type {number[]} */
  #gaps = [];
  #last = 0;

  /** @param {(kind: string, data: object) => void} note */
  constructor(note) {
    this.#note = note;
    addEventListener("keydown", (event) => this.#count(event, () => { this.#keys += 1; }), { capture: true, passive: true });
    addEventListener("pointerdown", (event) => this.#count(event, () => { this.#clicks += 1; }), { capture: true, passive: true });
    addEventListener("pointermove", () => { this.#moves += 1; }, { capture: true, passive: true });
    addEventListener("paste", (event) => this.#pasted(event), { capture: true });
  }

  /** A step begins; what was counted at the one before is noted.
   * @param {string} step */
  begin(step) {
    if (step === this.#step) return;
    this.end();
    this.#step = step;
    this.#since = performance.now();
  }

  end() {
    if (this.#step && this.#keys + this.#clicks > 0) {
      const gaps = this.#gaps.sort((a, b) => a - b);
      this.#note("input", {
        step: this.#step, ms: Math.round(performance.now() - this.#since), keys: this.#keys, clicks: this.#clicks, moves: this.#moves,
        untrusted: this.#untrusted, gap_ms: quantiles(gaps),
      });
    }
    this.#step = "";
    this.#keys = this.#clicks = this.#moves = this.#untrusted = this.#last = 0;
    this.#gaps = [];
  }

  /**
   * @param {Event} event
   * @param {() => void} add
   */
  #count(event, add) {
    const now = performance.now();
    add();
    if (!event.isTrusted) this.#untrusted += 1;
    if (this.#last && this.#gaps.length < 10_000) this.#gaps.push(now - this.#last);
    this.#last = now;
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    const field = event.target instanceof HTMLElement ? event.target.id : "";
    this.#note("paste", { step: this.#step, field: field.slice(0, 100), characters: event.clipboardData?.getData("text").length ?? 0 });
  }
}

/** Minimum, quartiles and maximum in whole milliseconds; null: fewer than two inputs.
 * @param {number[]} sorted */
function quantiles(sorted) {
  if (!sorted.length) return null;
  return [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(sorted[Math.round(part * (sorted.length - 1))]));
}
