// Elements in one line. Texts are always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes | null | undefined} attributes
 * @param {Child[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") /** @type {any} */ (node)[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  const all = /** @type {any[]} */ (children).flat(Infinity);
  node.append(...all.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 */
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 */
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Words for those who listen only.
 * @param {string} text */
export const unseen = (text) => el("span", { class: "unseen" }, text);

/** @param {string} text */
export const paragraphs = (text) =>
  text.trim().split(/\n\s*\n/).map((part) => el("p", {}, part.trim()));

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether a key press belongs to a control that makes something else of it.
 * @param {KeyboardEvent} event */
export function typing(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.target instanceof Element && event.target.closest("input, select, textarea, summary, dialog") !== null;
}
