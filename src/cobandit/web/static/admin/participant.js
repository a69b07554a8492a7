// One participant's play, round by round. Rounds come a page at a time: a casino has a thousand of them.

import { ago, copy, el, find, get, moment, number, place, plural, post, problem, reason, remove, say, stepName, toast } from "./common.js";
import { write } from "./messages.js";
import { combinations } from "../shared/seats.js";
import { ROOT } from "../shared/root.js";

const { study, participant = "" } = /** @type {HTMLElement} */ (document.querySelector("main")).dataset;
const base = `${ROOT}/api/admin/studies/${study}/participants/${encodeURIComponent(participant)}`;
const PAGE = 100;
/** @type {Person | null} */
let person = null;
const given = new URLSearchParams(location.search);
/** @param {string} name */
const numbered = (name) => (/^\d{1,9}$/.test(given.get(name) ?? "") ? Number(given.get(name)) : null);
/** The number of the episode. It is kept in the address, so that Back and a reload lead to it again.
 * @type {number | null} */
let chosen = numbered("episode");
let first = Math.max(1, numbered("from") ?? 1);
let asked = 0;

/** @param {number | null} ms */
const seconds = (ms) => (ms === null ? "–" : `${number(ms / 1000, ms < 10_000 ? 1 : 0)} s`);
/** @type {(name: string, value: Child) => HTMLElement} */
const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

async function load() {
  /** @type {Person} */
  let found;
  try {
    found = await get(base);
  } catch (error) {
    say(find("problem"), reason(error));
    find("problem").hidden = false;
    return;
  }
  find("problem").hidden = true;
  person = found;
  showFacts(found);
  showTabs(found);
  showAnswers(found);
  showEvents(found);
  if (!found.episodes.length) return;
  const known = found.episodes.some((one) => one.number === chosen);
  await choose(found, known && chosen !== null ? chosen : found.episodes[0].number, known ? first : 1);
}

/** @param {Person} person */
function showFacts(person) {
  find("blind-note").hidden = !person.blind;
  find("copy-link").hidden = person.url === null;
  const badge = find("status");
  say(badge, person.status);
  badge.className = `badge ${person.status}`;
  const idle = person.last_seen === null ? "–" : `${moment(person.last_seen)} (${ago(person.idle_seconds)})`;
  const took = person.finished_at && person.started_at ? ` (${number((person.finished_at - person.started_at) / 60_000, 1)} min)` : "";
  /** @type {[string, Child][]} */
  const facts = [
    ["Where", place(person)],
    ["Label", person.label && el("bdi", { class: "label" }, person.label)],
    ["Recruited by", person.recruiter && el("bdi", { class: "label" }, `${person.recruiter}: ${person.external_id}`)],
    ["Order", person.order && person.order.join(" → ")],
    ["Language", person.language],
    ["Quiz", person.quiz_attempts ? plural(person.quiz_attempts, "attempt") : null],
    ["Agreed", person.started_at && moment(person.started_at)],
    ["Last seen", idle],
    ["Finished", person.finished_at && moment(person.finished_at) + took],
  ];
  find("facts").replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) => fact(name, value)));
  const lost = [
    person.rounds.played === null ? "all rounds" : plural(person.rounds.played, "round"), plural(person.answers.length, "answered step"), plural(person.events_total, "event"),
  ];
  if (find("remove")) {
    find("remove").hidden = person.status === "removed" || person.status === "invited";
    find("restore").hidden = person.status !== "removed";
  }
  if (find("delete-note")) say(find("delete-note"), `This deletes ${lost.join(", ")} and the personal link, for good. It cannot be undone, ` +
    "and the place in the balance of orders becomes free.");
}

// Episodes

