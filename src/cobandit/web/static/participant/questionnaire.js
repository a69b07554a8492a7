// A questionnaire: ratings as tables, matrices, sliders, numbers, choices, rankings and texts. An item with a condition
// appears below the answer that it depends on; the server checks the same conditions.

import { el, paragraphs } from "./dom.js";
import { failing, form, Missing, radios, scales } from "./form.js";
import { badge } from "./partner.js";

/** @type {Record<string, (item: Item, value: unknown, texts: Texts) => Field>} */
const KINDS = { slider, number, choice, choices, ranking, text };

/**
 * @param {Item} item
 * @param {Texts} texts
 */
function labelled(item, texts) {
  return item.required ? item.text : `${item.text} ${texts.say("form.optional")}`;
}

/** @type {(item: Item, value: unknown, texts: Texts) => Field} */
function choice(item, value, texts) {
  return radios({ id: item.id, legend: labelled(item, texts), choices: item.choices ?? [], value, required: item.required, texts });
}

/** @type {(item: Item, value: unknown, texts: Texts) => Field} */
function choices(item, value, texts) {
  const { id } = item;
  const before = Array.isArray(value) ? value : [];
  const inputs = (item.choices ?? []).map((_, i) =>
    el("input", { type: "checkbox", name: id, id: `${id}-${i}`, value: String(i), checked: before.includes(i) }));
  const node = el("fieldset", { class: "choices", id: `field-${id}` },
    el("legend", {}, `${labelled(item, texts)} ${texts.say("form.several")}`),
    el("div", { class: "options" }, inputs.map((input, i) => el("label", { for: input.id, class: "option" }, input,
      el("span", {}, item.choices?.[i] ?? "")))));
  const raw = () => inputs.filter((input) => input.checked).map((input) => Number(input.value));
  return {
    id, node, raw, fail: failing(id, node, inputs),
    read() {
      const chosen = raw();
      if (!chosen.length && item.required) throw new Missing(texts.say("form.some"));
      return chosen;
    },
    focus: () => inputs[0].focus(),
  };
}

/** Buttons that are pressed in the wanted order: no order is given before, so none is suggested.
 * @type {(item: Item, value: unknown, texts: Texts) => Field} */
function ranking(item, value, texts) {
  const { id } = item;
  /** @type {number[]} */
  const order = Array.isArray(value) ? [...value] : [];
  const places = (item.choices ?? []).map(() => el("span", { class: "place" }));
  const buttons = (item.choices ?? []).map((said, i) => el("button", {
    type: "button", class: "option ranked", id: `${id}-${i}`, onclick: () => press(i),
  }, places[i], el("span", {}, said)));
  const how = el("p", { class: "soft", id: `${id}-how` }, texts.say("form.ranking"));
  const node = el("fieldset", { class: "choices", id: `field-${id}`, "aria-describedby": how.id },
    el("legend", {}, labelled(item, texts)), how, el("div", { class: "options" }, buttons));
  const draw = () => buttons.forEach((button, i) => {
    const place = order.indexOf(i);
    button.setAttribute("aria-pressed", String(place >= 0));
    places[i].textContent = place < 0 ? "–" : texts.shown(place + 1);
  });
  /** @param {number} i */
  const press = (i) => {
    if (order.includes(i)) order.splice(order.indexOf(i), 1);
    else order.push(i);
    draw();
    node.dispatchEvent(new Event("input", { bubbles: true }));
  };
  draw();
  return {
    id, node, raw: () => [...order], fail: failing(id, node, buttons),
    read() {
      if (order.length === buttons.length) return [...order];
      if (item.required || order.length) throw new Missing(texts.say("form.rank"));
      return null;
    },
    focus: () => buttons[0].focus(),
  };
}

/** A slider that has no answer until it is touched: where its thumb starts is not an opinion.
 * @type {(item: Item, value: unknown, texts: Texts) => Field} */
