// Choices that the server has not answered yet. Each is kept in the browser before it is sent, under a key that makes
// sending it twice harmless, so neither a reload nor a lost connection loses or doubles one.

export const MOST_AT_ONCE = 200;

export class Moves {
  #store;
  #name;
  /** @type {Move[]} */
  #kept = [];

  /**
   * @param {import("./store.js").Store} store
   * @param {string} name
   */
  constructor(store, name) {
    this.#store = store;
    this.#name = name;
    this.reload();
  }

  /** Read the stored moves again: another tab may have added some. */
  reload() {
    const kept = this.#store.get(this.#name);
    this.#kept = Array.isArray(kept) ? kept.filter(sound) : [];
  }

  get size() {
    return this.#kept.length;
  }

  get all() {
    return [...this.#kept];
  }

  /** The round that comes after everything played and everything chosen.
   * @param {number} played */
  next(played) {
    return Math.max(played, this.#kept.at(-1)?.t ?? 0) + 1;
  }

  /** @param {Move} move */
  add(move) {
    this.#kept.push(move);
    this.#save();
  }

  /** The next request: the episode and its moves in order.
   * @returns {Batch} */
  batch(limit = MOST_AT_ONCE) {
    const { episode } = this.#kept[0];
    const moves = this.#kept.slice(0, limit).filter((move) => move.episode === episode);
    return { episode, moves: moves.map(({ t, arm, key, ms }) => ({ t, arm, key, ms })) };
  }

  /**
   * The server has stored the rounds up to `t`.
   * @param {number} episode
   * @param {number} t
   */
  settle(episode, t) {
    this.#keep((move) => move.episode !== episode || move.t > t);
  }

  /**
   * Keep only what fits a state in which `played` rounds of `episode` are stored: the moves that follow without a gap.
   * `episode` null: nothing fits. Returns how many moves were given up although the server has not their round.
   * @param {number | null} episode
   * @param {number} played
   */
  fit(episode, played) {
    let t = played;
    let given = 0;
    this.#keep((move) => {
      if (move.episode === episode && move.t === t + 1) {
        t += 1;
        return true;
      }
      if (move.episode === episode && move.t > played) given += 1;
      return false;
    });
    return given;
  }

  /** @param {(move: Move) => boolean} fits */
  #keep(fits) {
    const before = this.#kept.length;
    this.#kept = this.#kept.filter(fits);
    if (this.#kept.length !== before) this.#save();
  }

  #save() {
    if (this.#kept.length) this.#store.set(this.#name, this.#kept);
    else this.#store.remove(this.#name);
  }
}

/** @param {any} move */
function sound(move) {
  return Number.isInteger(move?.episode) && Number.isInteger(move.t) && Number.isInteger(move.arm)
    && typeof move.key === "string" && Number.isInteger(move.ms);
}

/** Sends stored moves: one request at a time; moves made in the meantime are in the next request. */
export class Sender {
  #moves;
  #post;
  #answered;
  #refused;
  #busy = false;
  #stopped = false;

  /**
   * `post(batch)` tries until the server answers; then `answered(reply)` or `refused(trouble)` is called.
   * @param {Moves} moves
   * @param {(batch: Batch) => Promise<RoundsReply>} post
   * @param {(reply: RoundsReply) => void} answered
   * @param {(trouble: unknown) => void} refused
   */
  constructor(moves, post, answered, refused) {
    this.#moves = moves;
    this.#post = post;
    this.#answered = answered;
    this.#refused = refused;
  }

  stop() {
    this.#stopped = true;
  }

  async kick() {
    if (this.#busy || this.#stopped) return;
    this.#busy = true;
    try {
      while (this.#moves.size && !this.#stopped) {
        const batch = this.#moves.batch();
        let reply;
        try {
          reply = await this.#post(batch);
        } catch (trouble) {
          if (!this.#stopped) this.#refused(trouble);
          return;
        }
        if (this.#stopped) return;
        if (reply.waiting) { // kept until all members have moved, so that a reload shows the move again
          this.#answered(reply);
          return;
        }
        this.#moves.settle(batch.episode, batch.moves[batch.moves.length - 1].t);
        this.#answered(reply);
      }
    } finally {
      this.#busy = false;
    }
  }
}
