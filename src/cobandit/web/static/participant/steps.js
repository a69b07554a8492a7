// The pages around the task: consent, questions, instructions, quiz, rest, survey and thanks. Each takes what the app
// lends it ({ state, texts, answer, draft, ... }) and gives the elements below the heading.

import { el, marked, prose, typing } from "./dom.js";
import { pictures } from "./example.js";
import { button, failing, form, Missing, radios, scales } from "./form.js";
import { avatar, badge } from "./partner.js";
import { questionnaire } from "./questionnaire.js";

/** `{ heading, body }` of a step; the lobby has a page of its own (lobby.js).
 * @type {Record<Exclude<StepKind, "lobby">, (lent: Lent) => Shown>} */
export const STEPS = { consent, demographics, instructions, quiz, partner, rest, survey, questionnaire, page, thanks };

/**
 * A button that cannot be pressed twice while an answer is under way; it keeps the focus.
 * @param {HTMLElement} node
 * @param {() => Promise<unknown>} act
 */
function once(node, act) {
  node.addEventListener("click", async (event) => {
    event.preventDefault();
    if (node.getAttribute("aria-disabled") === "true") return;
    node.setAttribute("aria-disabled", "true");
    try {
      await act();
    } finally {
      node.removeAttribute("aria-disabled");
    }
  });
  return node;
}

// ---------------------------------------------------------------------------------------------------- consent

/**
 * @param {{ texts: Texts, written: Written, agree: () => Promise<unknown>, decline: () => void, note?: string | null }} lent
 */
export function consentPage({ texts, written, agree, decline, note = null }) {
  return [
    el("div", { class: "card prose" }, prose(written)),
    note && el("p", { class: "note" }, note),
    el("div", { class: "actions" },
      once(button(texts.say("consent.agree"), { "aria-disabled": note ? "true" : null }), agree),
      el("button", { type: "button", class: "quiet", onclick: decline }, texts.say("consent.decline"))),
  ];
}

/** @param {Lent} lent */
function consent({ state, texts, answer, decline }) {
  return {
    heading: texts.say("consent.heading"),
    body: consentPage({
      texts, written: state.consent, decline, agree: () => answer({ version: state.consent.version }),
    }),
  };
}

// ---------------------------------------------------------------------------------------------------- questions

/**
 * @param {{ question: Question, texts: Texts, value: unknown }} wanted
 * @returns {Field}
 */
function typed({ question, texts, value }) {
  const { id, low, high, required } = question;
  const whole = question.answer === "whole";
  const input = el("input", {
    type: "text", id, name: id, autocomplete: "off", class: whole ? "short" : "long",
    inputmode: whole ? "numeric" : null, maxlength: whole ? 9 : 500, value: value ?? "", "aria-required": String(required),
  });
  const node = el("div", { class: "field", id: `field-${id}` }, el("label", { for: id }, labelled(question, texts)), input);
  const fail = failing(id, node, [input]);
  return {
    id, node, fail,
    raw: () => input.value,
    read() {
      const text = input.value.trim();
      if (!text) {
        if (required) throw new Missing(texts.say(whole ? "form.number" : "form.text", { low, high }));
        return null;
      }
      if (!whole) return text;
      if (!/^\d+$/.test(text) || Number(text) < low || Number(text) > high) {
        throw new Error(texts.say("form.number", { low, high }));
      }
      return Number(text);
    },
    focus: () => input.focus(),
  };
}

/**
 * @param {Question} question
 * @param {Texts} texts
 */
function labelled(question, texts) {
  return question.required ? question.text : `${question.text} ${texts.say("form.optional")}`;
}

/** @param {Lent} lent */
function demographics({ state, texts, answer, draft }) {
  const before = draft.read();
  const fields = state.demographics.map((question) =>
    question.answer === "choice"
      ? radios({ id: question.id, legend: labelled(question, texts), choices: question.choices, value: before[question.id],
        required: question.required, texts })
      : typed({ question, texts, value: before[question.id] }));
  return {
    heading: texts.say("demographics.heading"),
    body: [form({ texts, draft, fields, submit: answer, action: texts.say("continue") })],
  };
}

// ---------------------------------------------------------------------------------------------------- instructions

/**
 * @param {string[]} lines
 * @param {Marked[][]} [trees]
 */
const reading = (lines, trees) => el("ol", { class: "reading" },
  lines.map((line, i) => el("li", {}, trees ? el("div", {}, marked(trees[i])) : el("p", {}, line))));

/** @param {Lent} lent */
function instructions({ state, texts, answer }) {
  const keys = `instructions.keys.${state.task.kind}`;
  return {
    heading: texts.say("instructions.heading"),
    layout: "wide lesson",
    body: [
      el("div", { class: "lesson-columns" }, reading(state.instructions, state.marked), pictures(state, texts)),
      texts.knows(keys) && el("p", { class: state.task.kind === "casino" ? "note" : "note keyboard-only" }, texts.say(keys)),
      el("div", { class: "actions" }, once(button(texts.say("continue")), () => answer({}))),
    ],
  };
}