function slider(item, value, texts) {
  const { id, lowest = 0, highest = 100 } = item;
  let touched = typeof value === "number";
  const input = el("input", { type: "range", id, name: id, min: lowest, max: highest, step: 1 });
  input.value = String(touched ? value : Math.round((lowest + highest) / 2));
  const output = el("output", { for: id, class: "slid" });
  const node = el("div", { class: "field slider", id: `field-${id}` },
    el("label", { for: id }, labelled(item, texts)), input,
    el("div", { class: "ends" }, el("span", {}, item.low || texts.shown(lowest)), output,
      el("span", {}, item.high || texts.shown(highest))));
  const draw = () => {
    output.textContent = touched ? texts.shown(Number(input.value)) : texts.say("form.unanswered");
    input.classList.toggle("untouched", !touched);
    const ends = Number(input.value) === lowest ? item.low : Number(input.value) === highest ? item.high : "";
    input.setAttribute("aria-valuetext", touched ? [output.textContent, ends].filter(Boolean).join(", ") : output.textContent);
  };
  const touch = () => {
    touched = true;
    draw();
  };
  input.addEventListener("input", touch);
  // A press on the thumb, or Space, takes the place where it is. A touch on a slider makes no click.
  const take = () => {
    touch();
    node.dispatchEvent(new Event("input", { bubbles: true }));
  };
  input.addEventListener("pointerup", take);
  input.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    take();
  });
  draw();
  return {
    id, node, raw: () => (touched ? Number(input.value) : null), fail: failing(id, node, [input]),
    read() {
      if (!touched && item.required) throw new Missing(texts.say("form.slide"));
      return this.raw();
    },
    focus: () => input.focus(),
  };
}

/** @type {(item: Item, value: unknown, texts: Texts) => Field} */
function number(item, value, texts) {
  const { id, lowest = 0, highest = 100, decimals = 0 } = item;
  const input = el("input", {
    type: "text", id, name: id, autocomplete: "off", class: "short", maxlength: 20, value: value ?? "",
    inputmode: lowest < 0 ? null : decimals ? "decimal" : "numeric", "aria-required": String(item.required),
  });
  const node = el("div", { class: "field", id: `field-${id}` }, el("label", { for: id }, labelled(item, texts)), input);
  const problem = () => texts.say(decimals ? "form.limits" : "form.number", { low: lowest, high: highest });
  const shape = decimals ? new RegExp(`^-?\\d+([.,]\\d{1,${decimals}})?$`) : /^-?\d+$/;
  return {
    id, node, raw: () => input.value, fail: failing(id, node, [input]),
    read() {
      const typed = input.value.trim().replace("−", "-");
      if (!typed) {
        if (item.required) throw new Missing(problem());
        return null;
      }
      const answer = Number(typed.replace(",", "."));
      if (!shape.test(typed) || answer < lowest || answer > highest) throw new Error(problem());
      return answer;
    },
    focus: () => input.focus(),
  };
}

/** @type {(item: Item, value: unknown, texts: Texts) => Field} */
function text(item, value, texts) {
  const { id, longest = 500 } = item;
  const limit = el("p", { class: "soft", id: `${id}-limit` }, texts.say("form.characters", { n: longest }));
  const input = el("textarea", {
    id, name: id, class: "long", rows: longest > 100 ? 4 : 2, maxlength: longest, "aria-required": String(item.required),
    value: value ?? "",
  });
  const node = el("div", { class: "field", id: `field-${id}` }, el("label", { for: id }, labelled(item, texts)), input, limit);
  return {
    id, node, raw: () => input.value, fail: failing(id, node, [input]),
    read() {
      const written = input.value.trim();
      if (!written && item.required) throw new Missing(texts.say("form.text"));
      return written || null;
    },
    focus: () => input.focus(),
  };
}

