// One study, live: a tick from the server says that something has changed, then the page asks what has, for the people
// that it shows. The server sorts and filters. Rows are kept and changed in place, so that neither focus nor scroll is lost.

import { Chart } from "./chart.js";
import { ago, copy, el, find, get, moment, number, place, plural, reason, say, shortMoment, toast } from "./common.js";
import { showAvailability, study } from "./dialogs.js";
import { write } from "./messages.js";
import { lookAtTeams } from "./teams.js";
import { ROOT } from "../shared/root.js";

/** @type {Kind[]} */
const KINDS = ["real", "rehearsal", "demo"];
/** @type {Status[]} */
const STATUSES = ["active", "idle", "dropped", "invited", "finished", "removed"];
const LEAST_PAUSE = 1500; // between two looks, however fast the ticks come
const POLL = 5000; // without ticks
const CALM = 30_000; // with ticks: some things change by time alone
const WHOLE = 30_000; // how long changes alone will do, before a whole page is asked for again
const CURVES_SHARE = 0.05; // of the time may go into asking for curves, once they are complete
const TYPING = 250; // after the last letter of a search
const PEOPLE = 100; // on a page
/** @type {Record<string, string>} */
const NOTES = {
  rehearsal: "Simulated participants, made by “cobandit study simulate”. They are never counted among the data.",
  demo: "People who tried the demo. They are never counted among the data.",
};

/** What the page shows. It is kept in the address, so that Back, a reload and a bookmark lead to it again.
 * @type {{ kind: Kind, status: Status | null, sort: string, down: boolean, words: string, offset: number }} */
const view = readAddress();
/** @type {Map<string, ReturnType<typeof newRow>>} */
const rows = new Map();
const chart = new Chart(find("curves"));
/** @type {Live | null} */
let data = null;
let behind = 0; // the server's clock minus this one
let counted = "";
let nextCurves = 0;
let asked = ""; // the question that `data` answers
let whole = 0; // when the page last got all its data
let typing = 0;
let asking = false;
let again = false;
let latest = 0;
let timer = 0;
let ticking = false; // the stream is there, or coming back
let failed = false;

// The address

function readAddress() {
  const given = new URLSearchParams(location.search);
  /** @type {<T extends string>(name: string, known: readonly T[]) => T | undefined} */
  const among = (name, known) => known.find((value) => value === given.get(name));
  const sorts = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("th[data-sort]"))];
  const offset = Number(given.get("offset"));
  return {
    kind: among("kind", KINDS) ?? "real",
    status: among("status", STATUSES) ?? null,
    sort: among("sort", sorts.map((head) => head.dataset.sort ?? "")) ?? "started_at",
    down: given.get("down") !== "false",
    words: given.get("search") ?? "",
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
}

function writeAddress() {
  const shown = new URLSearchParams();
  if (view.kind !== "real") shown.set("kind", view.kind);
  if (view.status) shown.set("status", view.status);
  if (view.sort !== "started_at") shown.set("sort", view.sort);
  if (!view.down) shown.set("down", "false");
  if (view.words) shown.set("search", view.words);
  if (view.offset) shown.set("offset", String(view.offset));
  const query = shown.toString();
  history.replaceState(null, "", location.pathname + (query && `?${query}`));
}

// Asking

async function look() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  clearTimeout(timer);
  const kind = view.kind;
  const wanted = question();
  try {
    const since = data && asked === wanted && Date.now() - whole < WHOLE ? `&since=${data.cursor}` : "";
    /** @type {Live} */
    const found = await get(`${ROOT}/api/admin/studies/${study}/live?${wanted}${since}`);
    latest = Date.now();
    if (wanted === question()) {
      behind = found.now - Date.now();
      merge(found, wanted, since !== "");
      await lookAtTeams(kind);
      if (kind === view.kind) await lookAtCurves(kind, found);
    }
    failed = false;
    say(find("connection"), ticking ? "live" : "updated every few seconds");
    find("connection").classList.remove("off");
  } catch (error) {
    failed = true;
    say(find("connection"), `${reason(error)} Trying again …`);
    find("connection").classList.add("off");
  } finally {
    asking = false;
    plan();
  }
}

/** Whom the page shows, in words for the server. */
function question() {
  const asked = new URLSearchParams({
    kind: view.kind, sort: view.sort, down: String(view.down), offset: String(view.offset), limit: String(PEOPLE),
  });
  if (view.status) asked.set("status", view.status);
  if (view.words) asked.set("search", view.words);
  return asked.toString();
}

