// The lobby and the teams of a study, live: who waits for whom, takeovers, services; ending a team, replacing a member.

import { el, find, get, number, plural, post, problem, say, span, toast } from "./common.js";
import { study } from "./dialogs.js";
import { write } from "./messages.js";
import { ROOT } from "../shared/root.js";

const PAGE = 100;
const section = find("teams-section");
const trusted = "trusted" in /** @type {HTMLElement} */ (document.querySelector("main")).dataset;

/** @type {Record<string, string>} */
const PLACES = { playing: "playing", meeting: "waiting to begin", apart: "each alone", "at-work": "at work", over: "over" };
/** @type {Record<string, string>} */
const CHECKS = {
  ready: "here", unasked: "will be asked", asked: "asked, no answer yet", expired: "did not answer", away: "page is closed",
};
/** @type {Record<string, string>} */
const REASONS = {
  timeout: "no move in time", absent: "late for a part", partner: "the partner left", researcher: "ended by a researcher",
  deleted: "deleted", short: "no partner came", service: "the service gave no move",
};
/** @type {Record<string, string>} */
const STEPS = {
  episode: "in a game", rest: "rests", partner: "about to begin", survey: "in a survey", thanks: "done", lobby: "in the lobby",
};
/** @type {Record<string, string>} */
const BADGES = { playing: "active", meeting: "idle", apart: "", "at-work": "active", over: "finished", ready: "open", asked: "idle", expired: "dropped", away: "dropped", unasked: "" };

let over = false;
let offset = 0;
let behind = 0; // the server's clock minus this one
/** @type {Map<string, { row: HTMLTableRowElement, mark: string }>} */
const rows = new Map();
/** @type {TeamsView | null} */
let latest = null;

/** Ask for the lobby and the teams, and show them.
 * @param {Kind} kind */
export async function lookAtTeams(kind) {
  if (!section) return;
  /** @type {TeamsView} */
  const view = await get(`${ROOT}/api/admin/studies/${study}/teams?kind=${kind}&over=${over}&offset=${offset}&limit=${PAGE}`);
  if (offset && offset >= view.total) offset = 0;
  behind = view.now - Date.now();
  latest = view;
  show(view);
}

/** @param {TeamsView} view */
function show(view) {
  if (view.group) {
    showSums(view);
    showLobby(view);
    showTeams(view);
  }
  showServices(view.services);
  tick();
}

/** @param {TeamsView} view */
function showSums({ counts, lobby, group }) {
  if (!counts || !group) return;
  const left = Object.entries(counts.left).map(([why, count]) => `${REASONS[why] ?? why} ${number(count)}`);
  say(find("team-sums"), `${plural(counts.active, "team")} at work, ${number(counts.over)} over; teams of ${group.size}. `
    + `${plural(lobby.length, "person waits", "people wait")} in the lobby. `
    + (counts.takeovers === null ? `${left.length ? `Seats that were left: ${left.join(", ")}. ` : ""}Rounds, waits and takeovers are hidden: they would tell the conditions apart.`
      : `AIs have taken over ${plural(counts.takeovers, "move")}${left.length ? `, and seats for good: ${left.join(", ")}` : ""}.`));
}

/** A running time: `for` counts up from a moment, `in` counts down to one.
 * @type {(way: "for" | "in", at: number) => HTMLElement} */
const clock = (way, at) => el("span", { class: "nowrap", [`data-${way}`]: at });

/** @type {(participant: string) => HTMLElement} */
const linked = (participant) => el("a", { href: `${ROOT}/admin/studies/${study}/participants/${encodeURIComponent(participant)}` }, participant);

/** @type {(kind: string, text: string) => HTMLElement} */
const badge = (kind, text) => el("span", { class: `badge ${BADGES[kind] ?? kind}` }, text);

/** @type {(label: string, ...children: Child[]) => HTMLElement} */
const cell = (label, ...children) => el("td", { "data-label": label }, el("span", {}, ...children));

/** @param {TeamsView} view */
function showLobby({ lobby }) {
  find("nobody-waits").hidden = lobby.length > 0;
  find("lobby-scroll").hidden = lobby.length === 0;
  fill(find("lobby").tBodies[0], lobby.map((one) => ({
    name: `lobby ${one.participant}`, mark: JSON.stringify([one.joined_at, one.check_in, one.until]),
    cells: () => [
      el("th", { scope: "row" }, linked(one.participant)),
      cell("Waiting for", clock("for", one.joined_at)),
      cell("Check-in", badge(one.check_in, CHECKS[one.check_in] ?? one.check_in)),
      cell("Ends in", clock("in", one.until)),
      cell("", button("Message …", `to ${one.participant}`, () => write(one.participant, { participant: one.participant }))),
    ],
  })));
}