/** The fields of an item, and the node that holds them: a matrix has one field for each row.
 * @param {Item} item
 * @param {Answers} before
 * @param {Texts} texts
 * @returns {{ item: Item, fields: Field[], node: HTMLElement }} */
function drawn(item, before, texts) {
  const make = KINDS[item.kind];
  if (make) {
    const field = make(item, before[item.id], texts);
    return { item, fields: [field], node: field.node };
  }
  const { numbers, ends } = scaleOf(item, texts);
  const optional = item.required ? "" : ` ${texts.say("form.optional")}`;
  const fields = (item.rows ?? [item]).map((row) => radios({
    id: row.id, legend: row.text + (item.rows ? "" : optional), choices: numbers, ends, from: 1, value: before[row.id],
    required: item.required, texts, layout: "likert",
  }));
  if (!item.rows) return { item, fields, node: fields[0].node };
  const node = el("div", { class: "matrix", role: "group", "aria-labelledby": `${item.id}-text` },
    el("p", { class: "matrix-text", id: `${item.id}-text` }, item.text + optional),
    scales(fields.map((field) => ({ node: field.node, apart: false })), numbers, ends));
  return { item, fields, node };
}

/**
 * @param {Item} item
 * @param {Texts} texts
 */
function scaleOf(item, texts) {
  const { points = 2, low = "", high = "" } = item;
  const numbers = Array.from({ length: points }, (_, i) => texts.shown(i + 1));
  return { numbers, ends: numbers.map((_, i) => (i === 0 ? low : i === points - 1 ? high : "")) };
}

/** Ratings of one scale that follow each other are rows of one table.
 * @param {{ item: Item, node: HTMLElement }[]} items
 * @param {Texts} texts */
function arranged(items, texts) {
  /** @type {HTMLElement[]} */
  const nodes = [];
  let open = "";
  for (const { item, node } of items) {
    const scale = item.kind === "rating" ? item.scale ?? "" : "";
    if (scale && scale === open) nodes[nodes.length - 1].append(node);
    else if (scale) {
      const { numbers, ends } = scaleOf(item, texts);
      nodes.push(...scales([{ node, apart: false }], numbers, ends));
    } else nodes.push(node);
    open = scale;
  }
  return nodes;
}

/**
 * @param {ShowIf} condition
 * @param {string | number | number[] | null} value
 */
function met({ any, at_least: least, at_most: most }, value) {
  if (value === null || value === "") return false;
  if (any && !(Array.isArray(value) ? value : [Number(value)]).some((part) => any.includes(part))) return false;
  const answer = typeof value === "string" ? Number(value.trim().replace("−", "-").replace(",", ".")) : value;
  return (least === undefined || Number(answer) >= least) && (most === undefined || Number(answer) <= most);
}

/** @param {Lent} lent */
export function questionnaire({ state, texts, answer, draft }) {
  const { title, intro, items } = state.questionnaire;
  const parts = items.map((item) => drawn(item, draft.read(), texts));
  const fields = parts.flatMap((part) => part.fields);
  const byId = new Map(fields.map((field) => [field.id, field]));
  for (const { item, fields: own, node } of parts) {
    for (const field of own) field.hidden = () => node.hidden;
    if (item.show_if) node.classList.add("conditional");
  }
  const show = () => {
    for (const { item, node } of parts) {
      const cause = item.show_if && byId.get(item.show_if.item);
      if (item.show_if && cause) node.hidden = Boolean(cause.hidden?.()) || !met(item.show_if, cause.raw());
    }
  };
  const made = form({ texts, draft, fields, submit: answer, action: texts.say("continue"), nodes: arranged(parts, texts) });
  made.addEventListener("input", show);
  show();
  return {
    heading: title,
    layout: "survey",
    body: [
      state.partner && el("p", {}, badge(state.partner, texts.say("partner.survey", { partner: state.partner.name }))),
      intro && paragraphs(intro),
      made,
    ],
  };
}
