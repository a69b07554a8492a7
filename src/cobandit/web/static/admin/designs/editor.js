// The editor of one draft. The TOML text is the draft; the form and the source view are two ways to change it.

import { el, find, get, moment, post, problem as complain, reason, remove, say, toast, Trouble } from "../common.js";
import { ROOT } from "../../shared/root.js";
import { Form } from "./form.js";
import { preview } from "./preview.js";

/** @typedef {import("./form.js").Edit} Edit */
/** @typedef {import("./form.js").Path} Path */
/** @typedef {{ message: string, path: Path | null, line: number | null }} Problem */
/** @typedef {{ text: string, data: any, design: { name: string, version: number, languages: string[], texts: string[], steps: string[] } | null, problem: Problem | null }} Checked */

const PAUSE = 400; // ms after the last key
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const base = `${ROOT}/api/admin/designs/${main.dataset.draft}`;
const source = /** @type {HTMLTextAreaElement} */ (find("source"));

/** @type {Checked & { revision: number, versions: number[], revisions: { revision: number, by: string, at: number }[] }} */
let draft = await get(base);
let saved = draft.text;
let text = draft.text; // as the server has answered it last; edits are on their way
/** @type {Edit[]} */
let waiting = [];
let timer = 0;
/** @type {Promise<void>} */
let work = Promise.resolve();
let words = /** @type {string[]} */ ([]);
get(`${ROOT}/api/messages/en`).then((answer) => { words = Object.keys(answer.messages); }).catch(() => {});

const form = new Form(find("form"), {
  schema: await get(`${ROOT}/api/admin/designs/schema`),
  data: draft.data,
  change,
  suggest: (path) => (path[0] === "translations" && path.length === 2 ? draft.design?.texts ?? [] : path[0] === "messages" && path.length === 2 ? words
    : path.length === 1 ? draft.data?.languages ?? [] : []),
});

/** Apply an edit to plain data, as the server does to the text.
 * @param {any} data
 * @param {Edit} edit */
function apply(data, { op, path, value, to }) {
  const home = path.slice(0, -1).reduce((part, key) => part[key], data);
  const last = path[path.length - 1];
  if (op === "set") home[last] = value;
  else if (op === "insert") home.splice(last, 0, value);
  else if (op === "move") home.splice(to ?? 0, 0, ...home.splice(/** @type {number} */ (last), 1));
  else if (Array.isArray(home)) home.splice(Number(last), 1);
  else delete home[last];
}

/** @type {(edits: Edit[], redraw: boolean) => void} */
function change(edits, redraw) {
  for (const edit of edits) {
    const absent = edit.op === "remove" && typeof edit.path.at(-1) === "string" && !(/** @type {string} */ (edit.path.at(-1)) in edit.path.slice(0, -1).reduce((part, key) => part[key], draft.data));
    if (absent) continue;
    const before = waiting.at(-1);
    if (edit.op === "set" && before?.op === "set" && JSON.stringify(before.path) === JSON.stringify(edit.path)) waiting.pop();
    waiting.push(structuredClone(edit));
    apply(draft.data, edit);
  }
  if (redraw) form.show(draft.data);
  later();
}

function later() {
  mark();
  clearTimeout(timer);
  timer = setTimeout(settle, PAUSE);
}

/** Send what is waiting; afterwards text, data and problem are those of the server. */
function settle() {
  clearTimeout(timer);
  work = work.then(async () => {
    const typed = !find("source-view").hidden && source.value !== text;
    if (!typed && !waiting.length) return;
    const edits = typed ? [] : waiting;
    waiting = [];
    try {
      const answer = await post(`${ROOT}/api/admin/designs/edit`, { text: typed ? source.value : text, edits });
      text = answer.text;
      if (!waiting.length) take(answer);
    } catch (error) {
      toast(reason(error));
      if (!(error instanceof Trouble) || error.status === 0 || error.status >= 500) {
        waiting = [...edits, ...waiting];
        return;
      }
      if (!typed) { // the text is as it was: so is the form
        waiting = [];
        take(await post(`${ROOT}/api/admin/designs/edit`, { text }));
        form.show(draft.data);
      }
    }
    mark();
  });
  return work;
}

