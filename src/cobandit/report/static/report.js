/* The report's charts and switches. Everything shown comes from the JSON in #data; labels are set as text, never as
   markup. Colours are read from the style sheet, so that light and dark need no second drawing code. */
"use strict";
(() => {
  const root = document.documentElement;
  const live = typeof uPlot !== "undefined"; // else the static charts stay
  if (live) root.classList.add("js");
  /** @type {(id: string) => HTMLElement} */
  const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @type {ReportPanel[]} */
  const panels = JSON.parse(find("data").textContent ?? "").panels;
  /** @type {Chart[]} */
  const charts = [];

  /** @param {string} name */
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  /** @param {number} number */
  const colour = (number) => css("--c" + (number % 8));
  /** @type {(hex: string, alpha: number) => string} */
  const withAlpha = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, "0");

  /**
   * @param {string} tag
   * @param {Attributes} [attributes]
   * @param {...(Node | string)} children
   * @returns {HTMLElement}
   */
  function make(tag, attributes, ...children) {
    const svg = tag === "svg" || tag === "path";
    /** @type {any} */
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  /** Numbers for people: three digits or so, thousands apart.
   * @param {number | null} value */
  function shown(value, like = value) {
    if (value == null || !isFinite(value)) return "–";
    const size = Math.abs(like ?? value);
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
  /** @param {number} value */
  const whole = (value) => value.toLocaleString("en-GB", { maximumFractionDigits: 0 });
  /** @param {number | null} value */
  const tick = (value) => (value == null ? "" : value.toLocaleString("en-GB", { maximumSignificantDigits: 6 }));

  /** The next 1, 2 or 5 times a power of ten downwards.
   * @param {number} value */
  function roundBelow(value) {
    const unit = 10 ** Math.floor(Math.log10(value));
    return unit * (value >= 5 * unit ? 5 : value >= 2 * unit ? 2 : 1);
  }

  /** @param {ReportLine} line */
  function swatch(line) {
    const picture = make("svg", { class: "swatch", viewBox: "0 0 34 10", "aria-hidden": "true" });
    const stroke = make("path", { d: "M1 5H33", "stroke-dasharray": line.dash.join(" ") });
    stroke.style.stroke = "var(--c" + (line.number % 8) + ")";
    picture.append(stroke);
    return picture;
  }

  class Chart {
    /** @type {uPlot | null} */
    plot = null;
    /** @type {{ line: ReportLine, columns: Columns }[]} */
    drawn = [];
    /** @type {[HTMLElement, string, string | boolean][]} */
    buttons = [];
    /** @type {Set<number>} */
    off = new Set();

    /**
     * @param {ReportPanel} panel
     * @param {HTMLElement} figure
     */
    constructor(panel, figure) {
      this.panel = panel;
      this.figure = figure;
      this.place = /** @type {HTMLElement} */ (figure.querySelector(".plot"));
      /** @type {Record<string, any>} */
      this.choice = { stat: "mean", regret: panel.regret || "team", logx: false, logy: panel.levels.length > 0 || panel.logarithmic === true };
      /** @type {(ReportCurve | ReportLevel)[]} */
      this.lines = [...panel.curves, ...panel.levels];
      this.addControls();
      this.addLegend();
      this.tip = make("div", { class: "tip", hidden: "" });
      this.said = make("div", { class: "hidden", "aria-live": "polite" });
      this.figure.append(this.said);
      this.place.addEventListener("keydown", (event) => this.onKey(event));
      this.place.addEventListener("blur", () => this.hideTip());
      this.draw();
      new ResizeObserver(() => this.fit()).observe(this.place);
    }

    addControls() {
      const controls = make("div", { class: "controls" });
      /** @type {(name: string, key: string, options: [string, string][]) => HTMLElement} */
      const group = (name, key, options) => {
        const box = make("div", { class: "group", role: "group", "aria-label": name });
        for (const [value, text] of options) box.append(this.button(text, key, value));
        controls.append(box);
        return box;
      };
      group("Statistic", "stat", [["mean", "Mean ± standard error"], ["median", "Median, 10–90 %"]]);
      group("Regret", "regret", [["team", "Team regret"], ["task", "Task regret"]]);
      group("Logarithmic axes", "", []).append(this.button("Log regret", "logy", true), this.button("Log rounds", "logx", true));
      this.figure.prepend(controls);
      this.showChoice();
    }

    /**
     * @param {string} text
     * @param {string} key
     * @param {string | boolean} value
     */
    button(text, key, value) {
      const node = make("button", { type: "button", class: "switch", "data-key": key, "data-value": value }, text);
      node.addEventListener("click", () => {
        this.choice[key] = value === true ? !this.choice[key] : value;
        this.showChoice();
        this.draw();
      });
      this.buttons.push([node, key, value]);
      return node;
    }

    showChoice() {
      for (const [node, key, value] of this.buttons) node.setAttribute("aria-pressed", String(this.choice[key] === value));
      /** @type {NodeListOf<HTMLElement> | undefined} */
      const bodies = this.figure.closest("section")?.querySelectorAll("tbody[data-regret]");
      for (const body of bodies ?? []) {
        body.hidden = body.dataset.regret !== this.choice.regret;
      }
    }

    addLegend() {
      const legend = make("div", { class: "legend", role: "group", "aria-label": "Curves: press to hide or show" });
      this.lines.forEach((line, i) => {
        const node = make("button", { type: "button", "aria-pressed": "true" }, swatch(line), line.label);
        node.addEventListener("click", () => {
          if (!this.off.delete(i)) this.off.add(i);
          node.setAttribute("aria-pressed", String(!this.off.has(i)));
          this.draw();
        });
        legend.append(node);
      });
      this.place.after(legend);
    }

    /** Round 0, where nothing is lost yet, has no place on a logarithmic axis.
     * @returns {number[]} */
    start() {
      return this.choice.logx || this.choice.logy ? [] : [0];
    }

    rounds() {
      return this.start().concat(this.panel.rounds);
    }

    /**
     * Centre, low and high of one line in the regret asked for; low and high are null where there is no band.
     * @param {ReportCurve | ReportLevel} line
     * @returns {Columns}
     */
    columns(line) {
      const scale = this.choice.regret === "team" ? line.factor : 1;
      if ("value" in line) {
        const top = this.choice.regret === "team" ? line.value : line.value / line.factor;
        const rounds = this.rounds();
        return [rounds.map((t) => (line.sloping ? (top * t) / this.panel.horizon : top)), null, null];
      }
      /** @param {number[]} values */
      const scaled = (values) => this.start().concat(values.map((value) => value * scale));
      if (this.choice.stat === "median") return [scaled(line.median), scaled(line.q10), scaled(line.q90)];
      const { mean: centre, se } = line;
      if (se === null) return [scaled(centre), null, null];
      return [
        scaled(centre),
        scaled(centre.map((mean, i) => mean - se[i])),
        scaled(centre.map((mean, i) => mean + se[i])),
      ];
    }

    draw() {
      const log = this.choice.logy;
      const visible = this.lines.map((line, i) => i).filter((i) => !this.off.has(i));
      this.drawn = visible.map((i) => ({ line: this.lines[i], columns: this.columns(this.lines[i]) }));
      const centres = this.drawn.flatMap(({ columns }) => columns[0]).filter((value) => value > 0);
      const floor = centres.length ? roundBelow(Math.max(Math.min(...centres), Math.max(...centres) * 1e-5)) : 0.1;
      /** @type {(values: number[], least: number | null) => (number | null)[]} */
      const safe = (values, least) => (log ? values.map((v) => (v > 0 ? Math.max(v, floor) : least)) : values);
      /** @type {(number | null)[][]} */
      const data = [this.rounds()];
      /** @type {object[]} */
      const series = [{ label: "round" }];
      /** @type {object[]} */
      const bands = [];
      const shade = this.panel.curves.length <= 3 ? 0.16 : 0.09;
      /** @type {(values: (number | null)[], number: number, width: number, dash: number[], alpha: number) => void} */
      const add = (values, number, width, dash, alpha) => {
        data.push(values);
        series.push({
          stroke: () => (alpha === 1 ? colour(number) : withAlpha(colour(number), alpha)),
          width, dash, points: { show: false },
        });
      };
      for (const { line, columns: [, low, high] } of this.drawn) {
        if (low === null || high === null) continue;
        add(safe(high, floor), line.number, 0.7, [], 0.5);
        add(safe(low, floor), line.number, 0.7, [], 0.5);
        bands.push({ series: [data.length - 2, data.length - 1], fill: () => withAlpha(colour(line.number), shade) });
      }
      for (const { line, columns } of this.drawn) add(safe(columns[0], null), line.number, 2, line.dash, 1);

      /** @type {(label: string, more: object) => object} */
      const axis = (label, more) => ({
        label, labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
        stroke: () => css("--ink"), grid: { stroke: () => css("--grid"), width: 1, filter: lines },
        ticks: { stroke: () => css("--rule"), size: 5 }, values, ...more,
      });
      /** @param {number} value */
      const decade = (value) => Math.abs(Math.log10(value) % 1) < 1e-9;
      /** @type {(plot: uPlot, splits: number[]) => string[]} */
      const values = (_, splits) => splits.map(tick);
      /** @type {(plot: uPlot, splits: number[], i: number) => (number | null)[]} */
      const lines = (plot, splits, i) => {
        const logarithmic = i === 0 ? this.choice.logx : log;
        return logarithmic ? splits.map((value) => (decade(value) ? value : null)) : splits;
      };
      /** @type {(plot: uPlot, values: string[] | null) => number} */
      const widest = (_, values) => (values ? 16 + 7 * Math.max(...values.map((v) => v.length)) : 40);
      /** @type {(plot: uPlot, low: number | null, high: number | null) => (number | null)[]} */
      const rounds = (_, low, high) => [low, high];
      /** @type {(plot: uPlot, low: number | null, high: number | null) => number[]} */
      const regrets = (_, low, high) =>
        log ? [floor, (high || 1) * 1.3] : [Math.min(0, low || 0), (high || 1) * 1.05];
      const options = {
        ...this.size(),
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, dist: 8 } },
        scales: {
          x: { time: false, distr: this.choice.logx ? 3 : 1, range: rounds },
          y: { distr: log ? 3 : 1, range: regrets },
        },
        axes: [axis("round", { space: 70, size: 32 }), axis(this.choice.regret + " regret", { size: widest })],
        series, bands,
        padding: [8, 26, 0, 0],
        hooks: { setCursor: [() => this.showTip()] },
      };
      this.plot?.destroy();
      this.plot = new uPlot(options, data, this.place);
      this.plot.over.append(this.tip);
      this.tip.hidden = true;
      Object.assign(this.place.dataset, {
        drawn: String(this.drawn.length), bands: String(bands.length), stat: this.choice.stat, regret: this.choice.regret,
        y: log ? "log" : "linear", x: this.choice.logx ? "log" : "linear",
      });
    }

    size() {
      return { width: Math.max(200, this.place.clientWidth), height: this.place.clientHeight || 340 };
    }

    /* A hidden chart (in print) has no size: leave it as it is. */
    fit() {
      const { width, height } = this.size();
      if (this.plot && this.place.clientWidth && (width !== this.plot.width || height !== this.plot.height)) {
        this.plot.setSize({ width, height });
      }
    }

    /** @param {number} at */
    values(at) {
      const band = this.choice.stat === "median";
      const rows = this.drawn.map(({ line, columns: [centre, low, high] }) => {
        const value = centre[at];
        const spread = low === null || high === null ? "" :
          band ? ` (${shown(low[at], high[at])} to ${shown(high[at])})` : ` ± ${shown((high[at] - low[at]) / 2, value)}`;
        return { line, value, text: shown(value, band && high ? high[at] : value) + spread };
      });
      return rows.sort((a, b) => b.value - a.value);
    }

    showTip() {
      if (!this.plot) return;
      const { left, idx } = this.plot.cursor;
      if (left == null || left < 0 || idx == null || !this.drawn.length) return this.hideTip();
      const body = make("table");
      for (const { line, text } of this.values(idx)) {
        const value = make("td", { class: "number" }, text);
        body.append(make("tr", {}, make("td", {}, swatch(line)), make("td", {}, line.label), value));
      }
      this.tip.replaceChildren(make("strong", {}, "Round " + whole(this.plot.data[0][idx])), body);
      this.tip.hidden = false;
      const area = this.plot.over;
      const x = this.plot.valToPos(this.plot.data[0][idx], "x");
      const fits = x + 14 + this.tip.offsetWidth <= area.clientWidth;
      const wanted = fits ? x + 14 : x - 14 - this.tip.offsetWidth;
      const most = area.clientWidth - this.tip.offsetWidth;
      this.tip.style.left = Math.max(Math.min(0, most), Math.min(wanted, most)) + "px";
      this.tip.style.top = "6px";
    }

    hideTip() {
      this.tip.hidden = true;
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
      if (!this.plot) return;
      const last = this.plot.data[0].length - 1;
      const now = this.tip.hidden ? null : this.plot.cursor.idx ?? null;
      /** @type {Record<string, number>} */
      const keys = {
        ArrowRight: now === null ? 0 : Math.min(last, now + 1), ArrowLeft: now === null ? last : Math.max(0, now - 1),
        PageUp: Math.min(last, (now || 0) + 10), PageDown: Math.max(0, (now || 0) - 10), Home: 0, End: last,
      };
      const to = keys[event.key];
      if (event.key === "Escape") this.hideTip();
      if (to === undefined) return;
      event.preventDefault();
      const left = this.plot.valToPos(this.plot.data[0][to], "x");
      this.plot.setCursor({ left, top: this.plot.over.clientHeight / 2 });
      const spoken = this.values(to).map(({ line, text }) => `${line.label}: ${text}`);
      this.said.textContent = `Round ${whole(this.plot.data[0][to])}. ${spoken.join("; ")}`;
    }
  }

  for (const panel of live ? panels : []) {
    /** @type {HTMLElement | null} */
    const figure = document.querySelector(`figure[data-panel="${CSS.escape(panel.name)}"]`);
    if (figure) charts.push(new Chart(panel, figure));
  }
  const redraw = () => charts.forEach((chart) => chart.plot?.redraw(false));

  /* Light or dark: the system's choice until the button is pressed. */
  const theme = find("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => {
    theme.setAttribute("aria-pressed", String(isDark()));
    redraw();
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  system.addEventListener("change", showTheme);
  showTheme();

  /* The summary's filter. */
  /** @type {NodeListOf<HTMLElement>} */
  const filters = document.querySelectorAll(".filters button");
  for (const button of filters) {
    button.addEventListener("click", () => {
      filters.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      const wanted = button.dataset.outcome;
      for (const body of document.querySelectorAll("#summary tbody")) {
        /** @type {HTMLElement[]} */
        const rows = Array.from(body.querySelectorAll("tr[data-outcome]"));
        rows.forEach((row) => (row.hidden = wanted !== "" && row.dataset.outcome !== wanted));
        /** @type {HTMLElement | null} */
        const head = body.querySelector(".group-row");
        if (head) head.hidden = rows.every((row) => row.hidden);
      }
    });
  }
})();
