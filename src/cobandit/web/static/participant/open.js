// The open link: welcome and consent. Agreeing creates one participant, also after double clicks and lost responses.

import { api, Link, pageOf, Trouble } from "./api.js";
import { el } from "./dom.js";
import { consentPage } from "./steps.js";
import { lasting, uuid } from "./store.js";
import { ROOT } from "../shared/root.js";

const IDS = ["PROLIFIC_PID", "survey_code", "id", "workerId", "participantId", "label"];
const OURS = ["language", "demo"];
const OWN_PAGES = ["closed", "invite-only", "full", "not-ready", "unfilled"]; // codes of refusals that have texts of their own
/** @type {Record<number, string>} */
const PAGES = { 403: "forbidden", 404: "unknown" };
const PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"; // MTurk's placeholder in the preview of a task, before a worker accepts it

/**
 * @param {{ study: string, identity: string, demo: boolean, frame: Frame, words: Words, language: Language, texts: Texts }} lent
 */
export async function openLink({ study, identity, demo, frame, words, language, texts }) {
  const query = new URLSearchParams(location.search);
  const recruiting = Object.fromEntries([...query].filter(([name]) => !OURS.includes(name)).slice(0, 20)
    .map(([name, value]) => [name.slice(0, 100), value.slice(0, 200)]));
  const kind = demo ? "demo" : "real";
  const names = identity && !IDS.includes(identity) ? [identity, ...IDS] : IDS;
  const ids = names.filter((name) => recruiting[name]).map((name) => `${name}=${recruiting[name]}`).join("&");
  const name = `cobandit:open:${ROOT}${study}:${kind}:${ids}`;
  const link = new Link((lost) => frame.banner(lost ? texts.say("connection.waiting") : null));

  async function known() {
    const token = kind === "real" && lasting.get(name)?.token;
    if (!token) return false;
    try {
      await link.insist(() => api.state(token));
    } catch (trouble) {
      if (trouble instanceof Trouble && trouble.status === 404) lasting.remove(name);
      return false;
    }
    location.replace(pageOf(token));
    return true;
  }

  async function draw(focus = true) {
    let info;
    try {
      info = await link.insist(() => api.study(study, language()));
    } catch (trouble) {
      refuse(trouble);
      return;
    }
    texts = (await words(info.language)).with(info.texts);
    frame.dress({
      title: info.title, kind, languages: info.languages, texts,
      onLanguage(chosen) {
        language(chosen);
        draw(false);
      },
    });
    frame.main.dataset.step = "consent";
    if (info.refused && kind === "real") {
      turnAway(info.refused);
      return;
    }
    frame.show({
      heading: texts.say("consent.heading"), focus,
      body: consentPage({
        texts, written: info.consent, decline,
        note: recruiting.assignmentId === PREVIEW ? texts.say("consent.preview") : null,
        agree: () => begin(info),
      }),
    });
  }

  /** @param {StudyInfo} info */
  async function begin(info) {
    const key = lasting.get(name)?.key ?? uuid();
    lasting.set(name, { key });
    const body = {
      key, consent_version: info.consent.version, language: info.language,
      demo, recruiting,
    };
    try {
      const { token } = await link.insist(() => api.begin(study, body));
      // Each visit starts a new demo, so the browser does not store its token.
      if (kind === "real") lasting.set(name, { token });
      else lasting.remove(name);
      lasting.set(`cobandit:from:${token}`, { href: location.href, name, named: Boolean(ids) });
      location.replace(pageOf(token));
      await new Promise(() => {}); // the button stays as it is until the next page is there
    } catch (trouble) {
      refuse(trouble);
    }
  }

  function decline() {
    frame.show({
      heading: texts.say("declined.heading"),
      body: [
        el("p", {}, texts.say("declined.text")),
        el("div", { class: "actions" },
          el("button", { type: "button", class: "quiet", onclick: () => draw() }, texts.say("declined.back"))),
      ],
    });
  }

  /** @param {unknown} trouble */
  function refuse(trouble) {
    if (!(trouble instanceof Trouble)) throw trouble;
    const page = OWN_PAGES.includes(trouble.code) ? trouble.code : PAGES[trouble.status] ?? "trouble";
    turnAway(page);
  }

  /** @param {string} page */
  function turnAway(page) {
    frame.main.dataset.step = page;
    frame.show({
      heading: texts.say(`${page}.title`),
      // Never a link to the home page, which lists other studies and what they compare.
      body: [
        el("p", {}, texts.say(`${page}.text`)),
        page !== "unknown" && el("p", {}, el("a", { href: location.href }, texts.say("reload"))),
      ],
    });
  }

  if (!(await known())) await draw();
}
