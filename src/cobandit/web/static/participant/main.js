// Where it begins: the page says whether this is a study's open link or one participant's own page.

import { api, Link } from "./api.js";
import { Frame } from "./frame.js";
import { Journey } from "./journey.js";
import { openLink } from "./open.js";
import { lasting } from "./store.js";
import { Texts } from "./text.js";

const FALLBACK = "en";

const main = document.getElementById("app");
const { mode, study, token, demo } = main.dataset;
const LANGUAGE = `cobandit:language:${token || study}`;
const frame = new Frame(document.getElementById("top"), main);
const link = new Link();
const found = new Map();

/** The messages of a language; in those that the software does not speak, English stands in. */
async function words(language) {
  if (!found.has(language)) {
    const answer = await link.insist(() => api.messages(language)).catch(() => api.messages(FALLBACK));
    found.set(language, new Texts(language, answer.messages));
  }
  return found.get(language);
}

/** The language that this person chose, here or in the address; with an argument, the choice is kept. */
function language(chosen) {
  if (chosen) lasting.set(LANGUAGE, chosen);
  return lasting.get(LANGUAGE);
}

const asked = new URLSearchParams(location.search).get("language");
if (asked) language(asked);

const texts = await words(language() ?? (document.documentElement.lang || FALLBACK));
if (mode === "open") openLink({ study, demo: demo === "true", frame, words, language, texts });
else new Journey({ token, frame, words, language, texts }).start();
