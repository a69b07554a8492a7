// Looking around with the mouse or a finger. A drag turns the view; a tap stays a tap. On a touch screen only sideways
// drags turn, so that the page can still be scrolled.

const TURN = 0.008; // radians per pixel
const TAP = 6; // pixels
const [LOWEST, HIGHEST] = [-0.32, 0.7];
const WIDEST = 1.5;

export class Orbit {
  /** By how much the person has turned the view: around the table, and up or down. */
  turn = 0;
  tilt = 0;
  #moved = 0;
  #down = false;

  /**
   * @param {HTMLElement} element
   * @param {() => void} changed
   */
  constructor(element, changed) {
    let [x, y] = [0, 0];
    element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !event.isPrimary) return;
      this.#down = true;
      this.#moved = 0;
      [x, y] = [event.clientX, event.clientY];
    });
    element.addEventListener("pointermove", (event) => {
      if (!this.#down || !event.isPrimary) return;
      const [dx, dy] = [event.clientX - x, event.clientY - y];
      this.#moved += Math.abs(dx) + Math.abs(dy);
      if (this.#moved > TAP && !element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      [x, y] = [event.clientX, event.clientY];
      this.turn = within(this.turn - TURN * dx, -WIDEST, WIDEST);
      if (event.pointerType === "mouse") this.tilt = within(this.tilt + TURN * dy, LOWEST, HIGHEST);
      changed();
    });
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) {
      element.addEventListener(kind, () => { this.#down = false; });
    }
    // A click at the end of a drag is none.
    element.addEventListener("click", (event) => {
      if (this.#moved > TAP) event.stopPropagation();
      this.#moved = 0;
    });
  }
}

/** @type {(value: number, low: number, high: number) => number} */
const within = (value, low, high) => Math.min(high, Math.max(low, value));
