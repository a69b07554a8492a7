// @ts-check
/** The page of the game: one request for each guest, sent again with the same round where the answer is lost. */

import * as icons from "./icons.js";

const CAKE_NAMES = ["sponge", "biscuit", "mooncake"];

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-tea]"));

const game = localStorage.getItem("game") ?? crypto.randomUUID();
localStorage.setItem("game", game);
/** @type {boolean[]} */
let outcomes = [];

/**
 * @param {string} address
 * @param {object} [body]
 * @returns {Promise<any>}
 */
async function ask(address, body) {
  for (let attempt = 0; ; attempt++) {
    try {
      const answer = await fetch(address, body && { method: "POST", body: JSON.stringify(body) });
      const said = await answer.json();
      if (answer.ok) return said;
      if (answer.status < 500 || attempt >= 4) throw new Error(said.message);
    } catch (error) {
      if (!(error instanceof TypeError) || attempt >= 4) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 200 * 2 ** attempt));
  }
}

function showScore() {
  at("guests").textContent = String(outcomes.length);
  at("happy").textContent = String(outcomes.filter(Boolean).length);
  at("streak").textContent = String(outcomes.slice(-10).filter(Boolean).length);
}

/** @param {unknown} error */
function complain(error) {
  at("problem").hidden = false;
  at("problem").textContent = error instanceof Error ? error.message : String(error);
}

/** @param {number} tea */
async function serve(tea) {
  buttons.forEach((button) => (button.disabled = true));
  at("problem").hidden = true;
  try {
    const played = await ask("/api/play", { game, round: outcomes.length + 1, tea });
    outcomes.push(played.happy);
    at("tea").innerHTML = icons.tea(tea);
    at("cake").innerHTML = icons.cake(played.cake);
    at("guest").innerHTML = icons.sign(played.happy ? "happy" : "unhappy");
    at("guest").className = `guest ${played.happy ? "good" : "bad"}`;
    at("said").textContent = `${played.happy ? "Lovely!" : "Hm."} Your partner served ${CAKE_NAMES[played.cake]}.`;
    showScore();
  } catch (error) {
    complain(error);
    await begin();
  }
  buttons.forEach((button) => (button.disabled = false));
}

async function begin() {
  try {
    const { rounds } = await ask(`/api/history?game=${game}`);
    outcomes = rounds.map((/** @type {{ happy: boolean }} */ round) => round.happy);
    showScore();
    document.body.dataset.ready = "true";
  } catch (error) {
    complain(error);
  }
}

at("tea").innerHTML = icons.sign("pot");
at("cake").innerHTML = icons.sign("secret");
at("guest").innerHTML = icons.sign("waiting");
buttons.forEach((button, kind) => {
  const picture = button.querySelector("span");
  if (picture) picture.innerHTML = icons.tea(kind);
});
buttons.forEach((button) => button.addEventListener("click", () => serve(Number(button.dataset.tea))));
await begin();