/**
 * Merge changes into the known data; if an unchanged participant is new on this page, request the whole page.
 * @param {Live} found
 * @param {string} wanted
 * @param {boolean} changes
 */
function merge(found, wanted, changes) {
  const known = new Map((changes && data ? data.participants : []).map((one) => [one.participant, one]));
  for (const one of found.participants) known.set(one.participant, one);
  const page = found.page.map((name) => known.get(name)).filter((one) => one !== undefined);
  if (page.length < found.page.length) {
    whole = 0;
    again = true;
    return;
  }
  if (view.offset && view.offset >= found.total) {
    view.offset = Math.max(0, PEOPLE * (Math.ceil(found.total / PEOPLE) - 1));
    again = true;
    writeAddress();
    return;
  }
  if (!changes) whole = Date.now();
  asked = wanted;
  data = { ...found, participants: page };
  show(data);
}

/** Request new data immediately, because the view has changed. */
function lookAgain() {
  writeAddress();
  latest = 0;
  soon();
}

function plan() {
  clearTimeout(timer);
  const another = asked !== question(); // the user has changed the view in the meantime
  const pause = failed ? POLL : another ? 0 : again ? Math.max(0, LEAST_PAUSE - (Date.now() - latest)) : ticking ? CALM : POLL;
  again = false;
  timer = setTimeout(look, pause);
}

function soon() {
  if (asking) {
    again = true;
    return;
  }
  clearTimeout(timer);
  timer = setTimeout(look, Math.max(0, LEAST_PAUSE - (Date.now() - latest)));
}

/**
 * Load the curves again. They change only after a finished episode or a deleted participant.
 * @param {Kind} kind
 * @param {Live} found
 */
async function lookAtCurves(kind, found) {
  const mark = `${kind} ${allPeople(found)} ${found.conditions.map((one) => one.episodes).join(" ")}`;
  if (mark === counted || (counted.startsWith(`${kind} `) && Date.now() < nextCurves)) return;
  const start = Date.now();
  /** @type {Curves} */
  const curves = await get(`${ROOT}/api/admin/studies/${study}/curves?kind=${kind}`);
  if (kind !== view.kind) return;
  counted = curves.pending ? "" : mark;
  nextCurves = Date.now() + (Date.now() - start) / CURVES_SHARE;
  if (curves.pending) again = true;
  chart.draw(curves);
}

/** @type {EventSource | null} */
let source = null;

function listen() {
  if (source || !("EventSource" in window) || document.hidden) return;
  let opened = false;
  source = new EventSource(`${ROOT}/api/admin/studies/${study}/stream`);
  source.addEventListener("open", () => {
    opened = ticking = true;
  });
  source.addEventListener("tick", soon);
  source.addEventListener("error", () => {
    // The stream ends now and then, and the browser comes back by itself. Where it cannot, the page asks by itself.
    const lost = !opened;
    opened = false;
    if (source?.readyState === EventSource.CLOSED) {
      hush();
      setTimeout(listen, 10_000);
      soon();
    } else if (lost && ticking) {
      ticking = false;
      soon();
    }
  });
}

function hush() {
  source?.close();
  source = null;
  ticking = false;
}

// Showing

/** @param {Live} data */
function show(data) {
  showAvailability(data.study, data.counts.real);
  for (const button of find("kinds").children) {
    const all = Object.values(data.counts[/** @type {Kind} */ (button.dataset.kind)]).reduce((sum, one) => sum + one, 0);
    say(button.querySelector(".count"), number(all));
    button.setAttribute("aria-pressed", button.dataset.kind === view.kind);
  }
  find("kind-note").hidden = view.kind === "real";
  say(find("kind-note"), NOTES[view.kind] ?? "");
  showUnfilled(data.unfilled);
  const panel = /** @type {HTMLDetailsElement} */ (find("by-condition"));
  // Folded while blind: it only holds counts by letter. It opens with the conditions, because the chart needs its width.
  if (panel.dataset.blind !== String(data.blind)) panel.open = !data.blind;
  panel.dataset.blind = String(data.blind);
  find("blind-note").hidden = !data.blind;
  find("curves-section").hidden = data.blind;
  find("sighted-note").hidden = data.blind || view.kind !== "real";
  showTiles(data);
  showPeople(data);
  fill("conditions", data.conditions.map((one) => [
    one.name, number(one.begun), number(one.finished), number(one.episodes), number(one.rounds),
  ]));
  fill("orders", data.orders.map(({ order, counts }) => [
    order.join(" → "), number(counts.finished), number(counts.active + counts.idle), number(counts.dropped),
  ]));
}

