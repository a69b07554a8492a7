// Forms of questions: fields with their errors, choices, and scales as tables. Fields that are hidden are not sent.

import { el, unseen } from "./dom.js";

/** @param {string} text */
export function button(text, attributes = {}) {
  return el("button", { type: "button", class: "primary", ...attributes }, text);
}

/** A required answer that is not given. */
export class Missing extends Error {}

/**
 * A form of fields `{ id, node, read, fail }`; `read` returns a value or throws an error with the message to show.
 * `nodes` are the fields as the page arranges them, by default one below the other.
 * @param {{ texts: Texts, draft: Draft, fields: Field[], action: string, nodes?: Node[],
 *   submit: (answers: Answers, show: ShowWrong) => Promise<unknown> }} lent
 */
export function form({ texts, draft, fields, submit, action, nodes = fields.map((field) => field.node) }) {
  const summary = el("p", { class: "problem", role: "alert", hidden: true });
  const go = button(action, { type: "submit" });
  const made = el("form", { class: "form", novalidate: true }, nodes, summary,
    el("div", { class: "actions" }, go));
  made.addEventListener("input", () => draft.keep(Object.fromEntries(fields.map((field) => [field.id, field.raw()]))));

  /** @type {ShowWrong} */
  const show = (wrong, message) => {
    for (const field of fields) field.fail(wrong.get(field.id) ?? "");
    summary.hidden = !message;
    summary.textContent = message;
    const first = fields.find((field) => wrong.has(field.id));
    first?.focus();
  };

  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (go.getAttribute("aria-disabled") === "true") return;
    /** @type {Answers} */
    const answers = {};
    /** @type {Map<string, string>} */
    const wrong = new Map();
    let missing = 0;
    for (const field of fields) {
      if (field.hidden?.()) continue;
      try {
        answers[field.id] = field.read();
      } catch (problem) {
        wrong.set(field.id, problem instanceof Error ? problem.message : String(problem));
        missing += problem instanceof Missing ? 1 : 0;
      }
    }
    if (wrong.size) {
      const others = wrong.size - missing;
      const parts = [missing && texts.say("form.missing", { n: missing }), others && texts.say("form.wrong", { n: others })];
      show(wrong, parts.filter(Boolean).join(" "));
      return;
    }
    show(new Map(), "");
    go.setAttribute("aria-disabled", "true");
    try {
      await submit(answers, show);
    } finally {
      go.removeAttribute("aria-disabled");
    }
  });
  return made;
}

/**
 * The error line that every field has.
 * @param {string} id
 * @param {HTMLElement} node
 * @param {HTMLElement[]} controls
 * @returns {(text: string) => void}
 */
export function failing(id, node, controls) {
  const line = el("p", { class: "problem", id: `${id}-problem`, hidden: true });
  node.append(line);
  return (text) => {
    line.hidden = !text;
    line.textContent = text;
    node.classList.toggle("failed", Boolean(text));
    for (const control of controls) {
      if (text) {
        control.setAttribute("aria-describedby", line.id);
        control.setAttribute("aria-invalid", "true");
      } else {
        control.removeAttribute("aria-describedby");
        control.removeAttribute("aria-invalid");
      }
    }
  };
}

/**
 * @param {{ id: string, legend: string, choices: string[], value: unknown, required: boolean, texts: Texts,
 *   layout?: string, ends?: string[] | null, from?: number }} wanted
 * @returns {Field}
 */
export function radios({ id, legend, choices, value, required, texts, layout = "choices", ends = null, from = 0 }) {
  const inputs = choices.map((choice, i) =>
    el("input", { type: "radio", name: id, id: `${id}-${i}`, value: String(i + from), checked: value === i + from }));
  const options = inputs.map((input, i) => el("label", { for: input.id, class: "option" }, input,
    el("span", {}, choices[i]), ends?.[i] && unseen(`, ${ends[i]}`)));
  const node = el("fieldset", { class: layout, id: `field-${id}` },
    el("legend", {}, legend), el("div", { class: "options" }, options),
    ends && el("div", { class: "ends", "aria-hidden": "true" }, el("span", {}, ends[0]), el("span", {}, ends.at(-1))));
  const fail = failing(id, node, inputs);
  const chosen = () => inputs.find((input) => input.checked);
  return {
    id, node, fail,
    raw() {
      const input = chosen();
      return input ? Number(input.value) : null;
    },
    read() {
      if (!chosen() && required) throw new Missing(texts.say("form.choose"));
      return this.raw();
    },
    focus: () => (chosen() ?? inputs[0]).focus(),
  };
}

/**
 * The items as a table on wide screens, by CSS alone: each row is a fieldset, so every screen reader says the statement
 * with its answers. Items that stand apart from the scale interrupt the table.
 * @param {{ node: HTMLElement, apart: boolean }[]} items
 * @param {string[]} numbers
 * @param {string[]} ends
 */
export function scales(items, numbers, ends) {
  /** @type {HTMLElement[]} */
  const nodes = [];
  for (const { node, apart } of items) {
    const last = nodes.at(-1);
    if (apart) nodes.push(node);
    else if (last?.classList.contains("scale")) last.append(node);
    else nodes.push(el("div", { class: "scale" }, scaleHead(numbers, ends), node));
  }
  for (const node of nodes) node.style.setProperty("--points", String(numbers.length));
  return nodes;
}

/** The head of the table. Screen readers have the numbers and the meaning of both ends at the answers themselves.
 * @param {string[]} numbers
 * @param {string[]} ends */
const scaleHead = (numbers, ends) => el("div", { class: "scale-head", "aria-hidden": "true" },
  el("div", { class: "scale-ends" }, el("span", {}, ends[0]), el("span", {}, ends.at(-1))),
  el("div", { class: "scale-numbers" }, numbers.map((number) => el("span", {}, number))));
