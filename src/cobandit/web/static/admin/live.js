// One study, live: a tick from the server says that something has changed, then the page asks what.
// Rows are kept and changed in place, so that neither focus nor scroll is lost.

import { Chart } from "./chart.js";
import { ago, copy, el, find, get, moment, number, place, plural, reason, say, shortMoment, toast } from "./common.js";
import { study, watchStanding } from "./dialogs.js";

/** @type {Status[]} */
const STATUSES = ["active", "idle", "dropped", "invited", "finished"];
const LEAST_PAUSE = 1500; // between two looks, however fast the ticks come
const POLL = 5000; // without ticks
const CALM = 30_000; // with ticks: some things change by time alone
/** @type {Record<string, string>} */
const NOTES = {
  rehearsal: "Simulated participants, made by “cobandit study simulate”. They are never counted among the data.",
  demo: "People who tried the demo. They are never counted among the data.",
};

/** @type {{ kind: Kind, status: Status | null, sort: string, down: boolean, words: string }} */
const view = { kind: "real", status: null, sort: "started_at", down: true, words: "" };
/** @type {Map<string, ReturnType<typeof newRow>>} */
const rows = new Map();
const chart = new Chart(find("curves"));
/** @type {Live | null} */
let data = null;
let behind = 0; // the server's clock minus this one
let counted = "";
let asking = false;
let again = false;
let latest = 0;
let timer = 0;
let ticking = false; // the stream is there, or coming back
let failed = false;

// Asking

async function look() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  clearTimeout(timer);
  const kind = view.kind;
  try {
    /** @type {Live} */
    const found = await get(`/api/admin/studies/${study}/live?kind=${kind}`);
    latest = Date.now();
    if (kind === view.kind) {
      behind = found.now - Date.now();
      data = found;
      show(found);
      await lookAtCurves(kind, found);
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

function plan() {
  clearTimeout(timer);
  const pause = failed ? POLL : again ? Math.max(0, LEAST_PAUSE - (Date.now() - latest)) : ticking ? CALM : POLL;
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
 * Curves only change with a finished episode, or somebody deleted.
 * @param {Kind} kind
 * @param {Live} found
 */
async function lookAtCurves(kind, found) {
  const people = found.participants.length;
  const mark = `${kind} ${people} ${found.conditions.map((one) => one.episodes).join(" ")}`;
  if (mark === counted) return;
  /** @type {Curves} */
  const curves = await get(`/api/admin/studies/${study}/curves?kind=${kind}`);
  if (kind !== view.kind) return;
  counted = curves.pending ? "" : mark;
  if (curves.pending) again = true;
  chart.draw(curves);
}

/** @type {EventSource | null} */
let source = null;

function listen() {
  if (source || !("EventSource" in window) || document.hidden) return;
  let opened = false;
  source = new EventSource(`/api/admin/studies/${study}/stream`);
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
  watchStanding(data.study.open, data.counts.real);
  for (const button of find("kinds").children) {
    const all = Object.values(data.counts[/** @type {Kind} */ (button.dataset.kind)]).reduce((sum, one) => sum + one, 0);
    say(button.querySelector(".count"), number(all));
    button.setAttribute("aria-pressed", button.dataset.kind === view.kind);
  }
  find("kind-note").hidden = view.kind === "real";
  say(find("kind-note"), NOTES[view.kind] ?? "");
  showUnfilled(data.unfilled);
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
        showAgain();
      });
      box.append(button);
    }
  }
  for (const button of box.children) {
    say(button.lastChild, number(data.counts[view.kind][/** @type {Status} */ (button.dataset.status)]));
    button.setAttribute("aria-pressed", button.dataset.status === view.status);
  }
}

/** What is known, shown in another way. */
function showAgain() {
  if (data) show(data);
}

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
  const address = `/admin/studies/${study}/participants/${encodeURIComponent(one.participant)}`;
  const button = el("button", { type: "button", class: "small" }, "Copy link",
    el("span", { class: "unseen" }, ` of ${one.participant}`));
  const row = el("tr", { "data-participant": one.participant },
    el("th", { scope: "row" }, el("a", { href: address }, one.participant), " ", parts.label),
    cell("Status", parts.badge), cell("Where", parts.where), cell("Progress", el("span", { class: "bar-cell" }, parts.bar, " ", parts.share)),
    cell("Last seen", parts.seen), cell("Started", parts.started), cell("Order", parts.order), cell("", button));
  const made = { row, parts, one };
  button.addEventListener("click", () => copy(made.one.url, "Personal link copied"));
  return made;
}

/** @param {Listed} one */
const idle = (one) => (one.last_seen === null ? null : Math.max(0, (Date.now() + behind - one.last_seen) / 1000));
/** @param {Listed} one */
const share = (one) => (one.status === "finished" ? 1 :
  (one.progress.done + (one.episode ? one.episode.played / one.episode.rounds : 0)) / one.progress.total);

/** @param {ReturnType<typeof newRow>} made */
function showRow({ parts, one }) {
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

/** @type {Record<string, (one: Listed) => string | number>} */
const KEYS = {
  participant: (one) => one.participant,
  status: (one) => STATUSES.indexOf(one.status),
  progress: share,
  last_seen: (one) => one.last_seen ?? 0,
  started_at: (one) => one.started_at ?? one.created_at,
  order: (one) => one.order_index ?? -1,
};

/** @param {Live} data */
function showPeople(data) {
  const words = view.words.toLowerCase();
  /** @param {Listed} one */
  const fits = (one) =>
    (view.status === null || one.status === view.status) &&
    (!words || [one.participant, one.label, one.external_id].some((text) => text?.toLowerCase().includes(words)));
  const key = KEYS[view.sort];
  const shown = data.participants.filter(fits).sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    const order = x < y ? -1 : x > y ? 1 : a.participant < b.participant ? -1 : 1;
    return view.down ? -order : order;
  });
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
  const known = new Set(data.participants.map((one) => one.participant));
  for (const name of rows.keys()) if (!known.has(name)) rows.delete(name);
  const all = data.participants.length;
  say(find("shown"), shown.length === all ? plural(all, "participant") : `${number(shown.length)} of ${number(all)} shown`);
  const nobody = find("nobody");
  nobody.hidden = shown.length > 0;
  find("people-scroll").hidden = shown.length === 0;
  say(nobody, all ? "Nobody fits the search." : view.kind === "rehearsal" ?
    "No rehearsal yet. Run one with “cobandit study simulate”." : view.kind === "demo" ? "Nobody has tried the demo yet." :
      "Nobody yet. Spread the open link, or make personal ones.");
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
  counted = "";
  for (const other of find("kinds").children) other.setAttribute("aria-pressed", other === button);
  latest = 0;
  soon();
});
find("search").addEventListener("input", (/** @type {any} */ event) => {
  view.words = event.target.value.trim();
  if (data) showPeople(data);
});
for (const head of document.querySelectorAll("th[data-sort] button")) {
  head.addEventListener("click", () => {
    const name = head.parentElement?.dataset.sort ?? "";
    view.down = view.sort === name ? !view.down : name === "started_at" || name === "last_seen" || name === "progress";
    view.sort = name;
    if (data) showPeople(data);
  });
}
document.addEventListener("changed", soon);
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
  history.replaceState(null, "", location.pathname);
}
listen();
look();