/** @param {Live["unfilled"]} unfilled */
function showUnfilled(unfilled) {
  find("unfilled").hidden = !unfilled;
  if (!unfilled) return;
  const { parameter, value, count, at } = unfilled;
  say(find("unfilled"), `${plural(count, "person was", "people were")} turned away, last at ${moment(at)}: the link says `
    + `${parameter}=${value || "(nothing)"}, which your recruiting service should have replaced by who comes. `
    + "Compare the link there with the guide, “Which link to paste”.");
}

/** @param {Live} data */
function showTiles(data) {
  const box = find("tiles");
  if (!box.childElementCount) {
    for (const name of STATUSES) {
      const button = el("button", { type: "button", class: `tile ${name}`, "data-status": name, "aria-pressed": "false" },
        el("span", {}, name), el("strong", {}, "0"));
      button.addEventListener("click", () => {
        view.status = view.status === name ? null : name;
        view.offset = 0;
        showTilesPressed();
        lookAgain();
      });
      box.append(button);
    }
  }
  for (const button of box.children) {
    say(button.lastChild, number(data.counts[view.kind][/** @type {Status} */ (button.dataset.status)]));
  }
  box.hidden = find("search-line").hidden = !allPeople(data); // "No participants yet" says more than empty counters
  showTilesPressed();
}

function showTilesPressed() {
  for (const button of find("tiles").children) button.setAttribute("aria-pressed", button.dataset.status === view.status);
}

/** @param {Live} data */
const allPeople = (data) => Object.values(data.counts[view.kind]).reduce((sum, count) => sum + count, 0);

/**
 * A small table whose cells are changed in place.
 * @param {string} id
 * @param {string[][]} lines
 */
function fill(id, lines) {
  const body = find(id).tBodies[0];
  while (body.rows.length > lines.length) body.deleteRow(-1);
  lines.forEach((cells, i) => {
    const row = body.rows[i] ?? body.insertRow();
    cells.forEach((text, j) => {
      if (!row.cells[j]) row.append(j ? el("td", { class: "number" }) : el("th", { scope: "row" }));
      say(row.cells[j], text);
    });
  });
}

/** @param {Listed} one */
function rowOf(one) {
  const known = rows.get(one.participant);
  if (known) return known;
  const made = newRow(one);
  rows.set(one.participant, made);
  return made;
}

/** @param {Listed} one */
function newRow(one) {
  /** @type {(label: string, ...children: Child[]) => HTMLElement} */
  const cell = (label, ...children) => el("td", { "data-label": label }, ...children);
  const parts = {
    label: el("bdi", { class: "label" }),
    badge: el("span", { class: "badge" }),
    where: el("span"),
    bar: el("progress", { max: "1", "aria-label": `Progress of ${one.participant}` }),
    share: el("span", { class: "soft share" }),
    seen: el("span", { class: "nowrap" }),
    started: el("span", { class: "nowrap" }),
    order: el("span", { class: "order" }),
  };
  const address = `${ROOT}/admin/studies/${study}/participants/${encodeURIComponent(one.participant)}`;
  const button = el("button", { type: "button", class: "small" }, "Copy link",
    el("span", { class: "unseen" }, ` of ${one.participant}`));
  const row = el("tr", { "data-participant": one.participant },
    el("th", { scope: "row" }, el("a", { href: address }, one.participant), " ", parts.label),
    cell("Status", parts.badge), cell("Where", parts.where), cell("Progress", el("span", { class: "bar-cell" }, parts.bar, " ", parts.share)),
    cell("Last seen", parts.seen), cell("Started", parts.started), cell("Order", parts.order), cell("", button));
  const made = { row, parts, one, button };
  button.addEventListener("click", () => made.one.url && copy(made.one.url, "Personal link copied"));
  return made;
}

/** @param {Listed} one */
const idle = (one) => (one.last_seen === null ? null : Math.max(0, (Date.now() + behind - one.last_seen) / 1000));
/** @param {Listed} one */
const share = (one) => (one.status === "finished" ? 1 :
  (one.progress.done + (one.episode?.rounds ? (one.episode.played ?? 0) / one.episode.rounds : 0)) / one.progress.total);

