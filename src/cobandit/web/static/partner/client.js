// @ts-check
/**
 * A client of the cobandit partner service, for browsers, Node, Deno and Bun: an ES module without dependencies.
 *
 * An API key opens all games of its tenant. Do not send one to visitors' browsers: let your own server call the
 * service, or give visitors a proxy that adds the key and allows their own game only.
 *
 *   import { PartnerClient } from "./client.js";
 *   const client = new PartnerClient("http://127.0.0.1:8000", process.env.COBANDIT_KEY);
 *   const game = await client.newGame("drinks", "table-4");
 *   const choice = await game.choose();
 *   await game.observe({ round: choice.round, action: [dish, choice.arm], reward: 1 });
 *
 * Requests are retried where the server cannot be reached, is busy or limits the rate. Names, rounds, events and keys
 * make a repeated request count once.
 */

/**
 * The partner's arm in a round; `predictions` are the arms of other seats that it foresaw, by seat.
 * @typedef {{ round: number, arm: number, predictions?: Record<string, number>, event?: string, shadow?: boolean }}
 *   Choice
 */
/** @typedef {{ round: number, duplicate: boolean, complete: boolean, next: Choice }} Observed */
/**
 * Feedback on a round, named by its number or its event. Without `reward` it comes later; null: nothing was seen.
 * @typedef {{ round?: number, event?: string, action?: number[], reward?: number | null, override?: boolean,
 *   key?: string }} Feedback
 */
/**
 * A round of the history. Without `reward` the service waits for it; `default`: the default reward counts.
 * @typedef {{ round: number, arm: number | null, action: number[] | null, predictions?: Record<string, number>,
 *   reward?: number | null, event?: string, at?: number, reward_at?: number, default?: boolean }} PlayedRound
 */
/** @typedef {{ rounds: PlayedRound[], more: boolean, next: Choice }} History */
/**
 * @typedef {{ agent: string, arms: number[], seat: number, horizon?: number, options?: Record<string, unknown>,
 *   observability?: number[] | null, observation?: string, noise?: number[] | null, roles?: string | number[],
 *   binary?: boolean | null, shadow?: boolean,
 *   default?: { reward: number | null, rounds?: number, seconds?: number } | null }} TeamSetting
 */

const PASSING = [429, 502, 503, 504];
const LONGEST_PAUSE_MS = 10_000;

/** The service refuses a request: `status` and `code` are for programs, `message` is for people. */
export class PartnerError extends Error {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   */
  constructor(status, code, message) {
    super(message);
    this.name = "PartnerError";
    this.status = status;
    this.code = code;
  }
}

export class PartnerClient {
  /** @type {string} */ #url;
  /** @type {Record<string, string>} */ #headers;
  /** @type {number} */ #retries;
  /** @type {number} */ #timeout;

  /**
   * @param {string} url The address of the service, or of your own proxy before it.
   * @param {string | null} [key] The API key; null: the proxy adds it.
   * @param {{ retries?: number, timeout?: number }} [options] `timeout` in milliseconds.
   */
  constructor(url, key = null, { retries = 8, timeout = 10_000 } = {}) {
    this.#url = url.replace(/\/+$/, "");
    this.#headers = key === null ? {} : { authorization: `Bearer ${key}` };
    this.#retries = retries;
    this.#timeout = timeout;
  }

  /**
   * Create a team, or get the one that is there.
   * @param {string} name
   * @param {TeamSetting} setting
   * @returns {Promise<Record<string, unknown>>}
   */
  createTeam(name, setting) {
    return this.request("POST", "/v1/teams", { team: name, ...setting });
  }

  /**
   * Begin a game, or continue the one of this name; `state` imports an exported one.
   * @param {string} team
   * @param {string} [name]
   * @param {{ seed?: number, state?: object }} [from]
   * @returns {Promise<Game>}
   */
  async newGame(team, name = crypto.randomUUID(), from = {}) {
    await this.request("POST", `/v1/teams/${encodeURIComponent(team)}/games`, { game: name, ...from });
    return this.game(team, name);
  }

