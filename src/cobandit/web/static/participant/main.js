// Where it begins: the page says whether this is a study's open link or one participant's own page.

import { api, Link } from "./api.js";
import { Frame } from "./frame.js";
import { Journey } from "./journey.js";
import { openLink } from "./open.js";
import { lasting } from "./store.js";
import { Texts } from "./text.js";
import { ROOT } from "../shared/root.js";

const FALLBACK = "en";

const main = /** @type {HTMLElement} */ (document.getElementById("app"));
const { mode, study = "", version = "", token = "", identity = "", demo } = main.dataset;
const LANGUAGE = `cobandit:language:${token || ROOT + study}`;
const frame = new Frame(/** @type {HTMLElement} */ (document.getElementById("top")), main);
const link = new Link();
const served = document.documentElement.lang || FALLBACK;
/** @type {Map<string, Texts>} */
const found = new Map();

/** The messages of a language, as the study words them; what neither it nor the software says stays English.
 * @type {Words} */
async function words(language) {
  const known = found.get(language);
  if (known) return known;
  const answer = await link.insist(() => api.messages(language, study, version)).catch(() => api.messages(FALLBACK, "", ""));
  const made = new Texts(language, answer.messages);
  found.set(language, made);
  return made;
}

/** The language that this person chose, here or in the address, else that of the page, which the server took from the
 * participant or the browser; with an argument, the choice is kept.
 * @type {Language} */
function language(chosen) {
  if (chosen) lasting.set(LANGUAGE, chosen);
  return lasting.get(LANGUAGE) ?? served;
}

const asked = new URLSearchParams(location.search).get("language");
if (asked) language(asked);

const texts = await words(language());
if (mode === "open") openLink({ study, identity, demo: demo === "true", frame, words, language, texts });
else new Journey({ token, frame, words, language, texts }).start();