/** @param {ReturnType<typeof newRow>} made */
function showRow({ parts, one, button }) {
  button.hidden = one.url === null; // this role may not see the link of a participant who has begun
  say(parts.label, one.label ?? one.external_id ?? "");
  say(parts.badge, one.status);
  parts.badge.className = `badge ${one.status}`;
  say(parts.where, place(one));
  const part = share(one);
  parts.bar.value = part;
  say(parts.share, `${Math.floor(100 * part)} %`);
  say(parts.seen, ago(idle(one)));
  parts.seen.title = moment(one.last_seen);
  say(parts.started, shortMoment(one.started_at));
  say(parts.order, one.order ? one.order.join(" → ") : "–");
}

/** @param {Live} data */
function showPeople(data) {
  const shown = data.participants;
  const body = find("people").tBodies[0];
  const wanted = new Set();
  /** @type {Node | null} */
  let before = null;
  for (const one of shown) {
    const made = rowOf(one);
    made.one = one;
    showRow(made);
    wanted.add(made.row);
    /** @type {Node | null} */
    const next = before ? before.nextSibling : body.firstChild;
    if (next !== made.row) body.insertBefore(made.row, next);
    before = made.row;
  }
  for (const row of [...body.rows]) if (!wanted.has(row)) row.remove();
  const known = new Set(data.page);
  for (const name of rows.keys()) if (!known.has(name)) rows.delete(name);
  const all = allPeople(data);
  say(find("shown"), view.status === null && !view.words ? plural(data.total, "participant") :
    `${number(data.total)} of ${number(all)} shown`);
  showPager(data);
  showSorting();
  const nobody = find("nobody");
  nobody.hidden = shown.length > 0;
  find("people-scroll").hidden = shown.length === 0;
  say(nobody, all ? "No participant matches the search." : view.kind === "rehearsal" ?
    "No rehearsal yet. Run one with “cobandit study simulate”." : view.kind === "demo" ? "No demo yet. Choose “Demo” to try the study yourself." :
      document.getElementById("unready") ? "No participants yet." : "No participants yet. Share the open link, or create personal links.");
}

/** @param {Live} data */
function showPager({ total, offset, page }) {
  find("pager").hidden = total <= PEOPLE;
  find("earlier").disabled = offset === 0;
  find("later").disabled = offset + page.length >= total;
  say(find("where"), `${number(offset + 1)} to ${number(offset + page.length)} of ${number(total)}`);
}

function showSorting() {
  /** @type {NodeListOf<HTMLElement>} */
  const heads = document.querySelectorAll("th[data-sort]");
  for (const head of heads) {
    const mine = head.dataset.sort === view.sort;
    if (mine) head.setAttribute("aria-sort", view.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

// What people press

find("kinds").addEventListener("click", (/** @type {any} */ event) => {
  const button = event.target.closest("button");
  if (!button || button.dataset.kind === view.kind) return;
  view.kind = button.dataset.kind;
  view.status = null;
  view.offset = 0;
  counted = "";
  for (const other of find("kinds").children) other.setAttribute("aria-pressed", other === button);
  lookAgain();
});
find("search").addEventListener("input", (/** @type {any} */ event) => {
  view.words = event.target.value.trim();
  view.offset = 0;
  clearTimeout(typing);
  typing = setTimeout(lookAgain, TYPING);
});
for (const head of document.querySelectorAll("th[data-sort] button")) {
  head.addEventListener("click", () => {
    const name = head.parentElement?.dataset.sort ?? "";
    view.down = view.sort === name ? !view.down : name === "started_at" || name === "last_seen" || name === "progress";
    view.sort = name;
    view.offset = 0;
    lookAgain();
  });
}
for (const [id, step] of /** @type {[string, number][]} */ ([["earlier", -PEOPLE], ["later", PEOPLE]])) {
  find(id).addEventListener("click", () => {
    view.offset = Math.max(0, view.offset + step);
    lookAgain();
  });
}
document.addEventListener("changed", soon);
find("message-all").addEventListener("click", () => {
  const { active = 0, idle = 0 } = data?.counts[view.kind] ?? {};
  write(`all participants at work (${plural(active + idle, "person", "people")})`, { kind: view.kind });
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    hush();
  } else {
    listen();
    soon();
  }
});
addEventListener("pagehide", hush);
addEventListener("pageshow", listen);
setInterval(() => {
  for (const { parts, one, row } of rows.values()) if (row.isConnected) say(parts.seen, ago(idle(one)));
}, 1000);

const gone = new URLSearchParams(location.search).get("deleted");
if (gone) {
  toast(`${gone} was deleted with everything of theirs.`);
}
writeAddress();
find("search").value = view.words;
listen();
look();
