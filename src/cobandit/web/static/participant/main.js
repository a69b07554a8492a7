// Where it begins: the page says whether this is a study's open link or one participant's own page.

import { api, Link } from "./api.js";
import { Frame } from "./frame.js";
import { Journey } from "./journey.js";
import { openLink } from "./open.js";
import { lasting } from "./store.js";
import { Texts } from "./text.js";

const FALLBACK = "en";

const main = /** @type {HTMLElement} */ (document.getElementById("app"));
const { mode, study = "", token = "", demo } = main.dataset;
const LANGUAGE = `cobandit:language:${token || study}`;
const frame = new Frame(/** @type {HTMLElement} */ (document.getElementById("top")), main);
const link = new Link();
/** @type {Map<string, Texts>} */
const found = new Map();

/** The messages of a language; in those that the software does not speak, English stands in.
 * @type {Words} */
async function words(language) {
  const known = found.get(language);
  if (known) return known;
  const answer = await link.insist(() => api.messages(language)).catch(() => api.messages(FALLBACK));
  const made = new Texts(language, answer.messages);
  found.set(language, made);
  return made;
}

/** The language that this person chose, here or in the address; with an argument, the choice is kept.
 * @type {Language} */
function language(chosen) {
  if (chosen) lasting.set(LANGUAGE, chosen);
  return lasting.get(LANGUAGE);
}

const asked = new URLSearchParams(location.search).get("language");
if (asked) language(asked);

const texts = await words(language() ?? (document.documentElement.lang || FALLBACK));
if (mode === "open") openLink({ study, demo: demo === "true", frame, words, language, texts });
else new Journey({ token, frame, words, language, texts }).start();
