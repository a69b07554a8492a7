// The server's JSON interface, and the patience that a bad connection asks for.

import { uuid } from "./store.js";
import { ROOT } from "../shared/root.js";

const TIMEOUT = 15_000;
const PAUSES = [400, 800, 1600, 3000, 4000];

/** @param {string} token */
export const pageOf = (token) => `${ROOT}/p/${encodeURIComponent(token)}`;

/** An answer that is not the one hoped for; `status` 0: none came at all. */
export class Trouble extends Error {
  /**
   * @param {number} status
   * @param {{ message?: string, error?: string, state?: State }} body
   * @param {number} wait
   */
  constructor(status, body = {}, wait = 0) {
    super(body.message ?? `status ${status}`);
    this.status = status;
    this.code = body.error ?? "";
    this.state = body.state ?? null;
    this.wait = wait;
  }

  /** Whether the same request may well work in a moment. */
  get passing() {
    if (this.code === "damaged") return false;
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  let answer;
  let found;
  try {
    answer = await fetch(ROOT + path, {
      method,
      cache: "no-store",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout?.(TIMEOUT),
    });
    const text = await answer.text();
    found = text ? JSON.parse(text) : {};
  } catch {
    // No answer, half an answer, or a proxy's error page in place of one.
    throw new Trouble(answer && !answer.ok ? answer.status : 0);
  }
  if (answer.ok) return found;
  throw new Trouble(answer.status, found, 1000 * (Number(answer.headers.get("Retry-After")) || 0));
}

/** @param {string} token */
const of = (token, rest = "") => `/api/participants/${encodeURIComponent(token)}${rest}`;
/** @param {string} [language] */
const inLanguage = (language) => (language ? `?language=${encodeURIComponent(language)}` : "");

export const api = {
  /** @type {(name: string, language?: string) => Promise<StudyInfo>} */
  study: (name, language) => call("GET", `/api/studies/${encodeURIComponent(name)}${inLanguage(language)}`),
  /** @type {(name: string, body: object) => Promise<{ token: string }>} */
  begin: (name, body) => call("POST", `/api/studies/${encodeURIComponent(name)}/participants`, body),
  /** @type {(token: string, language?: string) => Promise<State>} */
  state: (token, language) => call("GET", of(token, inLanguage(language))),
  /** @type {(token: string, step: string, language: string | undefined, body: object) => Promise<AnswerReply>} */
  answer: (token, step, language, body) => call("POST", of(token, `/answers/${step}${inLanguage(language)}`), body),
  /** @type {(token: string, language: string | undefined, body: Batch) => Promise<RoundsReply>} */
  rounds: (token, language, body) => call("POST", of(token, `/rounds${inLanguage(language)}`), body),
  /** @type {(token: string, language: string | undefined, ready: boolean) => Promise<LobbyReply>} */
  lobby: (token, language, ready) => call("POST", of(token, `/lobby${inLanguage(language)}`), { here: true, ready }),
  /** @type {(token: string, episode: number, after: number) => Promise<RoundsReply>} */
  team: (token, episode, after) => call("GET", of(token, `/team?episode=${episode}&after=${after}`)),
  /** @type {(token: string, language: string | undefined) => EventSource | null} */
  stream: (token, language) => (typeof EventSource === "undefined" ? null : new EventSource(ROOT + of(token, `/stream${inLanguage(language)}`))),
  /** @type {(token: string) => Promise<{ messages: Note[] }>} */
  notes: (token) => call("GET", of(token, "/messages")),
  /** @type {(token: string, key: string, dismissed: boolean) => Promise<unknown>} */
  noteMessage: (token, key, dismissed) => call("POST", of(token, `/messages/${encodeURIComponent(key)}`), { dismissed }),
  /** @type {(token: string, language: string | undefined) => Promise<State>} */
  withdraw: (token, language) => call("POST", of(token, `/withdrawal${inLanguage(language)}`)),
  /** @type {(token: string) => Promise<{ robot: SimulatedRobot | LabRobot | null }>} */
  robot: (token) => call("GET", of(token, "/robot")),
  /** @type {(token: string, request: number) => Promise<unknown>} */
  placed: (token, request) => call("POST", of(token, "/robot/placed"), { request }),
  /** @type {(language: string, study: string, version: string) => Promise<{ messages: Record<string, string> }>} */
  messages: (language, study, version) => call("GET",
    `/api/messages/${encodeURIComponent(language)}${study ? `?study=${encodeURIComponent(study)}&version=${encodeURIComponent(version)}` : ""}`),

  /**
   * Events may be lost with a closing page, so they go the way that outlives it.
   * @param {string} token
   * @param {object[]} events
   */
  events(token, events) {
    const body = new Blob([JSON.stringify({ events })], { type: "application/json" });
    return navigator.sendBeacon?.(ROOT + of(token, "/events"), body) ?? false;
  },
};

/** Tries until it works. `onChange(true)` says that the connection is lost, `onChange(false)` that it is back. */
export class Link {
  #onChange;
  #lost = false;
  /** @type {Set<() => void>} */
  #wake = new Set();

