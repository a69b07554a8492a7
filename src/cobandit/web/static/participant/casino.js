// The casino: two rows of machines and two keys. A choice is echoed immediately and sent in batches; what the machines
// show, counts included, is what the server has answered. Levers, reels, flying coins and sound follow the pulls and hold
// up none.

import { range } from "./counts.js";
import { el, still, svg, typing, unseen } from "./dom.js";
import { fitWords } from "./fit.js";
import { avatar } from "./partner.js";
import { Sound } from "./sound.js";

const GAP = 56; // ms between two pulls of a held key: 1000 pulls in just under a minute
const FIRST = 260; // ms after which a held key repeats; a short press is one pull
const MOST_UNANSWERED = 64;
const FRAME = 24;

const DIP = [{ transform: "none" }, { transform: "rotate(48deg)", offset: 0.35 }, { transform: "none" }];
const SPIN = [{ transform: "translateY(-46px)" }, { transform: "translateY(5px)", offset: 0.8 }, { transform: "none" }];
const FLIGHT = 550; // ms from a machine to the purse
const MOST_FLYING = 8; // a held key wins faster than coins can be followed
const ROW_KEYS = [["ArrowUp", "w"], ["ArrowDown", "s"]];

/**
 * @param {App} app
 * @returns {Task}
 */