  /**
   * Return a game that is there already, without asking the server.
   * @param {string} team
   * @param {string} name
   */
  game(team, name) {
    return new Game(this, team, name);
  }

  /**
   * Send a request, again where that may help, and return the answer.
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  async request(method, path, body) {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const headers = content === undefined ? this.#headers : { ...this.#headers, "content-type": "application/json" };
    for (let attempt = 0; ; attempt++) {
      let response = null;
      let problem = null;
      try {
        response = await fetch(this.#url + path, {
          method,
          headers,
          body: content,
          signal: AbortSignal.timeout(this.#timeout),
        });
        if (!PASSING.includes(response.status)) {
          const answer = parsed(await response.text());
          if (response.ok && answer !== null) return answer;
          if (response.status === 404 && method === "DELETE" && attempt > 0) return { done: true };
          const message = answer?.message ?? `The server at ${this.#url} answers ${response.status}.`;
          throw new PartnerError(response.status, answer?.error ?? "unknown", message);
        }
      } catch (error) {
        if (error instanceof PartnerError) throw error;
        problem = error;
      }
      if (attempt >= this.#retries) {
        const why = response === null ? String(problem) : `it answers ${response.status}`;
        throw new PartnerError(response?.status ?? 0, "unreachable", `The service cannot be reached: ${why}.`);
      }
      const asked = 1000 * Number(response?.headers.get("retry-after") ?? 0);
      const pause = Math.min(LONGEST_PAUSE_MS, asked || 50 * 2 ** attempt) * (1 + Math.random() / 4);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/**
 * Return the object in an answer; null: it holds none, so it is not one of the service.
 * @param {string} text
 * @returns {any}
 */
function parsed(text) {
  try {
    const answer = JSON.parse(text);
    return typeof answer === "object" ? answer : null;
  } catch {
    return null;
  }
}

/** A game of a team. */
export class Game {
  /** @type {PartnerClient} */ #client;
  /** @type {string} */ #path;
  #ended = 0;

  /**
   * @param {PartnerClient} client
   * @param {string} team
   * @param {string} name
   */
  constructor(client, team, name) {
    this.#client = client;
    this.team = team;
    this.name = name;
    this.#path = `/v1/teams/${encodeURIComponent(team)}/games/${encodeURIComponent(name)}`;
  }

  /**
   * Return the partner's arm: of the current round, of a round, or of an event, which may open a new round.
   * @param {{ round?: number, event?: string }} [which]
   * @returns {Promise<Choice>}
   */
  choose(which) {
    return this.#client.request("POST", `${this.#path}/choose`, which ?? { after: this.#ended });
  }

  /**
   * Report the team action, the seen reward, or both.
   * @param {Feedback} feedback
   * @returns {Promise<Observed>}
   */
  async observe(feedback) {
    if (typeof feedback.reward === "number" && !Number.isFinite(feedback.reward)) {
      throw new RangeError(`reward must be a finite number or null, got ${feedback.reward}.`); // JSON would make it null
    }
    /** @type {Observed} */
    const observed = await this.#client.request("POST", `${this.#path}/observe`, feedback);
    this.#ended = Math.max(this.#ended, observed.next.round - 1);
    return observed;
  }

  /**
   * Return rounds in order.
   * @param {{ after?: number, limit?: number }} [part]
   * @returns {Promise<History>}
   */
  history({ after = 0, limit = 100 } = {}) {
    return this.#client.request("GET", `${this.#path}/rounds?after=${after}&limit=${limit}`);
  }

  /**
   * Return where the game is.
   * @returns {Promise<any>}
   */
  view() {
    return this.#client.request("GET", this.#path);
  }

  /**
   * Return the whole state, for `newGame` here or on another server.
   * @returns {Promise<any>}
   */
  state() {
    return this.#client.request("GET", `${this.#path}/state`);
  }

  /** Delete the game with its history. */
  async delete() {
    await this.#client.request("DELETE", this.#path);
  }
}