/** @param {Person} person */
function showTabs(person) {
  const box = find("tabs");
  find("no-play").hidden = person.episodes.length > 0;
  find("panel").hidden = person.episodes.length === 0;
  const focused = box.contains(document.activeElement);
  /** @type {Map<string, PlayedEpisode[]>} */
  const groups = new Map();
  for (const one of person.episodes) {
    const name = one.practice ? "Practice" : `Set ${one.set}: ${one.condition}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  const list = el("div", { role: "tablist", "aria-label": "Episodes" });
  for (const [name, members] of groups) {
    const tabs = members.map((one) => el("button", {
      type: "button", role: "tab", id: `tab-${one.number}`, "aria-controls": "panel", "data-number": one.number,
      "aria-label": one.of > 1 ? `${name}, game ${one.place}` : name,
    }, one.of > 1 ? String(one.place) : name));
    list.append(el("div", { class: "tab-group", role: "presentation" },
      members[0].of > 1 ? el("span", { class: "soft", "aria-hidden": "true" }, name) : null, ...tabs));
  }
  box.replaceChildren(list);
  list.addEventListener("click", (event) => {
    const tab = /** @type {HTMLElement} */ (event.target).closest("[role=tab]");
    if (tab instanceof HTMLElement) choose(person, Number(tab.dataset.number), 1);
  });
  list.addEventListener("keydown", (event) => {
    const tabs = tabsIn(list);
    const now = tabs.findIndex((tab) => tab === document.activeElement);
    /** @type {Record<string, number>} */
    const keys = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 };
    const to = keys[event.key];
    if (to === undefined || now < 0) return;
    event.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length];
    tab.focus();
    choose(person, Number(tab.dataset.number), 1);
  });
  mark(person);
  if (focused) find(`tab-${chosen}`)?.focus();
}

/**
 * @param {HTMLElement} node
 * @returns {HTMLElement[]}
 */
const tabsIn = (node) => [...node.querySelectorAll("[role=tab]")].filter((tab) => tab instanceof HTMLElement);

/** @param {Person} person */
function mark(person) {
  const wanted = chosen ?? person.episodes[0]?.number;
  for (const tab of tabsIn(find("tabs"))) {
    const mine = Number(tab.dataset.number) === wanted;
    tab.setAttribute("aria-selected", String(mine));
    tab.tabIndex = mine ? 0 : -1;
  }
  if (wanted !== undefined) find("panel").setAttribute("aria-labelledby", `tab-${wanted}`);
}

/**
 * @param {Person} person
 * @param {number} wanted
 * @param {number} from
 */
async function choose(person, wanted, from) {
  chosen = wanted;
  first = from;
  history.replaceState(null, "", `?episode=${wanted}${from > 1 ? `&from=${from}` : ""}`);
  mark(person);
  const episode = person.episodes.find((one) => one.number === wanted);
  if (!episode) return;
  showEpisode(person, episode);
  const mine = ++asked;
  try {
    const found = await get(`${base}/episodes/${wanted}?from=${first}&limit=${PAGE}`);
    if (mine === asked) showRounds(person, episode, found);
  } catch (error) {
    if (mine === asked) toast(reason(error));
  }
}

/** @type {(person: Person, arms: number[]) => string} */
const others = (person, arms) => arms.map((arm, seat) => (seat === person.seat ? "" : person.arms[seat][arm])).filter(Boolean).join(" + ");

/**
 * @param {Person} person
 * @param {PlayedEpisode} episode
 */
function showEpisode(person, episode) {
  const { words } = person.study;
  find("episode-facts").replaceChildren(
    fact("Condition", episode.condition),
    fact("Rounds", episode.rounds === null ? episode.finished_at === null ? "playing" : "finished" : `${number(episode.played)} of ${number(episode.rounds)}`),
    ...(person.blind ? [] : [person.scored ? fact("Points", number(episode.good, 1)) : fact(words.good, number(episode.good)), fact("Task regret", number(episode.regret, 2))]),
    fact("Mean reaction", seconds(episode.reaction_ms)),
    fact("Opened", moment(episode.opened_at)),
    fact("Finished", moment(episode.finished_at)),
    ...(episode.swapped ? [fact("Labels", "swapped in this set")] : []),
  );
  for (const id of ["cells-note", "cells-scroll", "strip", "strip-note"]) find(id).hidden = person.blind || (person.scored === true && id.startsWith("strip"));
  if (person.blind) return;
  if (person.layers) {
    showBurgers(person.layers, episode, words);
    return;
  }
  const mine = person.arms[person.seat];
  const columns = combinations(person.arms.map((labels) => labels.length), person.seat);
  const best = Math.max(...episode.cells.map((cell) => cell.mean));
  /** @type {(arms: number[]) => PlayedEpisode["cells"][number]} */
  const cellOf = (arms) => episode.cells.find((cell) => cell.arms.join() === arms.join())
    ?? { arms, mean: NaN, played: 0, good: 0 };
  say(find("cells-note"), person.scored ? `Each ${words.configuration}: its true mean, its points, and how often it was played.`
    : `Each ${words.configuration}: its true chance, and how often it was ${words.good} of the times it was played.`);
  say(find("strip-note"), `One mark for each round: filled where it was ${words.good}, underlined where it was the best ${words.configuration}.`);
  find("cells").replaceChildren(
    el("thead", {}, el("tr", {}, el("td", {}), ...columns.map((arms) => el("th", { scope: "col" }, others(person, arms))))),
    el("tbody", {}, ...mine.map((label, i) => el("tr", {}, el("th", { scope: "row" }, label),
      ...columns.map((arms) => {
        const cell = cellOf(arms.map((arm, seat) => (seat === person.seat ? i : arm)));
        return el("td", { class: cell.mean === best ? "best" : null }, person.scored ? number(cell.mean, 2) : `${number(100 * cell.mean)} %`,
          cell.mean === best ? el("span", { class: "soft" }, " best") : null,
          el("br"), el("span", { class: "soft" }, person.scored ? `${number(cell.good, 1)} in ${number(cell.played)}` : `${number(cell.good)} of ${number(cell.played)}`));
      })))),
  );
}

/**
 * The burgers of a line that were played, with the arms of all layers.
 * @param {string[][][]} layers
 * @param {PlayedEpisode} episode
 * @param {Record<string, string>} words
 */
function showBurgers(layers, episode, words) {
  for (const id of ["strip", "strip-note"]) find(id).hidden = true;
  const seats = layers[0].length;
  const best = Math.max(...episode.cells.map((cell) => cell.mean));
  say(find("cells-note"), `Each ${words.configuration} that was finished, and the best one: its true chance, and how often it was ${words.good} of the times it was played.`);
  find("cells").replaceChildren(el("tbody", {}, ...episode.cells.filter((cell) => cell.played || cell.mean === best).map((cell) => el("tr", {},
    el("th", { scope: "row" }, cell.arms.map((arm, i) => layers[Math.floor(i / seats)][i % seats][arm]).join(" + ")),
    el("td", { class: cell.mean === best ? "best" : null }, `${number(100 * cell.mean)} %`, cell.mean === best ? el("span", { class: "soft" }, " best") : null),
    el("td", {}, `${number(cell.good)} of ${number(cell.played)}`)))));
}

/**
 * @param {Person} person
 * @param {PlayedEpisode} episode
 * @param {PlayedRounds} found
 */
function showRounds(person, episode, found) {
  const { words } = person.study;
  const called = person.seats.map((name, seat) => (seat === person.seat && name === "You" ? "Participant" : name));
  const agents = person.seats.map((_, seat) => seat).filter((seat) => seat !== person.seat);
  /** @type {(text: string, kind?: string) => HTMLElement} */
  const head = (text, kind) => el("th", { scope: "col", class: kind ?? null }, text);
  // While blind, the server sends the participant's own arm and the times alone.
  find("rounds").tHead.replaceChildren(el("tr", {}, head("Round", "number"),
    ...(person.blind ? [head(called[person.seat])] : [...called.map((name) => head(name)), head("Outcome"),
      ...agents.map((seat) => head(`${called[seat]} saw`)), ...agents.map((seat) => head(`${called[seat]} foresaw`)),
      head("Regret", "number")]),
    head("Reaction", "number"), head("Stored at")));
  /** The label of an arm, which depends on the layer at a line.
   * @type {(arm: number, seat: number, t: number) => string} */
  const labelled = (arm, seat, t) => (person.layers ? person.layers[(t - 1) % person.layers.length] : person.arms)[seat][arm];
  /** What an agent foresaw of the others.
   * @type {(row: (number | null)[], t: number) => string} */
  const foreseen = (row, t) => row.map((arm, seat) => (arm === null ? "" : labelled(arm, seat, t))).filter(Boolean).join(" + ") || "–";
  /** @type {(arm: number | null, seat: number, t: number) => string} */
  const chosenArm = (arm, seat, t) => (arm === null ? "–" : labelled(arm, seat, t));
  /** @param {number | null} value */
  const outcome = (value) => (value === null ? "nothing" : person.scored ? number(value, 2) : value ? words.good : words.bad);
  find("rounds").tBodies[0].replaceChildren(...found.rounds.map((round) => el("tr", {},
    el("th", { scope: "row", class: "number" }, number(round.t)),
    ...(person.blind ? [el("td", {}, chosenArm(round.arms[person.seat], person.seat, round.t))] : [
      ...round.arms.map((arm, seat) => el("td", {}, chosenArm(arm, seat, round.t))),
      el("td", {}, el("span", { class: `outcome ${round.reward ? "good" : "bad"}` }, outcome(round.reward))),
      ...agents.map((seat) => el("td", {}, outcome(round.seen[seat]))),
      ...agents.map((seat) => el("td", {}, foreseen(round.predictions[seat], round.t))),
      el("td", { class: "number" }, number(round.regret, 2)),
    ]),
    el("td", { class: "number" }, seconds(round.ms)),
    el("td", { class: "time" }, moment(round.at)),
  )));
  const good = found.rounds.filter((round) => round.reward).length;
  const strip = find("strip");
  strip.setAttribute("aria-label", `${good} of these ${found.rounds.length} rounds were ${words.good}`);
  strip.replaceChildren(...(person.blind ? [] : found.rounds).map((round) => el("span", {
    class: `${round.reward ? "good" : "bad"}${round.regret !== null && round.regret < 1e-12 ? " best" : ""}`,
    title: `Round ${round.t}: ${round.arms.map((arm, seat) => chosenArm(arm, seat, round.t)).join(" + ")}, ${outcome(round.reward)}`,
  })));
  const played = found.played ?? 0; // null: the number of rounds would tell a blind account the condition
  find("rounds-scroll").hidden = found.played === null;
  find("rounds-hidden").hidden = found.played !== null;
  find("pager").hidden = played <= PAGE;
  const last = first + found.rounds.length - 1;
  say(find("page-note"), `Rounds ${number(first)} to ${number(last)} of ${number(played)}`);
  const [earlier, later] = find("pager").querySelectorAll("button");
  earlier.disabled = first <= 1;
  later.disabled = last >= played;
  find("panel").dataset.shown = `${episode.number} ${first}`;
}

find("pager").addEventListener("click", (/** @type {any} */ event) => {
  const button = event.target.closest("button");
  if (button && person && chosen !== null) choose(person, chosen, Math.max(1, first + PAGE * Number(button.dataset.page)));
});

// Answers and events

/** @param {Person} person */
function showAnswers(person) {
  find("no-answers").hidden = person.answers.length > 0;
  /** @type {number | null} */
  let before = null;
  const rows = person.answers.map((one) => {
    const since = before === null ? null : one.at - before;
    before = one.at;
    const items = one.items.map((item) => el("div", { class: "answer" },
      el("dt", {}, item.text), el("dd", {}, el("bdi", {}, item.value === null ? "–" : String(item.value)),
        item.right === null ? null :
          el("span", { class: `badge ${item.right ? "open" : "dropped"}` }, item.right ? "right" : "wrong"))));
    return el("tr", {},
      el("th", { scope: "row" }, stepName(one.step, one.kind)),
      el("td", { "data-label": "Answered" }, moment(one.at)),
      el("td", { "data-label": "Took", class: "number" }, seconds(one.ms ?? since)),
      el("td", { class: "items" }, items.length ? el("dl", {}, ...items) : null));
  });
  const table = el("table", { class: "stacked" },
    el("thead", {}, el("tr", {}, ...["Step", "Answered", "Took", "Answers"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows));
  const box = el("div", { class: "scroll tall long", tabindex: "0", role: "group", "aria-labelledby": "answers-heading" }, table);
  find("answers").replaceChildren(...(rows.length ? [box] : []));
}

/** @param {Person} person */
function showEvents(person) {
  const { events, events_total: total } = person;
  say(find("events-note"), !total ? "None." : events.length < total ?
    `The latest ${number(events.length)} of ${number(total)}.` : plural(total, "event") + ".");
  find("events-scroll").hidden = !events.length;
  find("events").tBodies[0].replaceChildren(...events.map((event) => el("tr", {},
    el("td", { class: "time" }, moment(event.at)), el("td", {}, event.kind),
    el("td", {}, Object.keys(event.data).length ? el("code", {}, JSON.stringify(event.data)) : ""))));
}

// What people press

find("reload").addEventListener("click", load);
find("message").addEventListener("click", () => write(participant, { participant }));
document.addEventListener("changed", load);
find("copy-link").addEventListener("click", () => {
  if (person?.url) copy(person.url, "Personal link copied");
});
const removal = find("remove-form");
find("remove")?.addEventListener("click", () => {
  removal.reset();
  problem(removal, null);
});
removal?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  problem(removal, null);
  try {
    await post(`${base}/remove`, { reason: find("remove-reason").value });
    find("remove-dialog").close();
    toast(`${participant} was removed from the study. The data stay.`);
    await load();
  } catch (error) {
    problem(removal, error);
  }
});
find("restore")?.addEventListener("click", async () => {
  try {
    await post(`${base}/restore`, {});
    toast(`${participant} counts again.`);
    await load();
  } catch (error) {
    toast(reason(error));
  }
});
const dialog = find("delete-dialog");
const form = find("delete-form");
find("delete")?.addEventListener("click", () => {
  form.reset();
  problem(form, null);
  find("delete-confirm").disabled = true;
  dialog.showModal();
  find("delete-id").focus();
});
find("delete-id")?.addEventListener("input", (/** @type {any} */ event) => {
  find("delete-confirm").disabled = event.target.value.trim() !== participant;
});
form?.addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  if (find("delete-id").value.trim() !== participant) return;
  find("delete-confirm").disabled = true;
  try {
    await remove(base);
    location.assign(`${ROOT}/admin/studies/${study}?kind=${person?.kind ?? "real"}&deleted=${encodeURIComponent(participant)}`);
  } catch (error) {
    problem(form, error);
    find("delete-confirm").disabled = false;
  }
});

load();
