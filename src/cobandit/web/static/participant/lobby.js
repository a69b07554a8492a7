// Waiting for other people: the lobby before a team is complete, and the meeting of a team before an episode.

import { el } from "./dom.js";
import { Sound } from "./sound.js";

const POLL = 1500;
const BLINK = 1000;

/** Calls a participant back from another tab: the title changes, and a short sound is played. */
export class Call {
  #sound = new Sound();
  #timer = 0;
  #title = "";

  /** @param {string} text */
  start(text) {
    if (this.#timer || document.visibilityState === "visible") return;
    this.#title = document.title;
    this.#sound.on = true;
    this.#sound.end();
    this.#timer = setInterval(() => {
      if (document.visibilityState === "visible") this.stop();
      else document.title = document.title === text ? this.#title : text;
    }, BLINK);
  }

  stop() {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = 0;
    document.title = this.#title;
    this.#sound.close();
  }
}

/**
 * The lobby. It continues by itself: `visit(ready)` confirms the presence to the server, `done()` reads the state.
 * @param {{ texts: Texts, lobby: Lobby | null, visit: (ready: boolean) => Promise<LobbyReply | null>, done: () => void,
 *   stream: () => EventSource | null, wanted: () => boolean, speak: (text: string) => void }} lent
 */
export function lobbyPage({ texts, lobby, visit, done, stream, wanted, speak }) {
  const call = new Call();
  const count = el("p", { class: "figure" });
  const waited = el("p", { class: "soft" });
  const asked = el("p", { class: "question" });
  const here = el("button", { type: "button", class: "primary", onclick: () => ask(true) }, texts.say("lobby.here"));
  const check = el("div", { class: "card big", hidden: true }, asked, el("div", { class: "actions" }, here));
  const element = el("div", { class: "lobby" },
    el("p", {}, texts.say("lobby.text")),
    el("div", { class: "card big" }, count, waited),
    check,
    el("p", { class: "soft" }, texts.say("lobby.tab")));
  let spoken = "";

  /** @param {Lobby} view */
  function show(view) {
    count.textContent = texts.say("lobby.count", { n: view.waiting, needed: view.needed });
    const minutes = Math.floor(view.waited_seconds / 60);
    const seconds = String(view.waited_seconds % 60).padStart(2, "0");
    waited.textContent = texts.say(view.when_short === "dismiss" ? "lobby.waited.dismiss" : "lobby.waited", {
      time: `${minutes}:${seconds}`, limit: Math.max(1, Math.round(view.limit_seconds / 60)),
    });
    const question = view.expired ? texts.say("lobby.expired")
      : view.check_in ? texts.say("lobby.check", { n: view.check_in.seconds_left }) : "";
    check.hidden = !question;
    asked.textContent = question;
    if (view.check_in || view.expired) call.start(texts.say("lobby.call"));
    else call.stop();
    const news = view.check_in ? texts.say("lobby.check", { n: view.check_in.seconds_left }) : count.textContent;
    if (news !== spoken && (view.check_in ? !spoken.includes("?") : true)) speak(news ?? "");
    spoken = news ?? "";
  }

  async function ask(ready = false) {
    const reply = await visit(ready);
    if (!wanted() || !reply) return;
    if (reply.lobby) show(reply.lobby);
    else finish();
  }

  function finish() {
    call.start(texts.say("lobby.found"));
    close();
    done();
  }

  const events = stream();
  events?.addEventListener("step", () => wanted() && finish());
  events?.addEventListener("lobby", (event) => wanted() && show(JSON.parse(event.data)));
  const timer = setInterval(() => (wanted() ? ask() : close()), POLL);

  function close() {
    clearInterval(timer);
    events?.close();
  }

  if (lobby) show(lobby);
  ask();
  return { element, close };
}