/** @param {Lent} lent */
function quiz({ state, texts, answer, draft }) {
  const before = draft.read();
  const again = el("details", { class: "card again" },
    el("summary", {}, texts.say("quiz.again")), reading(state.quiz.instructions, state.quiz.marked));
  const fields = state.quiz.questions.map((question) =>
    radios({ id: question.id, legend: question.text, choices: question.choices, value: before[question.id], required: true, texts }));
  /** @type {(answers: Answers, show: ShowWrong) => Promise<void>} */
  const submit = async (answers, show) => {
    const reply = await answer(answers);
    if (!reply || reply.accepted) return;
    again.open = true;
    show(new Map(reply.wrong.map((id) => [id, texts.say("quiz.wrong")])), texts.say("quiz.summary", { n: reply.wrong.length }));
  };
  return {
    heading: texts.say("quiz.heading"),
    body: [el("p", {}, texts.say("quiz.lead")), again, form({ texts, draft, fields, submit, action: texts.say("quiz.check") })],
  };
}

/** A page of the design that people only read.
 * @param {Lent} lent */
function page({ state, texts, answer }) {
  return {
    heading: state.page.title,
    body: [
      el("div", { class: "card prose" }, prose(state.page)),
      el("div", { class: "actions" }, once(button(texts.say("continue")), () => answer({}))),
    ],
  };
}

// ---------------------------------------------------------------------------------------------------- partner

/** Let Enter press the button, wherever the focus is.
 * @param {Lent["keys"]} keys
 * @param {HTMLElement} go */
function enterPresses(keys, go) {
  keys((event) => {
    if (event.key !== "Enter" || event.repeat || typing(event)) return;
    if (event.target instanceof Element && event.target.closest("button, a")) return;
    event.preventDefault();
    go.click();
  });
}

/** Who is met in the part that begins.
 * @param {Lent} lent */
function partner({ state, texts, answer, keys }) {
  const { name: called = "", look = "", names = [] } = state.partner ?? {};
  const [, place] = state.step.id.split("-");
  const values = { partner: called, set: Number(place), sets: state.sets ?? 1, before: Number(place) - 1 };
  const go = once(button(texts.say("partner.begin", values)), () => answer({}));
  enterPresses(keys, go);
  const words = `partner.${values.set > 1 ? "next" : "first"}${Math.max(names.length, state.task.arms.length - 1) > 1 ? ".many" : ""}`;
  return {
    heading: texts.say(values.sets > 1 ? "partner.heading" : "partner.only", values),
    body: [
      el("div", { class: `card big meeting look-${look}`, "data-look": look }, avatar(look),
        el("p", { class: "figure" }, called), el("p", {}, texts.say(words, values))),
      el("div", { class: "actions" }, go, el("span", { class: "soft keyboard-only" }, texts.say("rest.enter"))),
    ],
  };
}

// ---------------------------------------------------------------------------------------------------- rest

const MOST_NUMBERED = 10;

/** Return the chart of results: the latest one compared with all before.
 * @param {number[]} results
 * @param {Texts} texts */
function record(results, texts) {
  if (results.length < 2) return null;
  const latest = results[results.length - 1];
  const best = Math.max(...results);
  const mean = results.reduce((sum, value) => sum + value, 0) / results.length;
  const last = results.length - 1;
  const top = results.indexOf(best);
  // Every bar of a few has its number; of many, the latest has, and the best where it is far enough to the left.
  /** @param {number} i */
  const numbered = (i) => last < MOST_NUMBERED || i === last || (i === top && last - top > last / 6);
  const bars = results.map((value, i) => {
    const bar = el("span", { class: i === last ? "result latest" : "result", title: texts.shown(value) },
      numbered(i) && el("span", { class: "value" }, texts.shown(value)));
    bar.style.setProperty("height", `${best ? Math.max(4, (100 * value) / best) : 4}%`);
    return bar;
  });
  const axis = el("div", { class: "bars-axis", "aria-hidden": "true" }, el("span", {}, texts.shown(1)), el("span", {}, texts.shown(results.length)));
  axis.style.setProperty("--bars", String(results.length));
  const first = latest > Math.max(...results.slice(0, -1));
  return el("div", { class: "card record-of-results" },
    el("p", { class: first ? "record-broken" : null }, first ? texts.say("rest.record") : texts.say("rest.best", { n: best })),
    el("div", { class: "bars", role: "img", "aria-label": `${texts.say("rest.chart")}: ${results.map((value) => texts.shown(value)).join(", ")}` }, bars),
    axis,
    el("p", { class: "soft" }, texts.say("rest.average", { n: Math.round(mean) })));
}