export function casino(app) {
  const { state, texts } = app;
  const { episode } = state;
  const [rows, columns] = state.task.arms;
  const twoRows = rows === 2;
  const counts = new Map(episode.counts.map(({ arms, good, bad }) => [arms.join("-"), { good, bad }]));
  let played = episode.played;
  let coins = episode.good;
  let over = episode.finished;
  let frame = 0;
  let shownAt = 0;
  let latest = episode.latest;
  let ready = performance.now();
  /** @type {Round[]} */
  const arrived = [];
  const sound = new Sound();

  // ------------------------------------------------------------------------------------------------ what is seen

  /** @type {Map<string, ReturnType<typeof machine>>} */
  const machines = new Map();
  const labels = range(rows).map((row) => el("span", { class: "label" }, texts.arm(0, row)));
  const rowButtons = labels.map((label, row) => el("button", {
    type: "button", class: "row-button", "data-arm": row,
    "aria-keyshortcuts": twoRows ? ROW_KEYS[row].map((key) => (key.length === 1 ? key.toUpperCase() : key)).join(" ") : String(row + 1),
  }, el("kbd", { "aria-hidden": "true" }, twoRows ? ["▲", "▼"][row] : String(row + 1)), label));
  const heads = range(columns).map((column) => el("div", { class: "column-head" }, texts.arm(1, column)));
  const floor = el("div", { class: "floor", role: "group", "aria-label": texts.say("casino.machines") },
    el("div", { class: "corner" }, state.partner && avatar(state.partner.look)), heads,
    range(rows).map((row) => [rowButtons[row], range(columns).map((column) => {
      const made = machine(texts, texts.arm(0, row), texts.arm(1, column));
      machines.set(`${row}-${column}`, made);
      return made.element;
    })]));
  floor.style.setProperty("--columns", String(columns));
  floor.style.setProperty("--rows", String(rows));
  fitWords(floor, [labels, heads].map((nodes) => ({ nodes, texts: nodes.map((node) => node.textContent ?? "") })));

  /** @param {string} name */
  const figure = (name) => {
    const value = el("b", {});
    return { value, node: el("div", { class: "stat" }, el("span", { class: "soft" }, texts.say(name)), value) };
  };
  const won = figure("casino.coins");
  won.node.classList.add("won");
  won.node.append(el("span", { class: "amount" }, token("lucky"), won.value));
  const budget = figure("casino.budget");
  const pulls = figure("casino.pulls");
  const best = figure("casino.best");
  const before = Math.max(0, ...state.results ?? []);
  const purse = el("div", { class: "fill" });
  const hear = el("button", {
    type: "button", class: "sound", "aria-pressed": String(sound.on),
    onclick: () => {
      sound.turn(!sound.on);
      hear.setAttribute("aria-pressed", String(sound.on));
    },
  }, speaker(), el("span", {}, texts.say("casino.sound")));
  const news = el("p", { class: "news" });
  const hint = el("p", { class: "soft keys" }, texts.say(twoRows ? "casino.keys" : "casino.digits", { n: rows }));
  const element = el("div", { class: "task casino" },
    el("div", { class: "play" },
      el("div", { class: "bank" },
        el("div", { class: "stats" }, won.node, budget.node, pulls.node, state.results?.length ? best.node : null),
        el("div", { class: "purse", "aria-hidden": "true" }, purse)),
      floor, el("div", { class: "casino-foot" }, news, hear), hint));

  function draw() {
    for (const [key, { good, bad }] of counts) machines.get(key)?.count(good, bad);
    won.value.textContent = texts.shown(coins);
    budget.value.textContent = texts.shown(episode.rounds - played);
    pulls.value.textContent = texts.shown(played);
    best.value.textContent = texts.shown(Math.max(before, coins));
    best.node.classList.toggle("beaten", coins > before);
    purse.style.setProperty("width", `${(100 * (episode.rounds - played)) / episode.rounds}%`);
    const at = latest && latest.arms.join("-");
    for (const [key, made] of machines) made.light(key === at ? latest : null);
    heads.forEach((head, column) => head.classList.toggle("latest", latest?.arms[1] === column));
    if (latest) news.textContent = sentence(latest);
    else news.textContent = app.opening;
    element.dataset.played = String(played);
    app.advance(played / episode.rounds);
  }

  let flying = 0;
  /** A coin that was won moves from its machine to the purse.
   * @param {string} from */
  function fly(from) {
    const machine = machines.get(from)?.element;
    if (!machine || still() || flying >= MOST_FLYING) return;
    const coin = el("span", { class: "flying-coin", "aria-hidden": "true" }, token("lucky"));
    const [start, end, origin] = [machine, won.value, element].map((node) => node.getBoundingClientRect());
    const x = start.left + start.width / 2 - origin.left;
    const y = start.top + start.height / 2 - origin.top;
    const [dx, dy] = [end.left + end.width / 2 - origin.left - x, end.top + end.height / 2 - origin.top - y];
    coin.style.setProperty("left", `${x}px`);
    coin.style.setProperty("top", `${y}px`);
    element.append(coin);
    flying += 1;
    const flight = coin.animate([
      { transform: "scale(.6)", opacity: 0 },
      { transform: `translate(${0.15 * dx}px, ${0.15 * dy - 24}px) scale(1.2)`, opacity: 1, offset: 0.25 },
      { transform: `translate(${dx}px, ${dy}px) scale(.8)`, opacity: 1 },
    ], { duration: FLIGHT, easing: "ease-in" });
    flight.finished.catch(() => {}).finally(() => {
      flying -= 1;
      coin.remove();
    });
  }

  /** @param {Round} round */
  const sentence = ({ t, arms, good }) => {
    const [mine, theirs] = /** @type {number[]} */ (arms);
    return texts.say("casino.latest", { t, mine: texts.arm(0, mine), theirs: texts.arm(1, theirs), outcome: texts.outcome(good) });
  };

  /** Answers arrive in batches. Spread them over a few frames, so that pulls follow each other instead of jumping.
   * @param {number} now */
  function play(now) {
    frame = 0;
    if (now - shownAt >= FRAME) {
      shownAt = now;
      for (const round of arrived.splice(0, Math.ceil(arrived.length / 6))) {
        played = round.t;
        latest = round;
        sound.pull(round.good);
        if (round.good === null) continue;
        const count = counts.get(round.arms.join("-"));
        if (count) count[round.good ? "good" : "bad"] += 1;
        coins += round.good ? 1 : 0;
        if (round.good) fly(round.arms.join("-"));
      }
      draw();
      speakSoon();
    }
    if (arrived.length) frame = requestAnimationFrame(play);
    else if (played >= episode.rounds) end();
  }

  // ------------------------------------------------------------------------------------------------ what is heard

  let spoken = 0;
  let speaking = 0;
  function speakSoon() {
    clearTimeout(speaking);
    const say = () => {
      spoken = performance.now();
      if (latest) app.speak(`${sentence(latest)} ${texts.say("casino.summary", { n: coins, played })}`);
    };
    // Screen readers announce a single pull when it is over, and a held key every few seconds.
    speaking = setTimeout(say, performance.now() - spoken > 5000 && held.length ? 0 : 500);
  }

  // ------------------------------------------------------------------------------------------------ pulling

  /** @type {number[]} */
  const held = []; // rows whose key or button is down, the latest last
  /** @type {number[]} */
  const taps = []; // presses whose pull is still to come
  let due = 0;
  let timer = 0;
  let last = -GAP;

  /** @param {number} row */
  function pull(row) {
    const now = performance.now();
    if (over || now - last < GAP - 4) return;
    if (app.unsent().length >= MOST_UNANSWERED) {
      news.textContent = texts.say("casino.behind");
      return;
    }
    if (!app.choose(row, Math.round(now - ready))) {
      stop();
      return;
    }
    last = now;
    ready = now;
    if (!latest) news.textContent = ""; // "Ready when you are." is over
    echo(row);
  }

  let fading = 0;
  /** @param {number} row */
  function aim(row) {
    rowButtons.forEach((button, i) => button.classList.toggle("picked", i === row));
    for (const [key, made] of machines) made.element.classList.toggle("aimed", key.startsWith(`${row}-`));
  }

  /** @param {number} row */
  function echo(row) {
    aim(row);
    fade();
  }

  function fade() {
    clearTimeout(fading);
    fading = setTimeout(() => held.length || aim(-1), 220);
  }

  /** Pull once for every press, even if it follows the last one very quickly; a held row repeats by itself.
   * @param {number} row */
  function press(row) {
    if (held.includes(row)) return;
    held.push(row);
    if (taps.length < 4) taps.push(row);
    due = performance.now() + FIRST;
    schedule();
  }

  function schedule() {
    clearTimeout(timer);
    const now = performance.now();
    if (!taps.length && !held.length) return;
    const wait = (taps.length ? last + GAP : due) - now;
    if (wait > 0) timer = setTimeout(turn, wait);
    else turn();
  }

  function turn() {
    const now = performance.now();
    const tapped = taps.shift();
    if (tapped !== undefined) pull(tapped);
    else if (held.length) {
      pull(held[held.length - 1]);
      due = now - due > GAP ? now + GAP : due + GAP; // after a delay continue, do not catch up in a burst
    }
    timer = setTimeout(schedule, 0);
  }

  /** @param {number} row */
  function release(row) {
    const place = held.indexOf(row);
    if (place >= 0) held.splice(place, 1);
    fade();
  }

  function stop() {
    held.length = 0;
    taps.length = 0;
    clearTimeout(timer);
  }

  /** @param {KeyboardEvent} event */
  const rowOf = (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = twoRows ? ROW_KEYS.findIndex((keys) => keys.includes(key)) : -1;
    return found >= 0 ? found : range(rows).findIndex((row) => key === String(row + 1));
  };
  app.keys((event) => {
    const row = rowOf(event);
    if (row < 0 || typing(event)) return;
    event.preventDefault();
    if (!event.repeat) press(row);
  });
  /** @param {KeyboardEvent} event */
  const up = (event) => release(rowOf(event));
  addEventListener("keyup", up);
  addEventListener("blur", stop);
  document.addEventListener("visibilitychange", stop);

  for (const [row, button] of rowButtons.entries()) {
    let touched = false;
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      touched = true;
      button.setPointerCapture?.(event.pointerId);
      press(row);
    });
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(kind, () => release(row));
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    // A click without a pointer comes from Enter, Space or a screen reader.
    button.addEventListener("click", () => {
      if (!touched) pull(row);
      touched = false;
    });
  }

  function end() {
    if (over) return;
    over = true;
    stop();
    sound.end();
    setTimeout(() => app.next(), still() ? 300 : 900);
  }

  draw();
  return {
    element,
    answered({ rounds }) {
      arrived.push(...rounds.filter((round) => round.t > Math.max(played, arrived.at(-1)?.t ?? 0)));
      if (!frame && arrived.length) frame = requestAnimationFrame(play);
    },
    close() {
      stop();
      over = true;
      cancelAnimationFrame(frame);
      setTimeout(() => sound.close(), 1000); // the last tone may end
      clearTimeout(speaking);
      clearTimeout(fading);
      removeEventListener("keyup", up);
      removeEventListener("blur", stop);
      document.removeEventListener("visibilitychange", stop);
    },
  };
}

