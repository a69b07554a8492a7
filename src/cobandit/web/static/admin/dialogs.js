// Who may begin, personal links, export.

import { copy, download, el, find, number, plural, post, problem, reason, say, toast, Trouble } from "./common.js";
import { ROOT } from "../shared/root.js";

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
export const study = main.dataset.study;
const trusted = "trusted" in main.dataset; // the account may do what a researcher may
const base = `${ROOT}/api/admin/studies/${study}`;
const changed = () => document.dispatchEvent(new Event("changed"));

// Who may begin

/** @type {{ state: string, quota: number | null }} */
let standing = { state: main.dataset.state ?? "open", quota: Number(main.dataset.quota) || null };
/**
 * @param {Live["study"]} now
 * @param {StatusCounts} counts
 */
export function showAvailability(now, counts) {
  standing = now;
  const { code, word, reason, taken } = now.availability;
  const badge = find("availability");
  say(badge, word);
  badge.className = `badge ${code}`;
  find("places").hidden = now.quota === null;
  say(find("places"), now.quota === null ? "" : `${number(taken)} of ${number(now.quota)} places taken`);
  const note = find("link-note"); // earlier versions of a study have no link
  if (note) {
    note.hidden = !reason;
    const why = code === "not-ready" ? "" : ` ${reason}`; // a notice of its own says why
    say(note, reason ? `The link refuses people at the moment.${why}` : "");
  }
  // A personal link works by invitation, too.
  const refused = code === "open" || code === "invite-only" ? "" : reason ?? "";
  find("links-note").hidden = !refused;
  say(find("links-note"), refused && `New participants cannot begin at the moment. ${refused}`);
  if (!trusted) return;
  const busy = counts.active + counts.idle;
  say(find("state-note"), `${plural(counts.finished, "person has", "people have")} finished, ${number(busy)} `
    + `${busy === 1 ? "is" : "are"} at it.`);
}

const states = find("state-form");
const quota = find("state-quota");
const fitQuota = () => {
  quota.disabled = states.elements.state.value !== "quota";
  quota.required = !quota.disabled;
};
// An assistant has none of the dialogs that change a study or take data out.
find("standing-button")?.addEventListener("click", () => {
  problem(states, null);
  states.elements.state.value = standing.state;
  quota.value = standing.quota ?? "";
  fitQuota();
});
states?.addEventListener("change", fitQuota);
states?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const state = states.elements.state.value;
  problem(states, null);
  try {
    const now = await post(`${base}/state`, state === "quota" ? { state, quota: Number(quota.value) } : { state });
    find("state-dialog").close();
    toast(`State of the study: ${now.availability.word.toLowerCase()}.`);
    changed();
  } catch (error) {
    problem(states, error);
  }
});

// Blind to conditions

/** @param {string} what */
async function look(what) {
  try {
    await post(`${base}/${what}`);
    location.reload(); // everything that is on the page may have another name now
  } catch (error) {
    toast(reason(error));
  }
}

find("unblind-confirm")?.addEventListener("click", async () => {
  find("unblind-dialog").close();
  await look("unblind");
});
find("blind-again").addEventListener("click", () => look("blind"));

// Personal links

const LINKS = 100; // on a page
/** @type {PersonalLink[]} */
let links = [];
let offset = 0;

async function loadLinks() {
  if (!trusted) return showLinks(links.length);
  const answer = await download(`${base}/links?newest=true&offset=${offset}&limit=${LINKS}`);
  links = await answer.json();
  return showLinks(Number(answer.headers.get("X-Total-Count")));
}

/** @param {number} total */
function showLinks(total) {
  const body = find("links").tBodies[0];
  body.replaceChildren(...links.map((one) =>
    el("tr", {},
      el("th", { scope: "row" }, el("bdi", { class: "label" }, one.label ?? "–")),
      el("td", { "data-label": "Participant" }, one.participant),
      el("td", { "data-label": "Status" }, el("span", { class: `badge ${one.status}` }, one.status)),
      el("td", { "data-label": "Link", class: "address" }, el("code", {}, one.url)),
      el("td", {},
        el("button", { type: "button", class: "small", onclick: () => copy(one.url, "Link copied") }, "Copy",
          el("span", { class: "unseen" }, ` the link of ${one.label ?? one.participant}`))))));
  find("no-links").hidden = links.length > 0;
  find("links").hidden = links.length === 0;
  const [newer, older] = find("links-pager").querySelectorAll("button");
  find("links-pager").hidden = total <= links.length;
  newer.disabled = offset === 0;
  older.disabled = offset + links.length >= total;
  say(find("links-pager").querySelector("span"), `${number(offset + 1)} to ${number(offset + links.length)} of ${number(total)}`);
  say(find("links-copy"), total > links.length ? "Copy this page" : "Copy all");
}

find("links-pager").addEventListener("click", (/** @type {any} */ event) => {
  const button = event.target.closest("button");
  if (!button) return;
  offset = Math.max(0, offset + LINKS * Number(button.dataset.page));
  loadLinks().catch((error) => problem(find("links-form"), error));
});

document.querySelector('[data-dialog="links-dialog"]')?.addEventListener("click", () => {
  offset = 0;
  loadLinks().catch((error) => problem(find("links-form"), error));
});
const labels = find("links-labels");
/** @returns {string[]} */
const lines = () => String(labels.value).split("\n").map((line) => line.trim()).filter(Boolean);
labels.addEventListener("input", () => {
  const given = lines().length;
  if (given) find("links-count").value = given;
  find("links-count").readOnly = given > 0;
});
find("links-form").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const form = /** @type {any} */ (event.currentTarget);
  const given = lines();
  problem(form, null);
  try {
    const repeat = form.elements.repeat.checked;
    const made = await post(`${base}/links`, given.length ? { labels: given, repeat } : { count: Number(find("links-count").value) });
    form.reset();
    find("links-repeat").hidden = true;
    find("links-count").readOnly = false;
    toast(`${plural(made.length, "link")} made.`);
    links = [...made].reverse().concat(links);
    offset = 0;
    await loadLinks();
    changed();
  } catch (error) {
    problem(form, error);
    if (error instanceof Trouble && error.code === "label-exists") find("links-repeat").hidden = false;
  }
});
find("links-copy").addEventListener("click", () => {
  copy([...links].reverse().map((one) => `${one.label ?? one.participant}\t${one.url}`).join("\n"), `${plural(links.length, "link")} copied`);
});

// Export

find("export-form")?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.currentTarget);
  const button = /** @type {HTMLButtonElement} */ (form.querySelector('[type="submit"]'));
  problem(form, null);
  button.disabled = true;
  say(button, "Preparing …");
  try {
    const answer = await download(`${form.action}?${new URLSearchParams(/** @type {any} */ (new FormData(form)))}`);
    const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "export.zip";
    const address = URL.createObjectURL(await answer.blob());
    const link = el("a", { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    toast(`${name} is ready.`);
  } catch (error) {
    problem(form, error);
  } finally {
    button.disabled = false;
    say(button, "Download");
  }
});