/** @param {Checked} answer */
function take(answer) {
  const wasBroken = draft.data === null;
  Object.assign(draft, answer);
  if (find("source-view").hidden) source.value = answer.text;
  else if (wasBroken !== (draft.data === null)) show("source");
  tell();
  pages.refresh();
}

const pages = preview({ text: () => text, design: () => draft.design });

function dirty() {
  return waiting.length > 0 || text !== saved || (!find("source-view").hidden && source.value !== saved);
}

function mark() {
  say(find("unsaved"), dirty() ? "Unsaved changes" : `Revision ${draft.revision}`);
  find("unsaved").className = `badge ${dirty() ? "idle" : "open"}`;
}

function tell() {
  const { problem } = draft;
  const line = problem?.line ? ` Line ${problem.line}.` : "";
  say(find("verdict-text"), problem ? `${problem.message}${line}` : "The design is valid.");
  find("verdict").className = `notice verdict ${problem ? "bad" : "good"}`;
  find("go-to").hidden = !problem || (problem.path === null && problem.line === null);
  find("publish-button").disabled = problem !== null;
  source.setAttribute("aria-invalid", String(problem !== null));
  form.complain(problem);
}

// Views

/** @type {Record<string, HTMLElement>} */
const views = { form: find("form-view"), source: find("source-view"), preview: find("preview-view"), changes: find("changes-view") };

/** @param {string} name */
async function show(name) {
  await settle();
  for (const [key, node] of Object.entries(views)) node.hidden = key !== name;
  for (const button of find("views").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
  source.value = text;
  if (name === "form") {
    find("form-broken").hidden = draft.data !== null;
    find("form-tools").hidden = draft.data === null;
    form.show(draft.data ?? {});
    find("form").hidden = draft.data === null;
  }
  if (name === "preview") pages.refresh(true);
  if (name === "changes") await compare();
  tell();
  mark();
}

find("views").addEventListener("click", (/** @type {any} */ event) => {
  const { view } = event.target.closest("button")?.dataset ?? {};
  if (view) show(view);
});
source.addEventListener("input", later);
find("open-all").addEventListener("click", () => form.openAll(true));
find("close-all").addEventListener("click", () => form.openAll(false));
find("go-to").addEventListener("click", async () => {
  const { problem } = draft;
  if (problem?.path) {
    await show("form");
    form.goTo(problem.path);
  } else if (problem?.line) {
    await show("source");
    const before = source.value.split("\n").slice(0, problem.line - 1).join("\n").length;
    source.focus();
    source.setSelectionRange(before ? before + 1 : 0, before ? before + 1 : 0);
  }
});

// Saving

async function save() {
  await settle();
  find("stale").hidden = true;
  try {
    draft.revision = (await post(base, { text, revision: draft.revision })).revision;
    saved = text;
    toast(`Saved as revision ${draft.revision}.`);
    Object.assign(draft, { revisions: (await get(base)).revisions });
    fillChanges();
  } catch (error) {
    if (error instanceof Trouble && error.code === "stale") {
      say(find("stale-text"), error.message);
      find("stale").hidden = false;
      find("stale").focus();
    } else toast(reason(error));
    return false;
  } finally {
    mark();
  }
  return true;
}

find("save").addEventListener("click", save);
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    save();
  }
});
addEventListener("beforeunload", (event) => {
  if (dirty()) event.preventDefault();
});
find("stale-compare").addEventListener("click", async () => {
  Object.assign(draft, { revisions: (await get(base)).revisions });
  fillChanges();
  find("against").value = `revision:${draft.revisions[0].revision}`;
  await show("changes");
});
find("stale-save").addEventListener("click", async () => {
  draft.revision = (await get(base)).revision;
  await save();
});

// Revisions and versions

function fillChanges() {
  const choice = find("against");
  const before = choice.value;
  choice.replaceChildren(
    ...draft.versions.map((version) => el("option", { value: `version:${version}` }, `Published version ${version}`)),
    ...draft.revisions.map(({ revision, by, at }) => el("option", { value: `revision:${revision}` }, `Revision ${revision}, ${by}, ${moment(at)}`)));
  if (before) choice.value = before;
}

