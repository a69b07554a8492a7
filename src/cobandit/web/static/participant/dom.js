// Elements in one line. Texts are always text, never markup.

import { ROOT } from "../shared/root.js";

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

/** The address of a file of the design; null for anything else.
 * @param {string | undefined} src */
export const mediaAddress = (src) => (/^[0-9a-f]{64}\/[\w-]+\.[a-z0-9]{3,4}$/.test(src ?? "") ? `${ROOT}/media/${src}` : null);

/** A picture or video of the design.
 * @param {Exclude<Marked, string>} node */
function shown({ tag, src, alt }) {
  const address = mediaAddress(src);
  if (!address) return null;
  return tag === "video"
    ? el("video", { src: address, "aria-label": alt, controls: true, preload: "metadata", playsinline: true })
    : el("img", { src: address, alt, decoding: "async" });
}

const TAGS = new Set(["p", "h2", "h3", "h4", "ul", "ol", "li", "blockquote", "hr", "br", "em", "strong", "code", "a"]);

/**
 * Elements of a text in Markdown, from its tree: tags that are known, texts as texts, links to the web and to mail, and
 * the files of the design.
 * @param {readonly Marked[]} nodes
 * @returns {Child[]}
 */
export const marked = (nodes) => nodes.map((node) => {
  if (typeof node === "string") return node;
  if (node.tag === "img" || node.tag === "video") return shown(node);
  const inside = marked(node.of);
  if (!TAGS.has(node.tag)) return inside;
  const href = node.tag === "a" && /^(https?:\/\/|mailto:)/i.test(node.href ?? "") ? node.href : null;
  return el(/** @type {"p"} */ (node.tag), { href, target: href && "_blank", rel: href && "noopener noreferrer", start: node.start }, inside);
});

/** A text of the design, plain or in Markdown.
 * @param {{ text: string, marked?: Marked[] }} written */
export const prose = (written) => (written.marked ? marked(written.marked) : paragraphs(written.text));

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether a key press belongs to a control that makes something else of it.
 * @param {KeyboardEvent} event */
export function typing(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.target instanceof Element && event.target.closest("input, select, textarea, summary, dialog") !== null;
}
