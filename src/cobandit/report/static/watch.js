/* Plays one run: what was played, and how each agent rated every team action before the round. Everything shown comes
   from the JSON in #data; words are set as text, never as markup. */
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  /** @type {(id: string) => HTMLElement} */
  const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @type {WatchedRun} */
  const data = JSON.parse(find("data").textContent ?? "");
  const rounds = data.cells.length;
  const cells = data.arms.reduce((product, size) => product * size, 1);
  const rows = data.arms[0];
  const columns = cells / rows;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const scrub = /** @type {HTMLInputElement} */ (find("round"));
  const speed = /** @type {HTMLSelectElement} */ (find("speed"));
  let now = 1;
  let playing = false;

  /** @param {number} cell */
  const armsOf = (cell) => {
    const arms = [];
    for (let rest = cell, size = cells, i = 0; i < data.arms.length; i++) {
      size /= data.arms[i];
      arms.push(Math.floor(rest / size));
      rest %= size;
    }
    return arms;
  };
  const arms = Array.from({ length: cells }, (_, cell) => armsOf(cell));
  const NS = "http://www.w3.org/2000/svg";
  /** @type {(tag: string, attributes: Record<string, string | number>, text?: string) => SVGElement} */
  const shape = (tag, attributes, text = "") => {
    const node = /** @type {SVGElement} */ (document.createElementNS(NS, tag));
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    node.textContent = text;
    return node;
  };
  /** @param {number} value */
  const short = (value) => (Math.abs(value) >= 100 || value === 0 || value === 1 ? value.toFixed(0) : value.toFixed(2));
  /** @param {number} cell */
  const colour = (cell) => `var(--c${cell % 8})`;

  /** @type {(id: string) => HTMLElement[]} */
  function board(id) {
    const grid = find(id);
    grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    grid.classList.toggle("small-cells", columns > 6 || rows > 12);
    grid.setAttribute("role", "img");
    const places = arms.map(() => {
      const place = document.createElement("div");
      place.className = "cell";
      place.append(document.createElement("span"), document.createElement("small"));
      grid.append(place);
      return place;
    });
    return places;
  }
  const truth = board("truth");
  const minds = data.ratings.map((_, k) => board(`mind-${k}`));

  /** @type {(place: HTMLElement, heat: number, text: string, below: string) => void} */
  function paint(place, heat, text, below) {
    place.style.setProperty("--heat", heat.toFixed(3));
    /** @type {HTMLElement} */ (place.firstElementChild).textContent = text;
    /** @type {HTMLElement} */ (place.lastElementChild).textContent = below;
  }

  /** How often each cell was played up to a round, kept for every 64th one.
   * @type {number[][]} */
  const tallies = [new Array(cells).fill(0)];
  data.cells.forEach((cell, t) => {
    if (t % 64 === 0 && t > 0) tallies.push(tallies[tallies.length - 1].slice());
    tallies[tallies.length - 1][cell] += 1;
  });
  /** @param {number} t */
  function playedUpTo(t) {
    const block = Math.floor(t / 64);
    const counts = block > 0 ? tallies[block - 1].slice() : new Array(cells).fill(0);
    for (let k = 64 * block; k < t; k++) counts[data.cells[k]] += 1;
    return counts;
  }

  /** @param {(number | string | null)[]} ratings */
  function bestOf(ratings) {
    let best = -1;
    let top = -Infinity;
    ratings.forEach((rating, cell) => {
      const value = rating === "inf" ? Infinity : rating;
      if (typeof value === "number" && (value > top || best < 0)) {
        top = value;
        best = cell;
      }
    });
    return best;
  }

  /** @type {(cell: number) => string} */
  const name = (cell) => `(${arms[cell].join(", ")})`;

  function draw() {
    const t = now - 1;
    const cell = data.cells[t];
    const frame = Math.floor(t / data.step);
    const means = data.means[Math.min(frame, data.means.length - 1)];
    const counts = playedUpTo(now);
    truth.forEach((place, k) => {
      paint(place, heatOf(means[k], means), number(means[k]), `${counts[k].toLocaleString("en-GB")} ×`);
      place.classList.toggle("played", k === cell);
    });
    find("truth").setAttribute("aria-label", `Means ${means.map(number).join(", ")}; ${name(cell)} was played`);
    minds.forEach((places, k) => {
      const ratings = data.ratings[k][frame];
      const wish = bestOf(ratings);
      const foreseen = data.predictions.length ? data.predictions[k][t] : [];
      places.forEach((place, c) => {
        paint(place, heatOf(ratings[c], ratings), number(ratings[c]), "");
        place.classList.toggle("played", c === cell);
        place.classList.toggle("wish", c === wish);
        place.classList.toggle("foreseen", fits(c, foreseen));
      });
      const words = minds.length < data.arms.length ? "" : mindWords(k, t, wish, foreseen);
      find(`mind-words-${k}`).textContent = words;
      find(`mind-${k}`).setAttribute("aria-label", `Ratings ${ratings.map(number).join(", ")}. ${words}`);
    });
    const seen = data.seen.map((looks, i) => `agent ${i} saw ${looks[t] == null ? "nothing" : number(looks[t])}`);
    find("words").textContent =
      `Round ${now.toLocaleString("en-GB")} of ${rounds.toLocaleString("en-GB")}: ${name(cell)} was played and paid ` +
      `${number(data.rewards[t])}; ${seen.join(", ")}. Task regret so far ${number(data.regret[t])}.`;
    scrub.value = String(now);
    scrub.setAttribute("aria-valuetext", `round ${now}`);
    cursor.setAttribute("x1", String(atRound(t)));
    cursor.setAttribute("x2", String(atRound(t)));
  }

  /** @type {(cell: number, foreseen: number[]) => boolean} */
  const fits = (cell, foreseen) =>
    foreseen.some((arm) => arm >= 0) && foreseen.every((arm, j) => arm < 0 || arms[cell][j] === arm);

  /** @type {(k: number, t: number, wish: number, foreseen: number[]) => string} */
  function mindWords(k, t, wish, foreseen) {
    const played = arms[data.cells[t]];
    const parts = [`plays ${played[k]}`];
    if (wish >= 0) parts.push(`rates ${name(wish)} best`);
    foreseen.forEach((arm, j) => {
      if (arm >= 0) parts.push(`expects ${arm} of agent ${j}: ${arm === played[j] ? "right" : "wrong"}`);
    });
    return parts.join(", ") + ".";
  }

  /** @param {number | string | null} value */
  const number = (value) => (value == null ? "–" : typeof value === "string" ? "∞" : short(value));

  /** @type {(value: number | string | null, all: (number | string | null)[]) => number} */
  function heatOf(value, all) {
    if (value == null) return 0;
    if (typeof value === "string") return 1;
    const finite = all.filter((other) => typeof other === "number").map(Number);
    const low = Math.min(...finite);
    const high = Math.max(...finite);
    return high > low ? (value - low) / (high - low) : 0.5;
  }

  // Strips over time: team actions, whether predictions were right, and the regret below.
  const WIDTH = innerWidth < 500 ? 430 : 960;
  const LEFT = 112;
  const LINE = 20;
  /** @param {number} t */
  const atRound = (t) => LEFT + ((t + 0.5) / rounds) * (WIDTH - LEFT);
  const lines = data.predictions.flatMap((foreseen, k) => (foreseen.some((row) => row.some((arm) => arm >= 0)) ? [k] : []));
  const curveTop = LINE * (1 + lines.length) + 14;
  const height = curveTop + 110;
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": "The run over time" });
  /** Neighbours that look alike become one piece, so that long runs stay light.
   * @type {(y: number, kinds: (number | null)[], dress: (kind: number) => Record<string, string>) => void} */
  function strip(y, kinds, dress) {
    const wide = (WIDTH - LEFT) / rounds;
    for (let start = 0; start < rounds; ) {
      let end = start + 1;
      while (end < rounds && kinds[end] === kinds[start]) end++;
      const kind = kinds[start];
      if (kind != null)
        svg.append(shape("rect", { x: LEFT + start * wide, y, width: (end - start) * wide + 0.3, height: LINE - 6, ...dress(kind) }));
      start = end;
    }
  }
  svg.append(shape("text", { x: 0, y: 13, class: "strip-name" }, "team action"));
  strip(2, data.cells, (cell) => ({ class: "strip", style: `fill: ${colour(cell)}` }));
  lines.forEach((k, line) => {
    svg.append(shape("text", { x: 0, y: LINE * (line + 1) + 13, class: "strip-name" }, `agent ${k} expects`));
    const right = data.predictions[k].map((foreseen, t) => {
      const known = foreseen.flatMap((arm, j) => (arm >= 0 ? [arm === arms[data.cells[t]][j]] : []));
      return known.length ? Number(known.every(Boolean)) : null;
    });
    strip(LINE * (line + 1) + 2, right, (kind) => ({ class: kind ? "hit" : "miss" }));
  });
  const most = Math.max(...data.regret.map(Number), 1e-9);
  const skip = Math.max(1, Math.floor(rounds / 1500));
  const points = data.regret.flatMap((value, t) =>
    t % skip === 0 || t === rounds - 1 ? [`${atRound(t).toFixed(1)},${(curveTop + 100 * (1 - Number(value) / most)).toFixed(1)}`] : [],
  );
  svg.append(shape("text", { x: 0, y: curveTop + 12, class: "strip-name" }, `regret, up to ${short(most)}`));
  svg.append(shape("polyline", { class: "curve", points: points.join(" ") }));
  const cursor = shape("line", { class: "cursor", y1: 0, y2: height, x1: LEFT, x2: LEFT });
  svg.append(cursor);
  find("strips").append(svg);
  /** @param {PointerEvent} event */
  function pointAt(event) {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH - LEFT;
    go(Math.floor((x / (WIDTH - LEFT)) * rounds) + 1);
  }
  svg.addEventListener("pointerdown", (event) => {
    pause();
    pointAt(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) pointAt(event);
  });

  data.others.forEach((other) => {
    const item = document.createElement("li");
    const picture = shape("svg", { viewBox: `0 0 ${other.strip.length} 1`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (let start = 0; start < other.strip.length; ) {
      let end = start + 1;
      while (end < other.strip.length && other.strip[end] === other.strip[start]) end++;
      picture.append(shape("rect", { x: start, y: 0, width: end - start + 0.02, height: 1, style: `fill: ${colour(other.strip[start])}` }));
      start = end;
    }
    const words = document.createElement("span");
    const good = other.strip[other.strip.length - 1] === other.best;
    words.textContent = `run ${other.run}: regret ${short(other.regret)}`;
    words.classList.toggle("good", good);
    if (good) words.title = "It ended on the best team action.";
    item.append(picture, words);
    find("small").append(item);
  });

  /** @param {number} round */
  function go(round) {
    now = Math.max(1, Math.min(rounds, round));
    draw();
  }
  let since = 0;
  let owed = 0;
  /** @param {number} time */
  function tick(time) {
    if (!playing) return;
    owed += ((time - since) / 1000) * Number(speed.value);
    since = time;
    // Who wants little motion sees at most two pictures a second, however fast the run is played.
    const least = still.matches ? Number(speed.value) / 2 : 1;
    if (owed >= least) {
      const on = Math.floor(owed);
      owed -= on;
      go(now + on);
      if (now === rounds) return pause();
    }
    requestAnimationFrame(tick);
  }
  const button = find("play");
  function pause() {
    playing = false;
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  }
  function toggle() {
    if (playing) return pause();
    if (now === rounds) go(1);
    playing = true;
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    owed = 0;
    requestAnimationFrame((time) => {
      since = time;
      tick(time);
    });
  }
  /** @type {(round: () => number) => () => void} */
  const jump = (round) => () => {
    pause();
    go(round());
  };
  button.addEventListener("click", toggle);
  find("first").addEventListener("click", jump(() => 1));
  find("last").addEventListener("click", jump(() => rounds));
  find("back").addEventListener("click", jump(() => now - 1));
  find("on").addEventListener("click", jump(() => now + 1));
  scrub.max = String(rounds);
  scrub.addEventListener("input", jump(() => Number(scrub.value)));
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.altKey || event.ctrlKey || event.metaKey || target.matches("select, input")) return;
    const far = event.shiftKey ? 10 : 1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: jump(() => now - far),
      ArrowRight: jump(() => now + far),
      Home: jump(() => 1),
      End: jump(() => rounds),
    };
    if (event.key === " " && !target.matches("button")) toggle();
    else if (event.key in keys) keys[event.key]();
    else return;
    event.preventDefault();
  });

  const theme = /** @type {HTMLButtonElement} */ (find("theme"));
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  theme.hidden = false;
  const named = () => {
    theme.textContent = dark() ? "Light" : "Dark";
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    named();
  });
  named();
  draw();
})();
