// Opening and closing a study, personal links, export.

import { copy, download, el, find, get, plural, post, problem, reason, say, toast } from "./common.js";

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
export const study = main.dataset.study;
const base = `/api/admin/studies/${study}`;
const changed = () => document.dispatchEvent(new Event("changed"));

// Open or closed

let open = main.dataset.open === "true";

/**
 * @param {boolean} now
 * @param {StatusCounts} counts
 */
export function watchStanding(now, counts) {
  open = now;
  const badge = find("standing");
  say(badge, open ? "Open" : "Closed");
  badge.className = `badge ${open ? "open" : "closed"}`;
  say(find("standing-button"), open ? "Close the study …" : "Open the study");
  const busy = counts.active + counts.idle;
  say(find("close-note"), busy ? `${plural(busy, "person is", "people are")} at it and may finish.` : "Nobody is at it now.");
}

/** @param {boolean} wanted */
async function setOpen(wanted) {
  try {
    await post(`${base}/${wanted ? "open" : "close"}`);
    toast(wanted ? "The study is open." : "The study is closed.");
  } catch (error) {
    toast(reason(error));
  }
  changed();
}

find("standing-button").addEventListener("click", () => {
  if (open) find("close-dialog").showModal();
  else setOpen(true);
});
find("close-confirm").addEventListener("click", async () => {
  find("close-dialog").close();
  await setOpen(false);
});

// Personal links

/** @type {PersonalLink[]} */
let links = [];

async function showLinks() {
  links = await get(`${base}/links`);
  const body = find("links").tBodies[0];
  body.replaceChildren(...[...links].reverse().map((one) =>
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
}

document.querySelector('[data-dialog="links-dialog"]')?.addEventListener("click", () => {
  showLinks().catch((error) => problem(find("links-form"), error));
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
  const form = /** @type {HTMLFormElement} */ (event.currentTarget);
  const given = lines();
  problem(form, null);
  try {
    const made = await post(`${base}/links`, given.length ? { labels: given } : { count: Number(find("links-count").value) });
    form.reset();
    find("links-count").readOnly = false;
    toast(`${plural(made.length, "link")} made.`);
    await showLinks();
    changed();
  } catch (error) {
    problem(form, error);
  }
});
find("links-copy").addEventListener("click", () => {
  copy(links.map((one) => `${one.label ?? one.participant}\t${one.url}`).join("\n"), `${plural(links.length, "link")} copied`);
});

// Export

find("export-form").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
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
