// The words of a page: messages of the software by key, and the words that the study's design brings along.

export class Texts {
  #messages;
  #own;
  #plural;
  #number;

  /**
   * @param {string} language
   * @param {Record<string, string>} messages
   * @param {Record<string, string>} own
   */
  constructor(language, messages, own = {}) {
    this.language = language;
    this.#messages = messages;
    this.#own = own;
    this.#plural = new Intl.PluralRules(language);
    this.#number = new Intl.NumberFormat(language);
  }

  /** @param {Record<string, string>} own */
  with(own) {
    return new Texts(this.language, this.#messages, own);
  }

  /**
   * A message; where it has forms such as `key.one` and `key.other`, the number `n` decides.
   * @param {string} key
   * @param {Values} values
   */
  say(key, values = {}) {
    let text = this.#messages[key];
    if (text === undefined && typeof values.n === "number") {
      text = this.#messages[`${key}.${this.#plural.select(values.n)}`] ?? this.#messages[`${key}.other`];
    }
    if (text === undefined) return key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? this.shown(values[name]) : whole));
  }

  /** @param {string} key */
  knows(key) {
    return key in this.#messages;
  }

  /** A text of the design: `own("task.partner")`.
   * @param {string} key */
  own(key) {
    return this.#own[key] ?? key;
  }

  /**
   * @param {number} seat
   * @param {number} arm
   * @param {number} layer of a task with layers
   */
  arm(seat, arm, layer = 0) {
    return this.own(layer ? `task.layers.${layer - 1}.${seat}.${arm}` : `task.arms.${seat}.${arm}`);
  }

  /** The name of a seat; in a team of two, that of the participant or of the partner.
   * @param {number} seat
   * @param {number} mine the participant's seat */
  seat(seat, mine) {
    return this.#own[`seats.${seat}`] ?? this.own(seat === mine ? "task.participant" : "task.partner");
  }

  /** The arms of all but the participant, in one line; without hidden ones.
   * @param {(number | null)[]} arms
   * @param {number} mine the participant's seat
   * @param {number} layer of a task with layers */
  others(arms, mine, layer = 0) {
    return arms.map((arm, seat) => (seat === mine || arm === null ? "" : this.arm(seat, arm, layer))).filter(Boolean).join(" + ");
  }

  /** @param {boolean | null} good */
  outcome(good) {
    if (good === null) return this.say("round.unseen");
    return this.own(good ? "task.good" : "task.bad");
  }

  /** The outcome of a round: a score, where the study has scores, or good or bad.
   * @param {Round} round
   * @param {State["task"]} task */
  result(round, task) {
    if (!task.score || round.score === null || round.score === undefined) return this.outcome(round.good);
    return this.say("round.points", { n: round.score, points: this.points(round.score, task.score) });
  }

  /** A score, with its decimals.
   * @param {number} value
   * @param {Score} score */
  points(value, { decimals }) {
    return value.toLocaleString(this.language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  }

  /** With a capital first letter, as at the start of a line.
   * @param {string} text */
  capital(text) {
    const [first = "", ...rest] = text;
    return first.toLocaleUpperCase(this.language) + rest.join("");
  }

  /** @param {unknown} value */
  shown(value) {
    return typeof value === "number" ? this.#number.format(value) : String(value);
  }
}

/** The name of a language in itself.
 * @param {string} language */
export function languageName(language) {
  try {
    const name = new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
    return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
  } catch {
    return language;
  }
}
