// What the browser remembers. Where it may remember nothing (private windows, blocked storage), this page's life is enough.

class Memory {
  /** @type {Map<string, string>} */
  #kept = new Map();
  /** @param {string} name */
  getItem(name) { return this.#kept.get(name) ?? null; }
  /**
   * @param {string} name
   * @param {string} text
   */
  setItem(name, text) { this.#kept.set(name, text); }
  /** @param {string} name */
  removeItem(name) { this.#kept.delete(name); }
}

/** @param {() => Place} pick */
function usable(pick) {
  try {
    const storage = pick();
    storage.setItem("cobandit:probe", "1");
    storage.removeItem("cobandit:probe");
    return storage;
  } catch {
    return null;
  }
}

export class Store {
  #places;

  /** @param {...Place} places */
  constructor(...places) {
    this.#places = places;
  }

  /** @param {string} name */
  get(name) {
    for (const place of this.#places) {
      try {
        const text = place.getItem(name);
        if (text !== null) return JSON.parse(text);
      } catch {
        this.remove(name);
      }
    }
    return null;
  }

  /**
   * A full disk must not stop anybody from playing, so the value then stays in memory.
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    const text = JSON.stringify(value);
    for (const place of this.#places) {
      try {
        place.setItem(name, text);
        return;
      } catch { /* the next place */ }
    }
  }

  /** @param {string} name */
  remove(name) {
    for (const place of this.#places) {
      try {
        place.removeItem(name);
      } catch { /* nothing kept there */ }
    }
  }
}

/** @param {() => Place} pick */
const open = (pick) => new Store(...[usable(pick), new Memory()].filter((place) => place !== null));

/** Kept until removed. */
export const lasting = open(() => window.localStorage);

/** Kept as long as the tab is open: on a shared computer, others must not see answers that are not sent yet. */
export const passing = open(() => window.sessionStorage);

/** A random UUID; `crypto.randomUUID` is missing on plain http in a lab's network. */
export function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
