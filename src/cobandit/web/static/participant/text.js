// The words of a page: messages of the software by key, and the words that the study's design brings along.

export class Texts {
  #messages;
  #own;
  #plural;
  #number;

  constructor(language, messages, own = {}) {
    this.language = language;
    this.#messages = messages;
    this.#own = own;
    this.#plural = new Intl.PluralRules(language);
    this.#number = new Intl.NumberFormat(language);
  }

  with(own) {
    return new Texts(this.language, this.#messages, own);
  }

  /** A message; where it has forms such as `key.one` and `key.other`, the number `n` decides. */
  say(key, values = {}) {
    let text = this.#messages[key];
    if (text === undefined && typeof values.n === "number") {
      text = this.#messages[`${key}.${this.#plural.select(values.n)}`] ?? this.#messages[`${key}.other`];
    }
    if (text === undefined) return key;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? this.shown(values[name]) : whole));
  }

  knows(key) {
    return key in this.#messages;
  }

  /** A text of the design: `own("task.partner")`. */
  own(key) {
    return this.#own[key] ?? key;
  }

  arm(agent, arm) {
    return this.own(`task.arms.${agent}.${arm}`);
  }

  outcome(good) {
    if (good === null) return this.say("round.unseen");
    return this.own(good ? "task.good" : "task.bad");
  }

  /** With a capital first letter, as at the start of a line. */
  capital(text) {
    const [first = "", ...rest] = text;
    return first.toLocaleUpperCase(this.language) + rest.join("");
  }

  shown(value) {
    return typeof value === "number" ? this.#number.format(value) : String(value);
  }
}

/** The name of a language in itself. */
export function languageName(language) {
  try {
    const name = new Intl.DisplayNames([language], { type: "language" }).of(language);
    return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
  } catch {
    return language;
  }
}