  /** @param {(lost: boolean) => void} onChange */
  constructor(onChange = () => {}) {
    this.#onChange = onChange;
    const now = () => this.wake();
    addEventListener("online", () => {
      if (!this.#wake.size) this.#tell(false);
      now();
    });
    addEventListener("offline", () => this.#tell(true));
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && now());
  }

  get lost() {
    return this.#lost;
  }

  wake() {
    for (const go of [...this.#wake]) go();
  }

  /**
   * The answer of `request`, asked for again and again while the trouble may pass and `wanted` holds.
   * @template T
   * @param {() => Promise<T>} request
   * @returns {Promise<T>}
   */
  async insist(request, wanted = () => true) {
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = await request();
        this.#tell(false);
        return answer;
      } catch (trouble) {
        if (!(trouble instanceof Trouble) || !trouble.passing || !wanted()) {
          if (trouble instanceof Trouble && !trouble.passing) this.#tell(false);
          throw trouble;
        }
        // A server that is only busy is no lost connection, unless it stays so.
        if (trouble.status === 0 || tries >= 2) this.#tell(true);
        const pause = Math.max(PAUSES[Math.min(tries, PAUSES.length - 1)], Math.min(trouble.wait, 10_000));
        await this.#rest(pause * (0.75 + 0.5 * Math.random()));
        if (!wanted()) throw trouble;
      }
    }
  }

  /**
   * @param {number} pause
   * @returns {Promise<void>}
   */
  #rest(pause) {
    return new Promise((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#wake.delete(go);
        resolve();
      };
      const timer = setTimeout(go, pause);
      this.#wake.add(go);
    });
  }

  /** @param {boolean} lost */
  #tell(lost) {
    if (lost === this.#lost) return;
    this.#lost = lost;
    this.#onChange(lost);
  }
}

/** What happened around the task (hidden, offline, ...), sent now and then and when the page goes away. */
export class Events {
  #token;
  /** @type {{ kind: string, at: number, data: object, key: string }[]} */
  #waiting = [];
  #timer = 0;

  /** @param {string} token */
  constructor(token) {
    this.#token = token;
    addEventListener("pagehide", () => this.flush());
  }

  /** @param {string} kind */
  note(kind, data = {}) {
    this.#waiting.push({ kind, at: Date.now(), data, key: uuid() });
    this.#waiting = this.#waiting.slice(-50);
    if (kind === "hidden") this.flush();
    else this.#timer ||= setTimeout(() => this.flush(), 3000);
  }

  /** Drop unsent events: the participant has withdrawn. */
  forget() {
    this.#waiting = [];
  }

  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.#waiting.length) return;
    if (navigator.onLine !== false && api.events(this.#token, this.#waiting)) this.#waiting = [];
    else this.#timer = setTimeout(() => this.flush(), 10_000);
  }
}