/** @type {(text: string, more: string, onclick: () => void, kind?: string) => HTMLElement} */
const button = (text, more, onclick, kind = "small") =>
  el("button", { type: "button", class: kind, onclick }, text, el("span", { class: "unseen" }, ` ${more}`));

/** @param {TeamsView} view */
function showTeams(view) {
  find("no-teams").hidden = view.teams.length > 0;
  find("teams-scroll").hidden = view.teams.length === 0;
  say(find("no-teams"), over ? "No team is over yet." : "No team is at work.");
  fill(find("teams").tBodies[0], view.teams.map((team) => ({
    name: team.team, mark: JSON.stringify([team, view.blind]), cells: () => cellsOf(team, view.blind),
  })));
  find("teams-pager").hidden = view.total <= PAGE;
  const [newer, older] = find("teams-pager").querySelectorAll("button");
  newer.disabled = offset === 0;
  older.disabled = offset + view.teams.length >= view.total;
  say(find("teams-pager").querySelector("span"), `${number(offset + 1)} to ${number(offset + view.teams.length)} of ${number(view.total)}`);
}

/** @type {(team: WatchedTeam, seats: number[]) => string} */
const names = (team, seats) => seats.map((seat) => team.members.find((one) => one.seat === seat)?.name ?? `the service in seat ${seat + 1}`).join(", ");

/**
 * @param {WatchedTeam} team
 * @param {boolean} blind
 */
function cellsOf(team, blind) {
  const { waiting } = team;
  const there = team.members.filter((one) => one.left === null && one.participant !== null && one.status !== "finished");
  return [
    el("th", { scope: "row" }, team.team, " ", badge(team.status, PLACES[team.status] ?? team.status)),
    el("td", { "data-label": "Members" }, el("ul", { class: "members" }, ...team.members.map((one) => memberOf(team, one)))),
    cell("Round", team.round === null ? "–" : `${number(team.round)} of ${number(team.rounds)}`,
      team.condition === null ? null : el("span", { class: "soft" }, ` ${team.condition}, set ${team.set}`)),
    cell("Waiting", ...(!waiting ? [team.round_at === null ? "–" : el("span", {}, "round open for ", clock("for", team.round_at))] : [
      `${names(team, waiting.seats)} ${waiting.seats.length > 1 ? "wait" : "waits"} for ${names(team, waiting.for)}: `, clock("for", waiting.since),
      ...(waiting.deadline === null ? [] : [el("span", { class: "soft" }, "; an AI in ", clock("in", waiting.deadline))])])),
    el("td", { "data-label": "Taken over" }, team.takeovers.length ? el("ul", { class: "members" }, ...team.takeovers.map((one) =>
      el("li", {}, `${one.name}: ${plural(one.moves, "move")} `, el("span", { class: "soft" },
        `${REASONS[one.reason] ?? one.reason}${one.agents ? `, by ${one.agents.join(", ")}` : ""}`)))) : el("span", {}, team.status === "at-work" ? "–" : blind ? "0" : "none")),
    el("td", { "data-label": "" }, el("div", { class: "row-actions" }, ...(there.length ? [
      button("Message …", `to ${team.team}`, () => write(`team ${team.team}`, { team: team.team })),
      trusted ? button("End …", team.team, () => askToEnd(team), "small danger") : null] : []))),
  ];
}

/**
 * @param {WatchedTeam} team
 * @param {TeamMember} one
 */
function memberOf(team, one) {
  const who = one.participant === null ? el("span", { class: "soft" }, "AI") : linked(one.participant);
  if (one.left) return el("li", {}, `${one.name}: `, who, " ", badge("dropped", "left"), " ", el("span", { class: "soft" }, REASONS[one.left.reason ?? ""] ?? one.left.reason ?? ""));
  const there = one.participant !== null && one.status !== "finished";
  return el("li", {}, `${one.name}: `, who, " ", one.status === null ? null : badge(one.status, one.status), " ",
    team.status === "playing" ? null : el("span", { class: "soft" }, STEPS[one.step ?? ""] ?? one.step ?? ""), " ",
    there && trusted ? button("Replace …", `${one.participant} by an AI`, () => askToReplace(team, one)) : null);
}

/**
 * Rows that are changed in place; the focus stays on a button whose row is replaced.
 * @param {HTMLTableSectionElement} body
 * @param {{ name: string, mark: string, cells: () => HTMLElement[] }[]} wanted
 */
