// One tab at a time. With Web Locks the waiting tab wakes as soon as the other is closed; elsewhere (plain http in a
// lab's network) tabs ask each other. The server keeps rounds apart in any case; this is for the person's sake.

const WAIT = 600;

/**
 * @param {string} name
 * @param {{ active: () => void, passive: () => void }} callbacks
 * @returns {Tab}
 */
export function oneTab(name, { active, passive }) {
  if (navigator.locks) return new Locked(name, active, passive);
  if (typeof BroadcastChannel === "function") return new Asked(name, active, passive);
  active();
  return { take() {}, leave() {}, claim() { active(); } };
}

class Locked {
  #name;
  #active;
  #passive;
  /** @type {((value?: unknown) => void) | null} */
  #release = null;
  /** @type {AbortController | null} */
  #queue = null;

  /**
   * @param {string} name
   * @param {() => void} active
   * @param {() => void} passive
   */
  constructor(name, active, passive) {
    this.#name = name;
    this.#active = active;
    this.#passive = passive;
    this.claim();
  }

  /** Wait for one's turn; a page that is just being reloaded gives its lock back within `WAIT`. */
  claim(wait = WAIT) {
    this.#queue?.abort();
    const queue = new AbortController();
    this.#queue = queue;
    const impatient = setTimeout(this.#passive, wait);
    this.#hold({ signal: queue.signal }, () => clearTimeout(impatient));
  }

  take() {
    this.#queue?.abort();
    this.#hold({ steal: true });
  }

  leave() {
    this.#queue?.abort();
    this.#release?.();
  }

  /** @param {LockOptions} options */
  #hold(options, granted = () => {}) {
    let mine = false;
    navigator.locks
      .request(this.#name, options, () => {
        granted();
        mine = true;
        return new Promise((resolve) => {
          this.#release = resolve;
          this.#active();
        });
      })
      .catch(() => {
        granted();
        if (mine) this.claim(0);
      });
  }
}

class Asked {
  #channel;
  #active;
  #passive;
  #mine = false;
  #waiting = 0;
  #asked = 0;

  /**
   * @param {string} name
   * @param {() => void} active
   * @param {() => void} passive
   */
  constructor(name, active, passive) {
    this.#active = active;
    this.#passive = passive;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.claim();
  }

  claim() {
    clearTimeout(this.#waiting);
    this.#asked = performance.now();
    this.#waiting = setTimeout(() => this.#hold("here"), WAIT / 2);
    this.#channel.postMessage("anyone?");
  }

  take() {
    this.#hold("mine");
  }

  leave() {
    clearTimeout(this.#waiting);
    this.#waiting = 0;
    this.#mine = false;
  }

  /** @param {string} word */
  #hold(word) {
    clearTimeout(this.#waiting);
    this.#waiting = 0;
    this.#mine = true;
    this.#channel.postMessage(word);
    this.#active();
  }

  /** @param {string} word */
  #hear(word) {
    if (word === "anyone?") {
      if (this.#mine) this.#channel.postMessage("me");
      return;
    }
    // "me" answers a question, perhaps late; "mine" takes it from the tab that has it; "here" is for tabs that still wait.
    const late = word === "me" && performance.now() - this.#asked < 10 * WAIT;
    if (this.#waiting || (this.#mine && (late || word === "mine"))) {
      this.leave();
      this.#passive();
    }
  }
}
