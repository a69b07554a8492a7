// The experimenter's console: what the arm does, what it asks for, and the buttons that step in.

import { el, find, get, post, reason, say, toast } from "./common.js";
import { ROOT } from "../shared/root.js";

const BASE = `${ROOT}/api/admin/robot`;
const PAUSE = 600;
const READ = 400; // milliseconds; an earlier press was meant for the previous request

/** @type {Console | null} */
let shown = null;
let asking = false;
const byHand = find("driver").textContent === "null"; // without a robot, the experimenter places its layers
const placedButton = /** @type {HTMLButtonElement} */ (find("placed"));

/** @type {Record<string, string>} */
const ITEMS = { patty: "Patty", cheese: "Cheese", tomato: "Tomato", lettuce: "Lettuce", top_bun: "Top bun" };
const time = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** @param {Console} state */
function standing({ connected, halted, burger }) {
  if (halted) return ["Stopped", "dropped"];
  if (!connected) return ["Not connected", "closed"];
  if (!burger) return ["Ready", "finished"];
  return burger.standing === "stopped" ? ["Waits for you", "idle"] : ["Stacking", "active"];
}

/** @param {Console} state */
function doing({ burger, request, halted }) {
  if (request) return request.text;
  if (burger?.doing) return `${burger.doing} …`;
  if (halted) return byHand ? "Stacking is stopped until you press Continue." : "The arm is stopped. Nothing moves until you press Continue.";
  if (burger) return burger.standing === "stopped" ? "The burger has stopped. Continue, or skip it: the participant's round is stored either way." : "One moment …";
  return "Waiting for the next choice of the participant.";
}

/** @param {Console} state */
function show(state) {
  if (state.request?.number !== shown?.request?.number) {
    placedButton.disabled = true;
    setTimeout(() => { placedButton.disabled = false; }, READ);
  }
  shown = state;
  const { burger, request, halted } = state;
  const [word, kind] = standing(state);
  const badge = find("arm-standing");
  say(badge, word);
  badge.className = `badge ${kind}`;
  say(find("doing"), doing(state));
  const trouble = burger?.standing === "stopped" ? burger.message : "";
  say(find("arm-message"), trouble);
  find("arm-message").hidden = !trouble;
  placedButton.hidden = !request;
  find("retry").hidden = !halted && burger?.standing !== "stopped";
  find("skip").hidden = !burger;
  say(find("whose"), burger ? `Participant ${burger.participant}, round ${burger.round}` : "None.");
  drawLayers(burger);
  say(find("arm-connection"), state.connection);
  say(find("holder"), state.holder ?? "none");
  find("release").disabled = !state.holder || burger !== null;
  const lines = state.notes.map(({ at, text }) => `${time.format(at)}  ${text}`);
  const list = find("notes");
  if (list.dataset.shown !== lines.join("\n")) {
    list.dataset.shown = lines.join("\n");
    list.replaceChildren(...state.notes.map(({ at, text }) => el("li", {}, el("span", { class: "soft" }, time.format(at)), " ", text)));
  }
}

/** Draw the layers from the top of the burger down, in the order on the table.
 * @param {Console["burger"]} burger */
function drawLayers(burger) {
  const layers = burger?.layers ?? [];
  const next = layers.findIndex(({ done }) => !done);
  const list = find("layers");
  const drawn = JSON.stringify([layers, next]);
  if (list.dataset.shown === drawn) return;
  list.dataset.shown = drawn;
  list.replaceChildren(...layers.map(({ item, by, done }, i) =>
    el("li", { class: done ? "done" : i === next ? "next" : "", "aria-current": i === next ? "step" : null },
      el("strong", {}, ITEMS[item] ?? item), " ",
      el("span", { class: "soft" }, by === "person" ? "by the participant" : byHand ? "by you" : "by the robot", done ? ", placed" : i === next ? ", next" : ""))).reverse());
}

async function refresh() {
  if (asking) return;
  asking = true;
  try {
    show(await get(BASE));
    say(find("connection"), "live");
  } catch (error) {
    say(find("connection"), reason(error));
  } finally {
    asking = false;
  }
}

/**
 * @param {string} what
 * @param {object} [body]
 */
async function act(what, body) {
  try {
    await post(`${BASE}/${what}`, body);
  } catch (error) {
    toast(reason(error));
  }
  await refresh();
}

function placed() {
  if (shown?.request && !placedButton.disabled) act("placed", { request: shown.request.number });
}

find("stop").addEventListener("click", () => act("stop"));
find("retry").addEventListener("click", () => act("retry"));
find("connect").addEventListener("click", () => act("connect"));
find("release").addEventListener("click", () => act("release"));
find("skip").addEventListener("click", () => shown?.burger && act("skip", { burger: shown.burger.name }));
placedButton.addEventListener("click", placed);
addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    event.preventDefault();
    act("stop");
  } else if (event.key === "Enter" && event.target === document.body) placed();
});

await refresh();
setInterval(refresh, PAUSE);
