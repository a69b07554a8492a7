// Who the participant plays with: a head of its own for each look, and the badge that names it.

import { el, svg } from "./dom.js";

/** The look of a partner that is not named, and of the robot as the server describes it. */
export const DEFAULT_LOOK = "teal";

/** The colour of each look in three dimensions; study.css has those of the drawings (`.look-NAME`).
 * @type {Record<string, string>} */
export const ROBOT_COLOURS = { teal: "#0b7a95", amber: "#b26a00", violet: "#6a4fc0", rose: "#c2457a" };

/** @type {(x: number, y: number, r?: number) => SVGElement} */
const dot = (x, y, r = 5.5) => svg("circle", { class: "eye", cx: x, cy: y, r });

/** The heads, around their middle; the colour is that of the class `look-NAME`.
 * @type {Record<string, () => SVGElement[]>} */
const HEADS = {
  teal: () => [
    svg("path", { class: "neck", d: "M0-33v-14" }), svg("circle", { class: "teal", cy: -51, r: 6 }),
    svg("rect", { class: "steel edge", x: -36, y: -33, width: 72, height: 66, rx: 24 }),
    svg("rect", { class: "visor", x: -28, y: -19, width: 56, height: 34, rx: 15 }), dot(-13, -3), dot(13, -3),
  ],
  amber: () => [
    svg("path", { class: "neck", d: "M-16-30l-8-16M16-30l8-16" }),
    svg("circle", { class: "teal", cx: -25, cy: -48, r: 5 }), svg("circle", { class: "teal", cx: 25, cy: -48, r: 5 }),
    svg("path", { class: "steel edge", d: "M-40 0L-24-33H24L40 0 24 33H-24z" }),
    svg("rect", { class: "visor", x: -28, y: -14, width: 56, height: 26, rx: 4 }),
    svg("rect", { class: "eye", x: -18, y: -6, width: 10, height: 10 }), svg("rect", { class: "eye", x: 8, y: -6, width: 10, height: 10 }),
  ],
  violet: () => [
    svg("rect", { class: "teal", x: -44, y: -12, width: 10, height: 24, rx: 4 }), svg("rect", { class: "teal", x: 34, y: -12, width: 10, height: 24, rx: 4 }),
    svg("circle", { class: "steel edge", r: 36 }),
    svg("ellipse", { class: "visor", cy: -2, rx: 28, ry: 16 }),
    svg("ellipse", { class: "eye", cx: -11, cy: -2, rx: 4, ry: 8 }), svg("ellipse", { class: "eye", cx: 11, cy: -2, rx: 4, ry: 8 }),
  ],
  rose: () => [
    svg("path", { class: "neck", d: "M0-33v-6" }), svg("path", { class: "arm thin", d: "M-9-48a9 9 0 0 1 18 0" }),
    svg("path", { class: "steel edge", d: "M-24-33h48q7 0 9 8l6 46q1 12-10 12h-58q-11 0-10-12l6-46q2-8 9-8z" }),
    svg("rect", { class: "visor", x: -27, y: -17, width: 54, height: 24, rx: 12 }),
    svg("path", { class: "light", d: "M-17-5h10M7-5h10" }),
  ],
};

HEADS.person = () => [
  svg("circle", { class: "steel edge", cy: -22, r: 20 }),
  svg("path", { class: "steel edge", d: "M-36 36q0-34 36-34t36 34z" }),
];

/** A head to be placed in a drawing.
 * @param {string | undefined} look */
export const head = (look) => svg("g", {}, (HEADS[look ?? ""] ?? HEADS[DEFAULT_LOOK])());

/** A head by itself.
 * @param {string} look */
export function avatar(look) {
  return svg("svg", { class: `avatar look-${look}`, viewBox: "-50 -60 100 100", "aria-hidden": "true" }, head(look));
}

/**
 * The partner's face with a line of text.
 * @param {Partner | undefined} partner
 * @param {string} line
 */
export function badge(partner, line) {
  return partner ? el("span", { class: `badge look-${partner.look}`, "data-look": partner.look }, avatar(partner.look), el("span", {}, line)) : null;
}
