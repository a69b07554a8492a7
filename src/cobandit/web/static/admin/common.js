// What all pages of the researcher use: elements, the server, words for times, dialogs, copying.

import { ROOT } from "../shared/root.js";

/**
 * An element in one line. Texts are always text, never markup.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 */
export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  const all = /** @type {any[]} */ (children).flat(Infinity);
  node.append(...all.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/**
 * An element of the page. The templates hold it, and say what kind it is.
 * @param {string} id
 * @returns {any}
 */
export const find = (id) => document.getElementById(id);

/**
 * Change a text only where it differs: what people select or hear is not disturbed.
 * @param {Node} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// The server

const token = document.querySelector('meta[name="form-token"]')?.getAttribute("content") ?? "";

// A page whose researcher is logging out must not go elsewhere: that would cancel the log-out's own navigation.
let loggingOut = false;
document.querySelector('form[action$="/admin/logout"]')?.addEventListener("submit", () => {
  loggingOut = true;
});
addEventListener("pageshow", () => {
  loggingOut = false;
});

export class Trouble extends Error {
  /**
   * @param {number} status
   * @param {{ error?: string, message?: string } | null} [body]
   */
  constructor(status, body) {
    super(body?.message ?? (status ? `The server answered with ${status}.` : "The server cannot be reached."));
    this.status = status;
    this.code = body?.error ?? "";
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {number} [timeout]
 */
async function ask(method, path, body, timeout) {
  const file = body instanceof Blob;
  /** @type {Record<string, string>} */
  const headers = method === "GET" ? {} : { "X-Form-Token": token };
  if (body !== undefined) headers["Content-Type"] = file ? "application/octet-stream" : "application/json";
  let answer;
  try {
    answer = await fetch(path, {
      method, headers, cache: "no-store", credentials: "same-origin",
      body: body === undefined || file ? body : JSON.stringify(body),
      signal: timeout ? AbortSignal.timeout?.(timeout) : undefined,
    });
  } catch {
    throw new Trouble(0);
  }
  if (answer.ok) return answer;
  if (answer.status === 401 && !loggingOut) {
    location.assign(`${ROOT}/admin/login?next=${encodeURIComponent(location.pathname.slice(ROOT.length) + location.search)}`);
  }
  throw new Trouble(answer.status, await answer.json().catch(() => null));
}

/** @type {(path: string) => Promise<any>} */
export const get = async (path) => (await ask("GET", path, undefined, 30_000)).json();
/** @param {string} path */
export const download = (path) => ask("GET", path);
/** @type {(path: string, body?: object) => Promise<any>} */
export const post = async (path, body) => (await ask("POST", path, body ?? {}, 30_000)).json();
/** @type {(path: string) => Promise<any>} */
export const remove = async (path) => (await ask("DELETE", path, undefined, 60_000)).json();

/** What went wrong, in words.
 * @param {unknown} error */
export const reason = (error) => (error instanceof Error ? error.message : String(error));

// Words

/** @type {(value: number | null | undefined, digits?: number) => string} */
export const number = (value, digits = 0) =>
  value === null || value === undefined || !Number.isFinite(value) ? "–" :
    value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** @type {(count: number, one: string, many?: string) => string} */
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** @param {number | null} seconds */
export function span(seconds) {
  if (seconds === null) return "–";
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** @param {number | null} seconds */
export const ago = (seconds) => (seconds === null ? "–" : seconds < 5 ? "now" : `${span(seconds)} ago`);

const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
/** @param {number | null | undefined} ms */
export const moment = (ms) => (ms === null || ms === undefined ? "–" : whole.format(ms));
/** @param {number | null | undefined} ms */
export const shortMoment = (ms) => (ms === null || ms === undefined ? "–" : short.format(ms));

/** @type {Record<string, string>} */
const STEPS = {
  consent: "Consent", demographics: "Questions about the person", instructions: "Instructions", quiz: "Quiz",
  thanks: "Done",
};

/** @param {string} id */
const questionnaireName = (id) => {
  const [, at, name] = /^questionnaire-(before|end|\d+)-(.*)$/.exec(id) ?? ["", "", id];
  return at === "before" || at === "end" ? `Questionnaire ${name}` : `Questionnaire ${name} after set ${at}`;
};

/** @param {string} id */
const pageName = (id) => {
  const [, at, name] = /^page-(once|\d+)-(.*)$/.exec(id) ?? ["", "", id];
  return at === "once" ? `Page ${name}` : `Page ${name} of set ${at}`;
};

/** Return the current step of a participant, in words.
 * @param {Whereabouts} whereabouts */
export function place({ step, episode, status }) {
  if (status === "invited") return "Has not begun";
  if (episode) {
    const game = episode.of > 1 ? `, game ${episode.place} of ${episode.of}` : "";
    const set = episode.practice ? `Practice${game}` : `Set ${episode.set} of ${episode.sets}${game}`;
    if (step.kind === "rest" || step.kind === "partner") return `${set}: about to begin`;
    return episode.rounds === null ? `${set}: playing` : `${set}: ${number(episode.played)} of ${number(episode.rounds)} rounds`;
  }
  if (step.kind === "questionnaire") return questionnaireName(step.id);
  if (step.kind === "page") return pageName(step.id);
  if (step.kind === "survey") return `Survey ${step.id.split("-")[1]}`;
  return STEPS[step.kind] ?? step.id;
}

/** @type {(id: string, kind: string) => string} */
export const stepName = (id, kind) =>
  kind === "questionnaire" ? questionnaireName(id) : kind === "page" ? pageName(id) :
  kind === "survey" ? `Survey ${id.split("-")[1]}` : kind === "rest" ? `Rest ${id.split("-")[1]}` :
    kind === "partner" ? `Meeting the partner of set ${id.split("-")[1]}` :
    STEPS[kind] ?? id;

// Toasts, copying, dialogs

let fading = 0;

/** @param {string} text */
export function toast(text) {
  const node = find("toast");
  if (!node) return;
  // An open dialog covers everything that is not in it.
  const home = document.querySelector("dialog[open]") ?? document.body;
  if (node.parentNode !== home) home.append(node);
  node.textContent = text;
  node.classList.add("shown");
  clearTimeout(fading);
  fading = setTimeout(() => node.classList.remove("shown"), 4000);
}

/** @param {string} text */
export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https there is no clipboard for pages; the old way still works.
    const box = el("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
    box.value = text;
    const home = document.querySelector("dialog[open]") ?? document.body;
    const before = document.activeElement;
    home.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    if (before instanceof HTMLElement) before.focus();
    if (!done) return toast("The browser does not allow copying; select the text and copy it by hand.");
  }
  toast(what);
}

/**
 * Show what went wrong in the form itself, or take it away.
 * @param {HTMLElement} form
 * @param {unknown} error
 */
export function problem(form, error) {
  const node = /** @type {HTMLElement} */ (form.querySelector('[role="alert"]'));
  node.textContent = error ? reason(error) : "";
  node.hidden = !error;
}

/** @type {(selector: string) => NodeListOf<HTMLElement>} */
const every = (selector) => document.querySelectorAll(selector);

for (const button of every("[data-dialog]")) {
  button.addEventListener("click", () => find(button.dataset.dialog ?? "").showModal());
}
for (const button of every("dialog [data-close]")) {
  button.addEventListener("click", () => button.closest("dialog")?.close());
}
for (const button of every("[data-copy]")) {
  const { copy: whose = "", copied = "Link copied" } = button.dataset;
  button.addEventListener("click", () => copy(find(whose).textContent.trim(), copied));
}
