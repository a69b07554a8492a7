/* The report's charts and switches. Everything shown comes from the JSON in #data; labels are set as text, never as
   markup. Colours are read from the style sheet, so that light and dark need no second drawing code. */
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const panels = JSON.parse(document.getElementById("data").textContent).panels;
  const charts = [];

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const colour = (number) => css("--c" + (number % 8));
  const withAlpha = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, "0");

  function make(tag, attributes, ...children) {
    const svg = tag === "svg" || tag === "path";
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  /* Numbers for people: three digits or so, thousands apart. */
  function shown(value, like = value) {
    if (value == null || !isFinite(value)) return "–";
    const size = Math.abs(like);
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
  const whole = (value) => value.toLocaleString("en-GB", { maximumFractionDigits: 0 });
  const tick = (value) => (value == null ? "" : value.toLocaleString("en-GB", { maximumSignificantDigits: 6 }));

  /* The next 1, 2 or 5 times a power of ten downwards. */
  function roundBelow(value) {
    const unit = 10 ** Math.floor(Math.log10(value));
    return unit * (value >= 5 * unit ? 5 : value >= 2 * unit ? 2 : 1);
  }

  function swatch(line) {
    const picture = make("svg", { class: "swatch", viewBox: "0 0 34 10", "aria-hidden": "true" });
    const stroke = make("path", { d: "M1 5H33", "stroke-dasharray": line.dash.join(" ") });
    stroke.style.stroke = "var(--c" + (line.number % 8) + ")";
    picture.append(stroke);
    return picture;
  }

  class Chart {
    constructor(panel, figure) {
      this.panel = panel;
      this.figure = figure;
      this.place = figure.querySelector(".plot");
      this.choice = { stat: "mean", regret: panel.regret || "team", logx: false, logy: panel.levels.length > 0 };
      this.lines = [...panel.curves, ...panel.levels];
      this.off = new Set();
      this.buttons = [];
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
      const group = (name, key, options) => {
        const box = make("div", { class: "group", role: "group", "aria-label": name });
        for (const [value, text] of options) box.append(this.button(text, key, value));
        controls.append(box);
      };
      group("Statistic", "stat", [["mean", "Mean ± standard error"], ["median", "Median, 10–90 %"]]);
      group("Regret", "regret", [["team", "Team regret"], ["task", "Task regret"]]);
      group("Logarithmic axes", null, []);
      controls.lastChild.append(this.button("Log regret", "logy", true), this.button("Log rounds", "logx", true));
      this.figure.prepend(controls);
      this.showChoice();
    }

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
      for (const [node, key, value] of this.buttons) node.setAttribute("aria-pressed", this.choice[key] === value);
      const section = this.figure.closest("section");
      for (const body of section.querySelectorAll("tbody[data-regret]")) {
        body.hidden = body.dataset.regret !== this.choice.regret;
      }
    }

    addLegend() {
      const legend = make("div", { class: "legend", role: "group", "aria-label": "Curves: press to hide or show" });
      this.lines.forEach((line, i) => {
        const node = make("button", { type: "button", "aria-pressed": "true" }, swatch(line), line.label);
        node.addEventListener("click", () => {
          if (!this.off.delete(i)) this.off.add(i);
          node.setAttribute("aria-pressed", !this.off.has(i));
          this.draw();
        });
        legend.append(node);
      });
      this.place.after(legend);
    }

    /* Round 0, where nothing is lost yet, has no place on a logarithmic axis. */
    start() {
      return this.choice.logx || this.choice.logy ? [] : [0];
    }

    rounds() {
      return this.start().concat(this.panel.rounds);
    }

    /* Centre, low and high of one line in the regret asked for; low and high are null where there is no band. */
    columns(line) {
      const scale = this.choice.regret === "team" ? line.factor : 1;
      if ("value" in line) {
        const top = this.choice.regret === "team" ? line.value : line.value / line.factor;
        const rounds = this.rounds();
        return [rounds.map((t) => (line.sloping ? (top * t) / this.panel.horizon : top)), null, null];
      }
      const scaled = (values) => this.start().concat(values.map((value) => value * scale));
      if (this.choice.stat === "median") return [scaled(line.median), scaled(line.q10), scaled(line.q90)];
      if (line.se === null) return [scaled(line.mean), null, null];
      return [
        scaled(line.mean),
        scaled(line.mean.map((mean, i) => mean - line.se[i])),
        scaled(line.mean.map((mean, i) => mean + line.se[i])),
      ];
    }

    draw() {
      const log = this.choice.logy;
      const visible = this.lines.map((line, i) => i).filter((i) => !this.off.has(i));
      this.drawn = visible.map((i) => ({ line: this.lines[i], columns: this.columns(this.lines[i]) }));
      const centres = this.drawn.flatMap(({ columns }) => columns[0]).filter((value) => value > 0);
      const floor = centres.length ? roundBelow(Math.max(Math.min(...centres), Math.max(...centres) * 1e-5)) : 0.1;
      const safe = (values, least) => (log ? values.map((v) => (v > 0 ? Math.max(v, floor) : least)) : values);
      const data = [this.rounds()];
      const series = [{ label: "round" }];
      const bands = [];
      const shade = this.panel.curves.length <= 3 ? 0.16 : 0.09;
      const add = (values, number, width, dash, alpha) => {
        data.push(values);
        series.push({
          stroke: () => (alpha === 1 ? colour(number) : withAlpha(colour(number), alpha)),
          width, dash, points: { show: false },
        });
      };
      for (const { line, columns: [, low, high] } of this.drawn) {
        if (low === null) continue;
        add(safe(high, floor), line.number, 0.7, [], 0.5);
        add(safe(low, floor), line.number, 0.7, [], 0.5);
        bands.push({ series: [data.length - 2, data.length - 1], fill: () => withAlpha(colour(line.number), shade) });
      }
      for (const { line, columns } of this.drawn) add(safe(columns[0], null), line.number, 2, line.dash, 1);

      const axis = (label, more) => ({
        label, labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
        stroke: () => css("--ink"), grid: { stroke: () => css("--grid"), width: 1, filter: lines },
        ticks: { stroke: () => css("--rule"), size: 5 }, values: (_, splits) => splits.map(tick), ...more,
      });
      const decade = (value) => Math.abs(Math.log10(value) % 1) < 1e-9;
      const lines = (plot, splits, i) => {
        const logarithmic = i === 0 ? this.choice.logx : log;
        return logarithmic ? splits.map((value) => (decade(value) ? value : null)) : splits;
      };
      const widest = (_, values) => (values ? 16 + 7 * Math.max(...values.map((v) => v.length)) : 40);
      const options = {
        ...this.size(),
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, dist: 8 } },
        scales: {
          x: { time: false, distr: this.choice.logx ? 3 : 1, range: (_, low, high) => [low, high] },
          y: {
            distr: log ? 3 : 1,
            range: (_, low, high) => (log ? [floor, (high || 1) * 1.3] : [Math.min(0, low || 0), (high || 1) * 1.05]),
          },
        },
        axes: [axis("round", { space: 70, size: 32 }), axis(this.choice.regret + " regret", { size: widest })],
        series, bands,
        padding: [8, 26, 0, 0],
        hooks: { setCursor: [() => this.showTip()] },
      };
      if (this.plot) this.plot.destroy();
      this.plot = new uPlot(options, data, this.place);
      this.plot.over.append(this.tip);
      this.tip.hidden = true;
      Object.assign(this.place.dataset, {
        drawn: this.drawn.length, bands: bands.length, stat: this.choice.stat, regret: this.choice.regret,
        y: log ? "log" : "linear", x: this.choice.logx ? "log" : "linear",
      });
    }

    size() {
      return { width: Math.max(200, this.place.clientWidth), height: this.place.clientHeight || 340 };
    }

    /* A hidden chart (in print) has no size: leave it as it is. */
    fit() {
      const { width, height } = this.size();
      if (this.place.clientWidth && (width !== this.plot.width || height !== this.plot.height)) {
        this.plot.setSize({ width, height });
      }
    }

    values(at) {
      const band = this.choice.stat === "median";
      const rows = this.drawn.map(({ line, columns: [centre, low, high] }) => {
        const value = centre[at];
        const spread = low === null ? "" :
          band ? ` (${shown(low[at], high[at])} to ${shown(high[at])})` : ` ± ${shown((high[at] - low[at]) / 2, value)}`;
        return { line, value, text: shown(value, band && high ? high[at] : value) + spread };
      });
      return rows.sort((a, b) => b.value - a.value);
    }

    showTip() {
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

    onKey(event) {
      const last = this.plot.data[0].length - 1;
      const now = this.tip.hidden ? null : this.plot.cursor.idx;
      const to = {
        ArrowRight: now === null ? 0 : Math.min(last, now + 1), ArrowLeft: now === null ? last : Math.max(0, now - 1),
        PageUp: Math.min(last, (now || 0) + 10), PageDown: Math.max(0, (now || 0) - 10), Home: 0, End: last,
      }[event.key];
      if (event.key === "Escape") this.hideTip();
      if (to === undefined) return;
      event.preventDefault();
      const left = this.plot.valToPos(this.plot.data[0][to], "x");
      this.plot.setCursor({ left, top: this.plot.over.clientHeight / 2 });
      const spoken = this.values(to).map(({ line, text }) => `${line.label}: ${text}`);
      this.said.textContent = `Round ${whole(this.plot.data[0][to])}. ${spoken.join("; ")}`;
    }
  }

  for (const panel of panels) {
    charts.push(new Chart(panel, document.querySelector(`figure[data-panel="${CSS.escape(panel.name)}"]`)));
  }
  const redraw = () => charts.forEach((chart) => chart.plot.redraw(false));

  /* Light or dark: the system's choice until the button is pressed. */
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const showTheme = () => {
    theme.setAttribute("aria-pressed", isDark());
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
  const filters = document.querySelectorAll(".filters button");
  for (const button of filters) {
    button.addEventListener("click", () => {
      filters.forEach((other) => other.setAttribute("aria-pressed", other === button));
      const wanted = button.dataset.outcome;
      for (const body of document.querySelectorAll("#summary tbody")) {
        const rows = [...body.querySelectorAll("tr[data-outcome]")];
        rows.forEach((row) => (row.hidden = wanted !== "" && row.dataset.outcome !== wanted));
        body.querySelector(".group-row").hidden = rows.every((row) => row.hidden);
      }
    });
  }
})();
