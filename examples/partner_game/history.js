// @ts-check
/** The page of the team's history: what was served, how it went, and what the partner had foreseen. */

import * as icons from "./icons.js";

const TEAS = ["Green", "Black", "Hibiscus"];
const CAKES = ["sponge", "biscuit", "mooncake"];

/** @typedef {{ round: number, tea: number, cake: number, happy: boolean, seen: boolean, foreseen: number | null }} Round */

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * @param {string} name
 * @param {string} [text]
 * @param {string} [className]
 */
function element(name, text = "", className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

/** @param {Round[]} rounds */
function show(rounds) {
  const foreseeing = rounds.filter((round) => round.foreseen !== null);
  at("empty").hidden = rounds.length > 0;
  at("guests").textContent = String(rounds.length);
  if (rounds.length > 0) {
    at("happy").textContent = `${Math.round((100 * rounds.filter((round) => round.happy).length) / rounds.length)} %`;
    const hits = foreseeing.filter((round) => round.foreseen === round.tea).length;
    at("foreseen").textContent = foreseeing.length ? `${Math.round((100 * hits) / foreseeing.length)} %` : "–";
  }
  TEAS.forEach((name, tea) => {
    const row = document.createElement("tr");
    const head = element("th", name);
    head.insertAdjacentHTML("afterbegin", `<i>${icons.tea(tea)}</i>`);
    head.setAttribute("scope", "row");
    row.append(head);
    CAKES.forEach((_, cake) => {
      const own = rounds.filter((round) => round.tea === tea && round.cake === cake);
      const happy = own.filter((round) => round.happy).length;
      const cell = element("td", own.length ? `${happy} of ${own.length}` : "–");
      if (own.length) cell.dataset.share = String(Math.min(4, Math.floor((5 * happy) / own.length)));
      row.append(cell);
    });
    at("pairs").append(row);
  });
  for (const round of rounds) {
    const hit = round.foreseen === round.tea;
    const entry = element("li", "", `dot ${round.happy ? "good" : "bad"}${hit ? " ring" : ""}`);
    const words = `Round ${round.round}: ${TEAS[round.tea]} tea with ${CAKES[round.cake]}, ${
      round.happy ? "happy" : "not happy"}${hit ? ", foreseen" : ""}`;
    entry.title = words;
    entry.append(element("span", words, "unseen"));
    at("rounds").append(entry);
  }
  document.body.dataset.ready = "true";
}

document.querySelectorAll("thead i").forEach((place, kind) => (place.innerHTML = icons.cake(kind)));

const game = localStorage.getItem("game");
try {
  const answer = game === null ? null : await fetch(`/api/history?game=${game}`);
  const said = answer === null ? { rounds: [] } : await answer.json();
  if (answer !== null && !answer.ok) throw new Error(said.message);
  show(said.rounds);
} catch (error) {
  at("problem").hidden = false;
  at("problem").textContent = error instanceof Error ? error.message : String(error);
}
