// @ts-check
/** Pictures as inline SVG, so that the pages look the same on every system. */

/** @typedef {"pot" | "secret" | "waiting" | "happy" | "unhappy"} Sign */

/** @param {string} tea */
const cup = (tea) => `<path d="M14 26h36v14a18 14 0 0 1-36 0z" fill="#fff" stroke="#7a6a5a" stroke-width="2"/>
<path d="M50 29h4a6 6 0 0 1 0 12h-5" fill="none" stroke="#7a6a5a" stroke-width="2"/>
<ellipse cx="32" cy="26" rx="18" ry="5" fill="${tea}" stroke="#7a6a5a" stroke-width="2"/>
<path d="M25 17c-3-4 3-5 0-9M38 17c-3-4 3-5 0-9" fill="none" stroke="#a59a8e" stroke-width="2" stroke-linecap="round"/>
<path d="M10 57h44" stroke="#7a6a5a" stroke-width="3" stroke-linecap="round"/>`;

/** @param {string} mouth @param {string} skin */
const face = (mouth, skin) => `<circle cx="32" cy="32" r="26" fill="${skin}" stroke="#8a5a1c" stroke-width="2"/>
<circle cx="23" cy="27" r="3.2" fill="#3a2a18"/><circle cx="41" cy="27" r="3.2" fill="#3a2a18"/>
<path d="${mouth}" fill="none" stroke="#3a2a18" stroke-width="3" stroke-linecap="round"/>`;

const TEAS = [cup("#a9c46c"), cup("#7b3f1d"), cup("#c8375d")];

const CAKES = [
  `<path d="M8 44 36 16l20 10v22H8z" fill="#f7d9a0" stroke="#8a6a3a" stroke-width="2" stroke-linejoin="round"/>
<path d="M8 44 36 16l20 10-3 9-45 9z" fill="#f3a6b4" stroke="#8a6a3a" stroke-width="2" stroke-linejoin="round"/>
<path d="M10 47h46" stroke="#c06a7c" stroke-width="3"/><circle cx="38" cy="14" r="5" fill="#d0324b"/>`,
  `<circle cx="32" cy="33" r="22" fill="#d9a662" stroke="#8a5f2a" stroke-width="2"/>
<g fill="#5a341a"><circle cx="24" cy="26" r="3"/><circle cx="38" cy="24" r="3.4"/><circle cx="30" cy="37" r="3.2"/>
<circle cx="42" cy="38" r="2.8"/><circle cx="21" cy="41" r="2.4"/><circle cx="33" cy="47" r="2.4"/></g>`,
  `<path d="M10 28h44v14c0 6-10 10-22 10s-22-4-22-10z" fill="#b9722a" stroke="#6f4215" stroke-width="2"/>
<ellipse cx="32" cy="28" rx="22" ry="11" fill="#e2a04c" stroke="#6f4215" stroke-width="2"/>
<path d="M32 20v16M20 28h24M24 22l16 12M40 22 24 34" stroke="#8f5a1e" stroke-width="2" stroke-linecap="round"/>`,
];

/** @type {Record<Sign, string>} */
const SIGNS = {
  pot: `<path d="M16 30h30v12a15 13 0 0 1-30 0z" fill="#8fb0b8" stroke="#3f5d66" stroke-width="2"/>
<path d="M16 36C6 36 8 26 2 26M46 32h6a6 7 0 0 1 0 14h-6" fill="none" stroke="#3f5d66" stroke-width="3" stroke-linecap="round"/>
<path d="M18 30a13 8 0 0 1 26 0z" fill="#a9c5cc" stroke="#3f5d66" stroke-width="2"/><circle cx="31" cy="19" r="3" fill="#3f5d66"/>`,
  secret: `<path d="M8 46a24 24 0 0 1 48 0z" fill="#c9c2b8" stroke="#6d6258" stroke-width="2"/>
<circle cx="32" cy="19" r="3.5" fill="#6d6258"/><path d="M5 50h54" stroke="#6d6258" stroke-width="4" stroke-linecap="round"/>`,
  waiting: face("M24 42h16", "#ffd98a"),
  happy: face("M21 38a12 10 0 0 0 22 0", "#ffd98a"),
  unhappy: face("M23 45a11 8 0 0 1 18-1", "#f3cf9a"),
};

/** @param {string} drawing */
const svg = (drawing) => `<svg viewBox="0 0 64 64" aria-hidden="true">${drawing}</svg>`;

/** @param {number} kind */
export const tea = (kind) => svg(TEAS[kind]);
/** @param {number} kind */
export const cake = (kind) => svg(CAKES[kind]);
/** @param {Sign} kind */
export const sign = (kind) => svg(SIGNS[kind]);