function fill(body, wanted) {
  const known = new Set(wanted.map(({ name }) => name));
  for (const row of [...body.rows]) if (!known.has(row.dataset.name ?? "")) row.remove();
  wanted.forEach(({ name, mark, cells }, place) => {
    const kept = rows.get(name);
    const row = kept?.row ?? el("tr", { "data-name": name });
    if (kept?.mark !== mark) {
      const buttons = [...row.querySelectorAll("button")];
      const focused = buttons.findIndex((one) => one === document.activeElement);
      const text = buttons[focused]?.textContent;
      row.replaceChildren(...cells());
      if (focused >= 0) [...row.querySelectorAll("button")].find((one) => one.textContent === text)?.focus();
      rows.set(name, { row, mark });
    }
    if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
  });
  for (const [name, { row }] of rows) if (!row.isConnected) rows.delete(name);
}

/** @param {TeamsView["services"]} services */
function showServices(services) {
  const box = find("services-box");
  box.hidden = !services;
  if (!services) return;
  const { max_moves: most } = services;
  /** @type {[string, string][]} */
  const facts = [
    ["Moves asked for", most === null ? number(services.moves) : `${number(services.moves)} of at most ${number(most)}`],
    ["Calls", number(services.calls)],
    ["Failures, taken over", number(services.takeovers)],
    ["Tokens in / out", `${number(services.input_tokens)} / ${number(services.output_tokens)}`],
    ["Costs so far", services.cost === null ? "no prices are set" : number(services.cost, 4)],
  ];
  for (const one of services.players ?? []) facts.push([one.kind, `${one.player}: ${plural(one.moves, "move")}`]);
  const failed = Object.entries(services.outcomes).filter(([name]) => name !== "answer");
  if (failed.length) facts.push(["Why they failed", failed.map(([name, count]) => `${name} ${number(count)}`).join(", ")]);
  const mark = JSON.stringify(facts);
  if (box.dataset.mark === mark) return;
  box.dataset.mark = mark;
  find("services").replaceChildren(...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function tick() {
  const now = Date.now() + behind;
  for (const node of /** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll("[data-for], [data-in]"))) {
    const { for: since, in: until } = node.dataset;
    const seconds = since === undefined ? (Number(until) - now) / 1000 : (now - Number(since)) / 1000;
    say(node, seconds < 5 ? "a moment" : span(seconds));
  }
}

// What people press

const form = find("team-form");
/** @type {{ path: string, body: object, done: string } | null} */
let order = null;

/**
 * Ask once more, and say what will happen.
 * @param {{ path: string, body: object, done: string }} what
 * @param {string} title
 * @param {string} text
 * @param {string} yes
 */
function confirmed(what, title, text, yes) {
  order = what;
  form.reset();
  problem(form, null);
  say(find("team-title"), title);
  say(find("team-note"), text);
  say(find("team-confirm"), yes);
  find("team-dialog").showModal();
}

/** @param {WatchedTeam} team */
function askToEnd(team) {
  const people = team.members.filter((one) => one.left === null && one.participant !== null);
  confirmed({ path: `teams/${team.team}/end`, body: {}, done: `The team ${team.team} was ended.` }, `End the team ${team.team}?`,
    `${plural(people.length, "member")} will continue with the survey and be paid as the design says. What was played stays. This cannot be undone, and is written into the audit log.`,
    "End the team");
}

/**
 * @param {WatchedTeam} team
 * @param {TeamMember} one
 */
function askToReplace(team, one) {
  confirmed({ path: `teams/${team.team}/replace`, body: { participant: one.participant }, done: `An AI plays for ${one.participant} now.` },
    `Replace ${one.participant} by an AI?`,
    `An AI plays the seat “${one.name}” from now on, and the others continue with it. ${one.participant} continues with the survey and is paid as the design says. This cannot be undone, and is written into the audit log.`,
    "Replace by an AI");
}

form?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  if (!order) return;
  const yes = find("team-confirm");
  const message = find("team-message").value.trim();
  problem(form, null);
  yes.disabled = true;
  try {
    await post(`${ROOT}/api/admin/studies/${study}/${order.path}`, message ? { ...order.body, message } : order.body);
    find("team-dialog").close();
    toast(order.done);
    document.dispatchEvent(new Event("changed"));
  } catch (error) {
    problem(form, error);
  } finally {
    yes.disabled = false;
  }
});

find("team-states")?.addEventListener("click", (/** @type {any} */ event) => {
  const pressed = event.target.closest("button");
  if (!pressed) return;
  over = pressed.dataset.over === "true";
  offset = 0;
  for (const other of find("team-states").children) other.setAttribute("aria-pressed", other === pressed);
  document.dispatchEvent(new Event("changed"));
});
find("teams-pager")?.addEventListener("click", (/** @type {any} */ event) => {
  const pressed = event.target.closest("button");
  if (!pressed) return;
  offset = Math.max(0, offset + PAGE * Number(pressed.dataset.page));
  document.dispatchEvent(new Event("changed"));
});
if (section) setInterval(() => latest && tick(), 1000);
