// Elements in one line. Texts are always text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Words for those who listen only. */
export const unseen = (text) => el("span", { class: "unseen" }, text);

export const paragraphs = (text) =>
  text.trim().split(/\n\s*\n/).map((part) => el("p", {}, part.trim()));

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether a key press belongs to a control that makes something else of it. */
export function typing(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.target instanceof Element && event.target.closest("input, select, textarea, summary, dialog") !== null;
}
