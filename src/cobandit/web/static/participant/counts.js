// The table of outcomes per configuration: rows are the participant's arms, columns those of all others together.

import { combinations } from "../shared/seats.js";
import { el, svg, unseen } from "./dom.js";
import { fitFirstColumn, fitWords } from "./fit.js";

/** A satisfied customer, or a disappointed one. @param {boolean} good */
export function face(good) {
  return svg("svg", { class: `face ${good ? "good" : "bad"}`, viewBox: "0 0 24 24", "aria-hidden": "true" },
    svg("circle", { cx: 12, cy: 12, r: 10 }),
    svg("path", { class: "line", d: good ? "M7.5 14q4.5 5 9 0" : "M8.5 16.8q3.5-3 7 0" }),
    svg("path", { class: "line", d: good ? "M8.5 8.5v1.5M15.5 8.5v1.5" : "M8.5 9.8v1.5M15.5 9.8v1.5M6.6 8.2l2.8-1.5M17.4 8.2l-2.8-1.5" }));
}

const MOST_COLUMNS = 6;

export class Counts {
  /** @type {Map<string, { node: HTMLElement, good: HTMLElement, bad: HTMLElement, counts: [number, number], score: number }>} */
  #cells = new Map();
  #score;
  #texts;
  good = 0;
  bad = 0;
  score = 0;

  /**
   * `picture(i, j)` may give a drawing for a cell of a team of two, `symbol(seat, arm)` one for a heading.
   * @param {State} state
   * @param {Texts} texts
   * @param {Scene["picture"] | null} picture
   * @param {Scene["symbol"] | null} symbol
   * @param {number} layer of a task with layers
   */
  constructor(state, texts, picture = null, symbol = null, layer = 0) {
    this.#texts = texts;
    this.#score = state.task.score;
    const { arms, seat } = state.task;
    const columns = state.episode.hidden ? [arms.map(() => null)] : combinations(arms, seat);
    const own = range(arms[seat]);
    // In more columns the numbers would overlap, so each combination of the others is a row.
    const tall = arms.length > 2 && columns.length > MOST_COLUMNS;
    /** @type {(mine: number, scope: string) => HTMLElement} */
    const mineHead = (mine, scope) => el("th", { scope }, symbol?.(seat, mine), el("span", { class: "words" }, texts.arm(seat, mine, layer)));
    /** @type {(column: (number | null)[], scope: string) => HTMLElement} */
    const othersHead = (column, scope) => el("th", { scope }, state.episode.hidden ? texts.say("counts.hidden") : column.flatMap((arm, i) => (i === seat || arm === null ? [] : [el("span", {}, symbol?.(i, arm), el("span", { class: "words" }, texts.arm(i, arm, layer)), " ")])));
    /** @type {(mine: number, column: (number | null)[]) => HTMLElement} */
    const outcomes = (mine, column) => {
      const cell = column.map((arm, i) => (i === seat ? mine : arm));
      const [first, second] = cell;
      return this.#cell(cell, cell.length === 2 && first !== null && second !== null ? picture?.(first, second) : undefined);
    };
    const head = el("tr", {}, el("th", { scope: "col" }, unseen(texts.own("task.participant"))),
      tall ? own.map((mine) => mineHead(mine, "col")) : columns.map((column) => othersHead(column, "col")));
    const body = tall
      ? columns.map((column) => el("tr", {}, othersHead(column, "row"), own.map((mine) => outcomes(mine, column))))
      : own.map((mine) => el("tr", {}, mineHead(mine, "row"), columns.map((column) => outcomes(mine, column))));
    const caption = texts.say("counts.caption", { configuration: texts.own("task.configuration") });
    const many = columns.length > 3;
    // A table that may have to be scrolled can be reached by keyboard.
    const scroll = many ? { class: "scroll", tabindex: "0", role: "group", "aria-label": caption } : { class: "scroll" };
    const table = el("table", { class: tall ? "counts many tall" : many ? "counts many" : "counts" },
      el("caption", {}, caption),
      el("thead", {}, head), el("tbody", {}, body));
    table.style.setProperty("--rows", String(body.length));
    this.element = el("div", scroll, table);
    /** @type {(heads: NodeListOf<HTMLElement>) => { nodes: HTMLElement[], texts: string[] }} */
    const labels = (heads) => ({ nodes: [...heads], texts: [...heads].map((node) => node.textContent ?? "") });
    const rows = labels(table.querySelectorAll("tbody th"));
    if (!tall) fitWords(this.element, [rows, { ...labels(table.querySelectorAll("thead th:not(:first-child)")), turn: true }],
      () => fitFirstColumn(table, rows.nodes[0], rows.texts));
    for (const { arms, good, bad, score } of state.episode.counts) this.#set(arms, good, bad, score);
    this.score = state.episode.score ?? 0;
    this.good = state.episode.good;
    this.bad = state.episode.bad;
  }

  /**
   * @param {(number | null)[]} arms
   * @param {Element} [picture]
   */
  #cell(arms, picture) {
    const good = el("b", {});
    const bad = el("b", {});
    const node = el("td", {}, el("div", { class: "cell" }, picture, this.#score ? scored(good, bad) : el("div", { class: "tally" },
      el("span", {}, face(true), good, unseen(` ${this.#texts.own("task.good")}, `)),
      el("span", {}, face(false), bad, unseen(` ${this.#texts.own("task.bad")}`)))));
    this.#cells.set(arms.join("-"), { node, good, bad, counts: [0, 0], score: 0 });
    return node;
  }

  /**
   * @param {(number | null)[]} arms
   * @param {number} good
   * @param {number} bad
   * @param {number} score
   */
  #set(arms, good, bad, score = 0) {
    const cell = this.#at(arms);
    cell.counts = [good, bad];
    cell.score = score;
    if (this.#score) {
      cell.good.textContent = good ? this.#texts.points(score / good, this.#score) : "–";
      cell.bad.textContent = good ? `${this.#texts.shown(good)} ×` : "";
      cell.node.title = this.#texts.say("counts.points", { n: good });
      return;
    }
    cell.good.textContent = this.#texts.shown(good);
    cell.bad.textContent = this.#texts.shown(bad);
  }

  /** @param {(number | null)[]} arms */
  #at(arms) {
    const cell = this.#cells.get(arms.join("-"));
    if (!cell) throw new Error(`There is no cell ${arms.join("-")}.`);
    return cell;
  }

  /** A round that the server has answered.
   * @param {Round} round */
  add({ arms, good, score }) {
    if (this.#score) {
      if (score === null || score === undefined) return;
      const cell = this.#at(arms);
      this.#set(arms, cell.counts[0] + 1, 0, cell.score + score);
      this.good += 1;
      this.score += score;
      return;
    }
    if (good === null) return;
    const [before, worse] = this.#at(arms).counts;
    this.#set(arms, before + (good ? 1 : 0), worse + (good ? 0 : 1));
    if (good) this.good += 1;
    else this.bad += 1;
  }

  /** Mark the latest configuration; null: none.
   * @param {(number | null)[] | null} arms */
  mark(arms) {
    for (const [key, { node }] of this.#cells) node.classList.toggle("latest", arms !== null && key === arms.join("-"));
  }
}

/** The mean score of a configuration, and how often it was seen.
 * @param {HTMLElement} mean
 * @param {HTMLElement} count */
const scored = (mean, count) => el("div", { class: "tally scored" }, el("span", {}, mean), el("span", { class: "soft" }, count));

/** @param {number} n */
export const range = (n) => Array.from({ length: n }, (_, i) => i);
