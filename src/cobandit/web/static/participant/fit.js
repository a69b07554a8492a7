// Words that stay whole: where a label's longest word is wider than its box, the letters become smaller.

/** @typedef {{ nodes: HTMLElement[], texts: string[], turn?: boolean }} Labels labels of one size, and every text they may
 * show; `turn`: words that are too long even in the smallest letters are turned upwards */

const SMALLEST = 9; // pixels; a word that needs smaller letters is hyphenated or broken instead
const SPARE = 1; // pixels between what is measured and what is drawn

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** Return the width of the longest word in the font of an element.
 * @param {CSSStyleDeclaration} style
 * @param {string[]} texts */
function longestWord(style, texts) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (!ruler) return 0;
  const { fontStyle, fontWeight, fontSize, fontFamily } = style;
  ruler.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  const words = texts.flatMap((text) => text.split(/\s+|(?<=-)/));
  return Math.max(0, ...words.map((word) => /** @type {CanvasRenderingContext2D} */ (ruler).measureText(word).width));
}

/** @param {Labels} labels */
function fit({ nodes, texts, turn = false }) {
  for (const node of nodes) {
    node.style.removeProperty("font-size");
    node.classList.remove("tight", "turned");
  }
  let [size, tight] = [Infinity, false];
  for (const node of nodes) {
    const style = getComputedStyle(node);
    const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - SPARE;
    const needed = longestWord(style, texts);
    if (room <= 0 || needed <= room) continue;
    const fitting = (parseFloat(style.fontSize) * room) / needed;
    size = Math.min(size, Math.max(SMALLEST, fitting));
    tight ||= fitting < SMALLEST;
  }
  if (size === Infinity) return;
  if (tight && turn) {
    for (const node of nodes) node.classList.add("turned");
    return;
  }
  for (const node of nodes) {
    node.style.setProperty("font-size", `${Math.floor(10 * size) / 10}px`);
    node.classList.toggle("tight", tight);
  }
}

/**
 * Fit labels now and whenever the width of an element changes.
 * @param {HTMLElement} root
 * @param {Labels[]} groups
 * @param {() => void} [before] is called before each measurement
 */
export function fitWords(root, groups, before) {
  let width = -1;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    before?.();
    groups.forEach(fit);
  }).observe(root);
}

/**
 * Make the first column of a table as wide as its longest word, within limits.
 * @param {HTMLTableElement} table
 * @param {HTMLElement} head a heading of a row
 * @param {string[]} texts
 */
export function fitFirstColumn(table, head, texts) {
  table.style.removeProperty("--row-head");
  const style = getComputedStyle(head);
  const needed = longestWord(style, texts) + parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + 2 * SPARE;
  table.style.setProperty("--row-head", `${Math.ceil(Math.min(needed, 0.3 * table.clientWidth))}px`);
}