async function compare() {
  const [kind, number] = String(find("against").value).split(":");
  const lines = find("changes");
  find("bring-back").hidden = kind !== "revision";
  try {
    const answer = await post(`${base}/differences`, { text, [kind]: Number(number) });
    const shown = answer.lines.slice(2);
    lines.replaceChildren(...shown.map((/** @type {string} */ line) =>
      el(line[0] === "+" ? "ins" : line[0] === "-" ? "del" : "span", { class: line[0] === "@" ? "soft" : null }, line, "\n")));
    say(find("changes-note"), shown.length ? `Lines with + are in this draft alone, lines with - in ${answer.label} alone.` : `No differences from ${answer.label}.`);
    lines.hidden = !shown.length;
  } catch (error) {
    lines.hidden = true;
    say(find("changes-note"), reason(error));
  }
}

find("against").addEventListener("change", compare);
find("bring-back").addEventListener("click", async () => {
  const number = String(find("against").value).split(":")[1];
  const old = await get(`${base}?revision=${number}`);
  text = old.text;
  waiting = [];
  take(old);
  await show("source");
  toast(`The text of revision ${number} is back; save it to keep it.`);
});

// Files

find("download").addEventListener("click", async () => {
  await settle();
  const address = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  el("a", { href: address, download: `${draft.design?.name ?? main.dataset.name}.toml` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
});
find("upload").addEventListener("change", async () => {
  const [file] = find("upload").files;
  if (!file) return;
  try {
    const answer = await post(`${ROOT}/api/admin/designs/edit`, { text: await file.text() });
    waiting = [];
    text = answer.text;
    take(answer);
    await show(answer.data === null ? "source" : "form");
    toast(`${file.name} replaces the text; save it to keep it.`);
  } catch (error) {
    toast(reason(error));
  }
  find("upload").value = "";
});

// Pictures and videos

const LARGEST_UPLOAD = 960 * 1024;

find("add-file").addEventListener("change", async () => {
  const [file] = find("add-file").files;
  find("add-file").value = "";
  if (!file) return;
  try {
    await settle();
    if (draft.data === null) throw new Error("The text is not valid TOML. Correct it first.");
    if (file.size > LARGEST_UPLOAD) throw new Error("The file has more than 960 KB. Put larger ones next to the TOML file and serve it with cobandit study serve.");
    const entry = await post(`${ROOT}/api/admin/designs/files?file=${encodeURIComponent(file.name)}`, file);
    const added = { file: entry.file, sha256: entry.sha256 };
    const files = /** @type {any[]} */ (draft.data.media ?? []);
    const at = files.findIndex((other) => other.file === added.file);
    change([files.length === 0 ? { op: "set", path: ["media"], value: [added] } : at < 0 ? { op: "insert", path: ["media", files.length], value: added }
      : { op: "set", path: ["media", at, "sha256"], value: added.sha256 }], true);
    toast(`${added.file} is stored. Show it with ![what it shows](${added.file}), or as the icon of an arm.`);
  } catch (error) {
    toast(reason(error));
  }
});

// Publishing

find("publish-button").addEventListener("click", async () => {
  complain(find("publish-form"), null);
  const next = Math.max(draft.design?.version ?? 1, (draft.versions[0] ?? 0) + 1);
  say(find("publish-note"), `${draft.design?.name}, version ${next}`);
});
find("publish-form").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  complain(find("publish-form"), null);
  try {
    if (dirty() && !(await save())) throw new Error("The draft could not be saved, so it was not published.");
    const study = await post(`${base}/publish`, { revision: draft.revision });
    Object.assign(draft, await get(base));
    text = saved = draft.text;
    find("publish-dialog").close();
    fillChanges();
    await show("form");
    find("published").replaceChildren(`Published: `, el("a", { href: `${ROOT}/admin/studies/${study.study}` }, study.label));
    find("published").hidden = false;
    toast(`${study.label} is published.`);
  } catch (error) {
    complain(find("publish-form"), error);
  }
});
find("delete-form").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  try {
    await remove(base);
    saved = text;
    waiting = [];
    source.value = text;
    location.assign(`${ROOT}/admin/designs`);
  } catch (error) {
    complain(find("delete-form"), error);
  }
});

fillChanges();
await show(draft.data === null ? "source" : "form");
main.dataset.ready = "true";
