// Regret curves: one line per condition with a band of one standard error. Colours come from the style sheet; each
// algorithm has the one that it has in every report.

import { svg } from "../participant/dom.js";
import { el, number } from "./common.js";

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
/** @param {string} name */
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/** @param {number} place */
const colour = (place) => css(`--c${place % 8}`);
/** @type {(place: number, alpha: number) => string} */
const pale = (place, alpha) => colour(place) + Math.round(alpha * 255).toString(16).padStart(2, "0");

/** The value of a curve at a place; after its end, the last one: episodes of other conditions may be longer.
 * @type {(values: (number | null)[], at: number) => number} */
const latest = (values, at) => values.slice(0, at + 1).filter((value) => value !== null).at(-1) ?? 0;

export class Chart {
  /** @type {Curves} */
  curves = { rounds: [], pending: 0, conditions: [], blind: false };
  drawn = "";
  /** @type {uPlot | null} */
  plot = null;

  /** @param {HTMLElement} figure */
  constructor(figure) {
    this.figure = figure;
    /** @type {(selector: string) => HTMLElement} */
    const part = (selector) => /** @type {HTMLElement} */ (figure.querySelector(selector));
    this.place = part(".plot");
    this.legend = part(".legend");
    this.said = part("[aria-live]");
    this.empty = el("p", { class: "empty soft" }, "No finished episode yet.");
    new ResizeObserver(() => this.fit()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.plot?.redraw(false));
    this.place.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** @param {Curves} curves */
  draw(curves) {
    this.curves = curves;
    const there = curves.conditions.some((one) => one.n > 0);
    const text = JSON.stringify(curves);
    if (text === this.drawn) return;
    this.drawn = text;
    this.empty.textContent = curves.blind ? "Hidden, as long as conditions are." : "No finished episode yet.";
    this.plot?.destroy();
    this.plot = null;
    this.place.replaceChildren();
    if (!there) this.place.append(this.empty);
    else if (typeof uPlot === "undefined") this.place.append(this.staticChart());
    else this.plot = new uPlot(this.options(), this.data(), this.place);
    this.place.dataset.drawn = String(curves.conditions.filter((one) => one.n > 0).length);
    this.place.dataset.n = curves.conditions.map((one) => one.n).join(" ");
    this.tell(curves.rounds.length - 1);
  }

  data() {
    const { rounds, conditions } = this.curves;
    const none = rounds.map(() => null);
    /** @type {(number | null)[][]} */
    const data = [[0, ...rounds]];
    for (const one of conditions) {
      /** @type {(number | null)[]} */
      const mean = one.n ? one.mean : none;
      const spread = one.se ?? mean.map(() => 0);
      data.push([0, ...mean.map((value, i) => (value === null ? null : value + (spread[i] ?? 0)))]);
      data.push([0, ...mean.map((value, i) => (value === null ? null : value - (spread[i] ?? 0)))]);
    }
    for (const one of conditions) data.push([one.n ? 0 : null, ...(one.n ? one.mean : none)]);
    return data;
  }

  options() {
    const { conditions } = this.curves;
    const edges = conditions.flatMap((one) => [one.number, one.number]).map((i) => ({
      stroke: () => pale(i, 0.4), width: 0.6, points: { show: false },
    }));
    const lines = conditions.map((one) => ({
      stroke: () => colour(one.number), width: 2, dash: DASHES[one.number % 4], points: { show: false },
    }));
    const bands = conditions.map((one, i) => ({ series: [2 * i + 1, 2 * i + 2], fill: () => pale(one.number, 0.15) }));
    /** @type {(label: string, more: object) => object} */
    const axis = (label, more) => ({
      label, labelSize: 20, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      stroke: () => css("--ink"), grid: { stroke: () => css("--rule"), width: 1 },
      ticks: { stroke: () => css("--rule"), size: 4 }, ...more,
    });
    /** @type {(plot: uPlot, low: number | null, high: number | null) => [number, number]} */
    const range = (_, low, high) => [Math.min(0, low ?? 0), (high || 1) * 1.06];
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range } },
      axes: [axis("round", { space: 50, size: 30 }), axis("cumulative task regret", { size: 48 })],
      series: [{}, ...edges, ...lines], bands,
      padding: [8, 24, 0, 0],
      hooks: { setCursor: [(/** @type {uPlot} */ plot) => this.tell((plot.cursor.idx || this.curves.rounds.length) - 1)] },
    };
  }

  /** The means as lines in an SVG, where uPlot is not installed. */
  staticChart() {
    const { rounds, conditions } = this.curves;
    const drawn = conditions.filter((one) => one.n > 0);
    const { width, height } = this.size();
    const [left, right, top, bottom] = [48, width - 12, 16, height - 30];
    const last = rounds[rounds.length - 1];
    const values = drawn.flatMap((one) => one.mean.filter((value) => value !== null));
    const [low, high] = [Math.min(0, ...values), Math.max(...values) || 1];
    /** @param {number} value */
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
    /** @param {number} t */
    const x = (t) => left + (t / last) * (right - left);
    const label = (/** @type {string} */ text, /** @type {number} */ at, /** @type {number} */ level) =>
      svg("text", { x: at, y: level, "text-anchor": "end" }, text);
    const lines = drawn.map((one) => {
      const points = one.mean.map((value, i) => (value === null ? "" : `L${x(rounds[i])} ${y(value)}`));
      const line = svg("path", { d: `M${x(0)} ${y(0)}${points.join("")}`, class: "line", "stroke-dasharray": DASHES[one.number % 4].join(" ") });
      line.style.stroke = `var(--c${one.number % 8})`;
      return line;
    });
    return svg("svg", { width, height, class: "static-chart" },
      svg("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "axis" }), lines,
      label(number(high, 1), left - 6, top + 4), label(number(low, 1), left - 6, bottom), label(`round ${number(last)}`, right, bottom + 20));
  }

  size() {
    return { width: Math.max(200, this.place.clientWidth), height: this.place.clientHeight || 280 };
  }

  fit() {
    const { width, height } = this.size();
    this.place.querySelector(".static-chart")?.replaceWith(this.staticChart());
    if (this.plot && this.place.clientWidth && (width !== this.plot.width || height !== this.plot.height)) {
      this.plot.setSize({ width, height });
    }
  }

  /** Show the values of a round in the legend: those of the last round, unless the pointer is on another one.
   * @param {number} at */
  tell(at) {
    const { rounds, conditions, pending } = this.curves;
    const texts = conditions.map((one) => {
      const spread = one.se ? ` ± ${number(latest(one.se, at), 2)}` : "";
      return one.n ? `${number(latest(one.mean, at), 2)}${spread} (n = ${one.n})` : "no data yet";
    });
    if (!conditions.length) {
      this.legend.replaceChildren();
      return "";
    }
    this.legend.replaceChildren(
      el("span", { class: "soft" }, pending ? `Adding up, ${pending} games to go …` : `After round ${number(rounds[at])}:`),
      ...conditions.map((one, i) =>
        el("span", { class: `key key-${one.number % 8}` }, el("span", { class: "swatch", "aria-hidden": "true" }),
          `${one.name} `, el("strong", {}, texts[i]))),
    );
    return `Round ${rounds[at]}. ${conditions.map((one, i) => `${one.name}: ${texts[i]}`).join("; ")}`;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.plot) return;
    const last = this.curves.rounds.length;
    const now = this.plot.cursor.idx ?? last;
    /** @type {Record<string, number>} */
    const keys = {
      ArrowRight: Math.min(last, now + 1), ArrowLeft: Math.max(1, now - 1), Home: 1, End: last,
      PageUp: Math.min(last, now + 10), PageDown: Math.max(1, now - 10),
    };
    const to = keys[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.plot.setCursor({ left: this.plot.valToPos(this.plot.data[0][to], "x"), top: 20 });
    this.said.textContent = this.tell(to - 1);
  }
}
