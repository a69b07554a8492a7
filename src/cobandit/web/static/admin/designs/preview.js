// The preview: the participant's own pages in a frame, with the state of a step of the draft.

import { el, find, post, reason, say, stepName } from "../common.js";
import { ROOT } from "../../shared/root.js";

/** "episode-0" as "Episode 1": people count from one.
 * @param {string} id */
function stepWords(id) {
  const [kind, number] = id.split("-");
  if (kind === "questionnaire" || kind === "page") return stepName(id, kind);
  const place = number === undefined ? "" : kind === "episode" ? ` ${Number(number) + 1}` : kind === "rest" ? ` before episode ${Number(number) + 1}` : ` ${number}`;
  return kind.charAt(0).toUpperCase() + kind.slice(1) + place;
}

/**
 * @param {{ text: () => string, design: () => { languages: string[], steps: string[] } | null }} draft
 */
export function preview({ text, design }) {
  const frame = /** @type {HTMLIFrameElement} */ (find("preview"));
  const step = find("preview-step");
  const language = find("preview-language");
  const note = find("preview-note");
  let ready = false;
  let turn = 0;

  /**
   * @param {any} select
   * @param {string[]} values
   * @param {(value: string) => string} name
   */
  function offer(select, values, name) {
    const before = select.value;
    select.replaceChildren(...values.map((value) => el("option", { value }, name(value))));
    select.value = values.includes(before) ? before : values[0];
  }

  async function refresh(opened = false) {
    if (find("preview-view").hidden && !opened) return;
    if (!frame.getAttribute("src")) frame.src = frame.dataset.src ?? "";
    const known = design();
    if (known) {
      offer(step, known.steps, stepWords);
      offer(language, known.languages, String);
    }
    note.hidden = known !== null;
    if (!known) say(note, "The draft has a problem: the preview shows its last valid state.");
    if (!ready || !known) return;
    const mine = (turn += 1);
    try {
      const answer = await post(`${ROOT}/api/admin/designs/preview`, { text: text(), step: step.value, language: language.value });
      if (mine === turn) frame.contentWindow?.postMessage(answer, location.origin);
    } catch (error) {
      note.hidden = false;
      say(note, reason(error));
    }
  }

  addEventListener("message", (event) => {
    if (event.origin !== location.origin || event.source !== frame.contentWindow) return;
    if (event.data.language) language.value = event.data.language;
    ready = true;
    refresh();
  });
  step.addEventListener("change", () => refresh());
  language.addEventListener("change", () => refresh());
  find("preview-sizes").addEventListener("click", (/** @type {any} */ event) => {
    const button = event.target.closest("button");
    if (!button) return;
    for (const other of find("preview-sizes").querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    frame.className = button.dataset.size;
  });
  return { refresh };
}