// ---------------------------------------------------------------------------------------------------- an example

/** The machines of a casino in which nothing is won: a scene for the instructions. */
export class CasinoFloor {
  /** @type {Map<string, ReturnType<typeof machine>>} */
  #machines = new Map();
  #rows;
  #heads;

  /**
   * @param {Texts} texts
   * @param {number[]} arms
   */
  constructor(texts, [rows, columns]) {
    this.#rows = range(rows).map((row) => el("div", { class: "row-button" }, texts.arm(0, row)));
    this.#heads = range(columns).map((column) => el("div", { class: "column-head" }, texts.arm(1, column)));
    this.element = el("div", { class: "floor example-floor", "aria-hidden": "true" }, el("div"), this.#heads,
      range(rows).map((row) => [this.#rows[row], range(columns).map((column) => {
        const shown = machine(texts, texts.arm(0, row), texts.arm(1, column));
        this.#machines.set(`${row}-${column}`, shown);
        return shown.element;
      })]));
    this.element.style.setProperty("--columns", String(columns));
    this.element.style.setProperty("--rows", String(rows));
  }

  clear() {
    for (const shown of this.#machines.values()) shown.light(null);
    for (const node of [...this.#rows, ...this.#heads]) node.classList.remove("picked", "latest");
  }

  /** @param {number} row */
  hold(row) {
    this.clear();
    this.#rows[row].classList.add("picked");
  }

  /** @param {OpenRound} round */
  show({ arms: [row, column] }) {
    this.hold(row);
    this.#heads[column].classList.add("latest");
    this.#machines.get(`${row}-${column}`)?.element.classList.add("latest");
  }

  /** @param {OpenRound} round */
  reveal(round) {
    this.show(round);
    return this.#machines.get(round.arms.join("-"))?.spin() ?? [];
  }
}

// ---------------------------------------------------------------------------------------------------- one machine

/**
 * @param {Texts} texts
 * @param {string} row
 * @param {string} column
 */
function machine(texts, row, column) {
  const reels = [-21, 0, 21].map((x) => svg("g", { class: "reel" },
    svg("g", { class: "coin" }, svg("circle", { cx: x, r: 9 }), svg("path", { d: `M${x}-5.5l1.6 3.5 3.9.4-2.9 2.6.8 3.8L${x} 3l-3.4 1.8.8-3.8-2.9-2.6 3.9-.4z` })),
    svg("path", { class: "nothing", d: `M${x - 6} 0h12` }), svg("circle", { class: "waiting-dot", cx: x, r: 3 })));
  const lever = svg("g", { class: "lever-arm" },
    svg("path", { class: "lever", d: "M112 66V30" }), svg("circle", { class: "knob", cx: 112, cy: 26, r: 8 }));
  const drawing = svg("svg", { class: "machine-drawing", viewBox: "0 0 132 112", "aria-hidden": "true" },
    lever,
    svg("path", { class: "cabinet", d: "M14 108V34Q14 8 58 8t44 26v74z" }),
    svg("path", { class: "lamp", d: "M34 26q24-12 48 0" }),
    svg("rect", { class: "screen", x: 24, y: 36, width: 68, height: 44, rx: 8 }),
    svg("path", { class: "reel-edge", d: "M47.5 38v40M68.5 38v40" }),
    svg("svg", { x: 24, y: 38, width: 68, height: 40, viewBox: "-34 -20 68 40" }, reels),
    svg("rect", { class: "tray", x: 30, y: 90, width: 56, height: 9, rx: 4.5 }));
  const good = el("b", {});
  const bad = el("b", {});
  const element = el("div", { class: "machine", role: "group", "aria-label": `${row}, ${column}` }, drawing,
    el("div", { class: "tally" },
      el("span", { class: "lucky" }, token("lucky"), good, unseen(` ${texts.own("task.good")}, `)),
      el("span", { class: "unlucky" }, token("unlucky"), bad, unseen(` ${texts.own("task.bad")}`))));
  let shown = 0;
  /** @type {Animation[]} */
  let motions = [];
  return {
    element,
    /**
     * @param {number} lucky
     * @param {number} unlucky
     */
    count(lucky, unlucky) {
      good.textContent = texts.shown(lucky);
      bad.textContent = texts.shown(unlucky);
    },
    spin: () => [
      lever.animate(DIP, { duration: 170, easing: "ease-out" }),
      ...reels.map((reel, i) => reel.animate(SPIN, { duration: 120 + 35 * i, easing: "cubic-bezier(.2, .7, .4, 1.15)" })),
    ],
    /** @param {Round | null} round */
    light(round) {
      element.classList.toggle("latest", round !== null);
      if (!round) {
        delete element.dataset.outcome; // what it gave some time ago would be taken for news
        return;
      }
      if (round.t === shown) return;
      shown = round.t;
      element.dataset.outcome = round.good === null ? "" : round.good ? "good" : "bad";
      if (still()) return;
      motions.forEach((motion) => motion.cancel());
      motions = this.spin();
      element.dataset.pulls = String(Number(element.dataset.pulls ?? 0) + 1);
    },
  };
}

const speaker = () => svg("svg", { class: "speaker", viewBox: "0 0 24 24", "aria-hidden": "true" },
  svg("path", { class: "horn", d: "M3 9h4l5-4v14l-5-4H3z" }),
  svg("path", { class: "waves", d: "M15.5 9q2.5 3 0 6M18 6.5q5 5.5 0 11" }), svg("path", { class: "mute", d: "M16 9l5 6M21 9l-5 6" }));

/** @param {string} kind */
function token(kind) {
  return svg("svg", { class: `token ${kind}`, viewBox: "-10 -10 20 20", "aria-hidden": "true" },
    svg("circle", { r: 8 }), kind === "unlucky" && svg("path", { d: "M-4 0h8" }));
}