/** @param {Lent} lent */
function rest({ state, texts, answer, keys }) {
  const { practice, done, of, set, sets, good, rounds, score } = state.rest;
  const points = state.task.score && texts.points(score ?? 0, state.task.score);
  const kind = texts.knows(`rest.${state.task.kind}.done`) ? state.task.kind : "grid";
  const over = practice && done >= of;
  const number = (set - 1) * of + done;
  const go = once(button(texts.say(over ? "rest.begin" : `rest.${kind}.next`)), () => answer({}));
  enterPresses(keys, go);
  return {
    heading: texts.say(practice ? "rest.practice" : `rest.${kind}.done`, { done, of, number, total: sets * of, n: done }),
    beside: badge(state.partner, texts.say("partner.with", { partner: state.partner?.name })),
    layout: "rest",
    body: [
      el("div", { class: "results" },
        el("div", { class: "card big" },
          el("p", { class: "figure" }, points ?? texts.shown(good), " ", !points && el("small", {}, texts.say("rest.of", { rounds }))),
          el("p", {}, points ? texts.say("rest.points", { points, rounds }) : texts.say(`rest.${kind}.good`, { n: good, rounds, good: texts.own("task.good") }))),
        !practice && record(state.results ?? [], texts)),
      !practice && sets > 1 && el("p", { class: "soft" }, texts.say("rest.part", { set, sets, done, of })),
      el("p", {}, texts.say(over ? "rest.counts" : "rest.breathe")),
      el("div", { class: "actions" }, go, el("span", { class: "soft keyboard-only" }, texts.say("rest.enter"))),
    ],
  };
}

// ---------------------------------------------------------------------------------------------------- survey

/** @param {Lent} lent */
function survey({ state, texts, answer, draft }) {
  const { items, points, low, high, set, sets } = state.survey;
  const before = draft.read();
  const numbers = Array.from({ length: points }, (_, i) => texts.shown(i + 1));
  const ends = numbers.map((_, i) => (i === 0 ? low : i === points - 1 ? high : ""));
  const fields = items.map((item) => radios({
    id: item.id, legend: item.text, choices: numbers, ends: item.apart ? null : ends, from: 1, value: before[item.id],
    required: true, texts, layout: item.apart ? "likert apart" : "likert",
  }));
  const first = fields.find((_, i) => items[i].apart);
  first?.node.prepend(el("p", { class: "apart-heading" }, texts.say("survey.apart")));
  return {
    heading: sets > 1 ? texts.say("survey.heading", { set, sets }) : texts.say("survey.only"),
    layout: "survey",
    body: [
      state.partner && el("p", {}, badge(state.partner, texts.say("partner.survey", { partner: state.partner.name }))),
      el("p", {}, texts.say("survey.lead", { partner: texts.own("task.partner"), points, low, high })),
      form({ texts, draft, fields, submit: answer, action: texts.say("continue"),
        nodes: scales(fields.map(({ node }, i) => ({ node, apart: Boolean(items[i].apart) })), numbers, ends) }),
    ],
  };
}

// ---------------------------------------------------------------------------------------------------- thanks

/** @param {Lent} lent */
function thanks({ state, texts, again }) {
  const { code, return_url: back, debriefing } = state.thanks;
  const output = el("output", { class: "code", id: "code" }, code ?? "");
  const said = el("span", { role: "status", class: "soft" });
  const copy = async () => {
    said.textContent = texts.say((await copied(code ?? "", output)) ? "thanks.copied" : "thanks.select");
  };
  const { ending, pay, data } = state.thanks;
  const withdrew = ending === "withdrew";
  const story = withdrew ? `withdrew.${data}` : ending === "short" || ending === "screened-out" ? `thanks.${ending}` : "thanks.stored";
  return {
    heading: texts.say(withdrew ? "withdrew.heading" : "thanks.heading"),
    body: [
      el("p", {}, texts.say(story)),
      pay && el("p", {}, texts.say("thanks.pay", { pay })),
      debriefing && el("div", { class: "card prose debriefing" }, prose(debriefing)),
      code && el("div", { class: "card big" },
        el("p", { id: "code-label" }, texts.say("thanks.code")), output,
        el("div", { class: "actions" }, el("button", { type: "button", class: "quiet", onclick: copy }, texts.say("thanks.copy")), said)),
      back && el("div", { class: "actions" },
        el("a", { class: "primary", href: back, rel: "noreferrer" }, texts.say("thanks.return"))),
      el("p", { class: "soft" }, texts.say(back ? "thanks.back" : "thanks.close")),
      again && el("p", {}, el("a", { href: again.href, onclick: again.forget },
        texts.say(state.kind === "real" ? "thanks.another" : "thanks.once-more"))),
    ],
  };
}

/**
 * @param {string} text
 * @param {Node} shownIn
 */
async function copied(text, shownIn) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard is closed to plain http; a selection is the older way.
    getSelection()?.selectAllChildren(shownIn);
    return Boolean(document.execCommand?.("copy"));
  }
}
