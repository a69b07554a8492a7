// The icon of an arm: an emoji, one of our symbols in one of our colours ("cup", "cup brown"), or a picture of the design.

import { el, mediaAddress, svg } from "./dom.js";

const DEFAULT_COLOUR = "blue";

/** @type {(d: string, kind?: string) => SVGElement} */
const path = (d, kind = "symbol-fill") => svg("path", { class: kind, d });
/** @type {(cx: number, cy: number, r: number, kind?: string) => SVGElement} */
const disc = (cx, cy, r, kind = "symbol-fill") => svg("circle", { class: kind, cx, cy, r });
/** @type {(d: string) => SVGElement} */
const line = (d) => path(d, "symbol-line");

/** Every symbol in a square of 48, in the order of `cobandit.studies.icons.SYMBOLS`.
 * @type {Record<string, () => SVGElement[]>} */
const SYMBOLS = {
  circle: () => [disc(24, 24, 18)],
  square: () => [svg("rect", { class: "symbol-fill", x: 7, y: 7, width: 34, height: 34, rx: 5 })],
  triangle: () => [path("M24 6 44 40H4z")],
  diamond: () => [path("M24 4 42 24 24 44 6 24z")],
  star: () => [path("M24 4l6 13.5 14.5 1.5-11 10 3.2 14.5L24 36l-12.7 7.5 3.2-14.5-11-10L18 17.5z")],
  heart: () => [path("M24 42C-4 24 6 6 15 6q7 0 9 8 2-8 9-8c9 0 19 18-9 36z")],
  drop: () => [path("M24 4q15 19 15 27a15 13 0 0 1-30 0Q9 23 24 4z"), line("M16 31q1 6 7 7")],
  leaf: () => [path("M8 40Q2 10 42 6q2 36-28 31z"), line("M6 44Q18 28 30 18")],
  flame: () => [path("M25 3q3 9 9 15t5 14a15 14 0 0 1-30 0q0-8 6-14 0 6 4 8 4-10 6-23z"), line("M24 42q-6-5 0-13 6 8 0 13")],
  fruit: () => [path("M24 13Q40 6 42 25 41 43 24 43T6 25Q8 6 24 13z"), line("M24 13q0-5 4-9"), path("M28 9q7-7 13-3-5 7-13 3z", "symbol-leaf")],
  berries: () => [disc(15, 31, 10), disc(33, 31, 10), disc(24, 17, 10), line("M24 8q1-4 5-5")],
  nut: () => [path("M24 44Q7 34 9 21h30q2 13-15 23z"), path("M6 21Q7 8 24 8t18 13z", "symbol-dark"), line("M24 8V3")],
  scoop: () => [path("M13 27 24 46 35 27z", "symbol-cone"), path("M9 25a15 15 0 0 1 30 0q0 4-4 4-3 0-4-2-2 3-5 3-2 0-3-2-2 2-4 2-3 0-4-3-1 2-3 2-3 0-3-4z")],
  wafer: () => [svg("rect", { class: "symbol-fill", x: 8, y: 5, width: 32, height: 38, rx: 4 }), line("M18.5 5v38M29.5 5v38M8 17.5h32M8 30.5h32")],
  cup: () => [line("M37 22q8-1 8 5t-9 6"), path("M6 19h32v10q0 13-12 13h-8Q6 42 6 29z"), path("M9 19h26v3q-13 4-26 0z", "symbol-dark"), line("M16 13q-3-4 0-8M26 13q-3-4 0-8")],
};

/** Return an icon, hidden from screen readers, because the label names the arm.
 * @param {string} icon */
export function symbol(icon) {
  const picture = mediaAddress(icon);
  if (picture) return el("img", { class: "icon emoji picture", src: picture, alt: "" });
  const [name, colour = DEFAULT_COLOUR] = icon.split(" ");
  if (!(name in SYMBOLS)) return el("span", { class: "icon emoji", "aria-hidden": "true" }, icon);
  return svg("svg", { class: `icon symbol symbol-${colour}`, viewBox: "0 0 48 48", "aria-hidden": "true" }, SYMBOLS[name]());
}
