// The form of a design, generated from the JSON Schema. It shows the data and reports every change as an edit of one place.

import { el } from "../common.js";

/** @typedef {(string | number)[]} Path */
/** @typedef {{ op: "set" | "remove" | "insert" | "move", path: Path, value?: any, to?: number }} Edit */
/** @typedef {Record<string, any>} Schema */
/** @typedef {{ schema: Schema, data: any, change: (edits: Edit[], redraw: boolean) => void, suggest: (path: Path) => string[] }} Source */

const LONG = 20_000; // characters that a text on pages may have

/** @type {(path: Path) => string} */
export const idOf = (path) => `field-${path.map((part) => encodeURIComponent(String(part)).replace(/[^\w-]/g, "_")).join("--")}`;

/** @type {(name: string | number) => string} */
const title = (name) => {
  const words = String(name).replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The value that a new place begins with.
 * @param {Schema} schema
 * @param {Form} form
 * @returns {any} */
function blank(schema, form) {
  const found = form.resolve(schema);
  if (found.default !== undefined) return structuredClone(found.default);
  if (found.enum) return found.enum[0];
  const type = [found.type].flat()[0];
  if (type === "object") return Object.fromEntries((found.required ?? []).map((/** @type {string} */ key) => [key, blank(found.properties[key], form)]));
  if (type === "array") return Array.from({ length: found.minItems ?? 0 }, () => blank(found.items, form));
  if (type === "boolean") return false;
  if (type === "integer" || type === "number") return found.minimum ?? 0;
  return "";
}

/** What a text of a control stands for, where several types are allowed.
 * @param {string} text
 * @param {string[]} types */
function meant(text, types) {
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.includes("number") && types.includes("boolean") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (types.includes("array") && text.trim().startsWith("[")) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  if (types.includes("array") && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  return text;
}

export class Form {
  #source;
  #root;
  /** @type {Set<string>} */
  #open = new Set(["field-task"]);

  /** Sections that the next redraw opens. */
  #opening = new Set();

  /**
   * @param {HTMLElement} root
   * @param {Source} source
   */
  constructor(root, source) {
    this.#root = root;
    this.#source = source;
  }

  /** @param {any} data */
  show(data) {
    this.#source.data = data;
    const focused = document.activeElement?.id;
    const { schema } = this.#source;
    // The browser reports an opened section later, in a task of its own: a redraw in between must not close it.
    for (const section of this.#root.querySelectorAll("details")) {
      if (section.open) this.#open.add(section.id);
      else this.#open.delete(section.id);
    }
    for (const id of this.#opening) this.#open.add(id);
    this.#opening.clear();
    this.#root.replaceChildren(...this.#properties(schema, data, []));
    if (focused && this.#root.contains(document.getElementById(focused))) document.getElementById(focused)?.focus();
  }

  /** @param {Schema} schema
   * @returns {Schema} */
  resolve(schema) {
    if (!schema.$ref) return schema;
    const { $ref, ...rest } = schema;
    return { ...this.#source.schema.$defs[$ref.split("/").pop()], ...rest };
  }

  /** The controls of a table, plain values first.
   * @param {Schema} schema
   * @param {any} data
   * @param {Path} path */
  #properties(schema, data, path) {
    /** @type {[string, Schema][]} */
    const known = Object.entries(schema.properties ?? {}).map(([key, part]) => [key, this.#ofAgent(key, this.resolve(part), data)]);
    const other = Object.keys(data ?? {}).filter((key) => !(key in (schema.properties ?? {})));
    const required = schema.required ?? [];
    const nodes = known.map(([key, part]) => this.#field(key, part, data?.[key], [...path, key], required.includes(key)));
    // A key that the schema does not know is an error of the text; here it can be removed.
    return [...nodes, ...other.map((key) => this.#unknown(key, data[key], [...path, key]))];
  }

  /** The options of an agent are those of the chosen one.
   * @param {string} key
   * @param {Schema} schema
   * @param {any} data */
  #ofAgent(key, schema, data) {
    if (key !== "options") return schema;
    const rules = this.#source.schema.$defs.AgentOptions?.allOf ?? [];
    const rule = rules.find((/** @type {any} */ one) => one.if.properties.agent.const === data?.agent);
    return rule ? { ...schema, properties: rule.then.properties.options.properties } : schema;
  }

  /**
   * @param {string | number} name
   * @param {Schema} schema
   * @param {any} value
   * @param {Path} path
   * @param {boolean} required
   * @returns {HTMLElement} */
  #field(name, schema, value, path, required) {
    const types = [schema.type].flat();
    if (types.length === 1 && types[0] === "object") return this.#table(name, schema, value, path, required);
    if (types.length === 1 && types[0] === "array") return this.#list(name, schema, value, path, required);
    return this.#value(name, schema, value, path, required, types);
  }

  /**
   * A section that opens and closes.
   * @param {string | number} name
   * @param {Schema} schema
   * @param {Path} path
   * @param {string} note
   * @param {Child[]} inside */
  #section(name, schema, path, note, inside) {
    const id = idOf(path);
    return el("details", { class: "part", id, "data-path": JSON.stringify(path), open: this.#open.has(id) },
      el("summary", {}, el("span", { class: "part-name" }, typeof name === "number" ? `${name + 1}` : title(name)),
        el("span", { class: "soft" }, note), el("span", { class: "part-problem" })),
      schema.description && typeof name !== "number" && el("p", { class: "soft small-print" }, schema.description),
      el("p", { class: "problem", id: `${id}-problem`, hidden: true }),
      el("div", { class: "part-body" }, ...inside));
  }

  /** @type {(text: string, about: string, act: () => void, more?: Attributes) => HTMLElement} */
  #button(text, about, act, more = {}) {
    return el("button", { type: "button", class: "small", onclick: act, ...more }, text, el("span", { class: "unseen" }, ` ${about}`));
  }

  /** @type {(path: Path) => string} */
  #named(path) {
    return path.map((part) => (typeof part === "number" ? part + 1 : String(part).replaceAll("_", " "))).join(", ");
  }

  /** @type {(name: string | number, schema: Schema, value: any, path: Path, required: boolean) => HTMLElement} */
  #table(name, schema, value, path, required) {
    const about = this.#named(path);
    if (value === undefined || value === null || typeof value !== "object") {
      return this.#section(name, schema, path, required ? "missing" : "not used", [
        this.#button("Add", about, () => this.#structural([{ op: "set", path, value: blank(schema, this) }], path)),
      ]);
    }
    const inside = schema.properties || !schema.additionalProperties ? this.#properties(schema, value, path) : this.#free(schema, value, path);
    const remove = typeof path.at(-1) === "number" ? null
      : this.#button("Remove", about, () => this.#structural([{ op: "remove", path }], path));
    const label = typeof value.name === "string" ? value.name : typeof value.id === "string" ? value.id : typeof value.per === "string" ? value.per : "";
    return this.#section(name, schema, path, label, [...inside, !required && remove]);
  }

  /** A table whose keys are free: texts by key, options by name.
   * @type {(schema: Schema, value: any, path: Path) => Child[]} */
  #free(schema, value, path) {
    const rows = Object.entries(value).map(([key, part]) => {
      const place = [...path, key];
      return el("div", { class: "free-row" },
        this.#field(key, this.resolve(schema.additionalProperties), part, place, true),
        this.#button("Remove", this.#named(place), () => this.#structural([{ op: "remove", path: place }], path)));
    });
    const id = `${idOf(path)}-new`;
    const suggested = this.#source.suggest(path).filter((key) => !(key in value));
    const box = /** @type {HTMLInputElement} */ (el("input", { type: "text", id, list: suggested.length ? `${id}-keys` : null, autocomplete: "off" }));
    const add = () => {
      const key = box.value.trim();
      if (!key || key in value) return box.focus();
      return this.#structural([{ op: "set", path: [...path, key], value: blank(schema.additionalProperties, this) }], [...path, key]);
    };
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      add();
    });
    return [...rows, el("div", { class: "free-new" }, el("label", { for: id }, "New key", el("span", { class: "unseen" }, ` in ${this.#named(path)}`)), box,
      suggested.length ? el("datalist", { id: `${id}-keys` }, suggested.map((key) => el("option", { value: key }))) : null,
      this.#button("Add", `a key to ${this.#named(path)}`, add))];
  }

  /** @type {(name: string | number, schema: Schema, value: any, path: Path, required: boolean) => HTMLElement} */
  #list(name, schema, value, path, required) {
    const items = Array.isArray(value) ? value : [];
    const part = this.resolve(schema.items ?? {});
    const rows = items.map((item, place) => {
      const here = [...path, place];
      const about = `${this.#named(here)}`;
      return el("li", {}, this.#field(place, part, item, here, true), el("div", { class: "row-actions" },
        this.#button("Up", about, () => this.#move(here, place - 1), { disabled: place === 0, id: `${idOf(here)}-up` }),
        this.#button("Down", about, () => this.#move(here, place + 1), { disabled: place === items.length - 1, id: `${idOf(here)}-down` }),
        this.#button("Remove", about, () => this.#structural(
          [items.length === 1 ? { op: "remove", path } : { op: "remove", path: here }], path))));
    });
    const full = items.length >= (schema.maxItems ?? Infinity);
    const add = this.#button("Add", `to ${this.#named(path)}`, () => {
      const fresh = blank(part, this);
      const edit = items.length ? { op: /** @type {const} */ ("insert"), path: [...path, items.length], value: fresh } : { op: /** @type {const} */ ("set"), path, value: [fresh] };
      this.#structural([edit], [...path, items.length]);
    }, { disabled: full });
    return this.#section(name, schema, path, items.length ? String(items.length) : required ? "missing" : "none",
      [rows.length ? el("ol", { class: "plain list" }, rows) : null, add]);
  }

  /** @type {(path: Path, to: number) => void} */
  #move(path, to) {
    const target = [...path.slice(0, -1), to];
    this.#source.change([{ op: "move", path, to }], true);
    const down = to > /** @type {number} */ (path.at(-1));
    const again = document.getElementById(`${idOf(target)}-${down ? "down" : "up"}`);
    const other = document.getElementById(`${idOf(target)}-${down ? "up" : "down"}`);
    (again?.hasAttribute("disabled") ? other : again)?.focus();
  }

  /** Change the structure, draw again, and continue at the changed place.
   * @type {(edits: Edit[], path: Path) => void} */
  #structural(edits, path) {
    this.#opening.add(idOf(path));
    this.#source.change(edits, true);
    const place = document.getElementById(idOf(path));
    const target = place?.matches("details") ? place.querySelector("summary") : place;
    if (target instanceof HTMLElement) target.focus();
  }

  /** @type {(name: string | number, schema: Schema, value: any, path: Path, required: boolean, types: string[]) => HTMLElement} */
  #value(name, schema, value, path, required, types) {
    const id = idOf(path);
    const about = typeof name === "number" ? `${this.#named(path)}` : title(name);
    const given = value !== undefined;
    const described = [schema.description && `${id}-help`, `${id}-problem`].filter(Boolean).join(" ");
    const attributes = { id, "data-path": JSON.stringify(path), "aria-describedby": described, required };
    /** @type {(next: any) => void} */
    const send = (next) => this.#source.change([next === undefined ? { op: "remove", path } : { op: "set", path, value: next }], false);
    const control = this.#control(schema, value, types, attributes, send, required);
    // The control keeps its element while a person types; only the button comes and goes.
    const reset = !required && given ? this.#button("Use default", about, () => this.#structural([{ op: "remove", path }], path)) : null;
    const box = control.matches('[type="checkbox"]');
    const label = el("label", { for: id, class: typeof name === "number" ? "unseen" : null }, about);
    return el("div", { class: `field${box ? " check-field" : ""}` }, box ? [control, label] : [label, control],
      schema.description ? el("p", { class: "soft small-print", id: `${id}-help` }, schema.description) : null,
      el("p", { class: "problem", id: `${id}-problem`, hidden: true }), reset);
  }

  /** @type {(schema: Schema, value: any, types: string[], attributes: Attributes, send: (next: any) => void, required: boolean) => HTMLElement} */
  #control(schema, value, types, attributes, send, required) {
    if (schema.enum) {
      const known = schema.enum.includes(value) || value === undefined ? schema.enum : [value, ...schema.enum];
      const select = el("select", attributes,
        value === undefined || !required ? el("option", { value: "" }, schema.default === undefined ? "–" : `Default: ${schema.default}`) : null,
        known.map((/** @type {any} */ one) => el("option", { value: String(one) }, String(one))));
      select.value = value === undefined ? "" : String(value);
      select.addEventListener("change", () => {
        const redraw = String(attributes["data-path"]).endsWith('"agent"]'); // which has options of its own
        const path = JSON.parse(attributes["data-path"]);
        if (redraw) this.#source.change([select.value ? { op: "set", path, value: select.value } : { op: "remove", path }], true);
        else send(select.value || undefined);
      });
      return select;
    }
    if (types.length === 1 && types[0] === "boolean") {
      const box = el("input", { ...attributes, type: "checkbox", required: null });
      box.checked = Boolean(value ?? schema.default);
      box.addEventListener("change", () => send(box.checked));
      return box;
    }
    if (types.length === 1 && (types[0] === "integer" || types[0] === "number")) {
      const box = el("input", { ...attributes, type: "number", min: schema.minimum, max: schema.maximum, step: types[0] === "integer" ? 1 : "any",
        placeholder: schema.default });
      box.value = value === undefined ? "" : String(value);
      box.addEventListener("input", () => send(box.value.trim() === "" || Number.isNaN(box.valueAsNumber) ? undefined : box.valueAsNumber));
      return box;
    }
    const long = types.length === 1 && (schema.maxLength ?? 0) >= LONG;
    const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
    const list = schema.examples ? `${attributes.id}-examples` : null;
    const placeholder = typeof schema.default === "string" || typeof schema.default === "number" ? schema.default : null;
    const box = long ? el("textarea", { ...attributes, rows: Math.min(14, Math.max(1, text.split("\n").length + Math.floor(text.length / 90))), placeholder })
      : el("input", { ...attributes, type: "text", list, placeholder, autocomplete: "off" });
    box.value = text;
    box.addEventListener("input", () => send(box.value === "" && !required ? undefined : meant(box.value, types)));
    if (!list) return box;
    return el("span", { class: "with-list" }, box, el("datalist", { id: list }, schema.examples.map((/** @type {string} */ one) => el("option", { value: one }))));
  }

  /** @type {(key: string, value: any, path: Path) => HTMLElement} */
  #unknown(key, value, path) {
    const id = idOf(path);
    return el("div", { class: "field", id, "data-path": JSON.stringify(path), tabindex: "-1" },
      el("strong", {}, title(key)), " ", el("code", {}, JSON.stringify(value).slice(0, 80)), " ",
      el("p", { class: "problem", id: `${id}-problem`, hidden: true }),
      this.#button("Remove", this.#named(path), () => this.#structural([{ op: "remove", path }], path.slice(0, -1))));
  }

  /**
   * Show a problem at its place, or none.
   * @param {{ message: string, path: Path | null } | null} problem */
  complain(problem) {
    for (const node of this.#root.querySelectorAll(".problem:not([hidden])")) {
      node.textContent = "";
      node.setAttribute("hidden", "");
    }
    for (const node of this.#root.querySelectorAll('[aria-invalid="true"]')) node.removeAttribute("aria-invalid");
    for (const node of this.#root.querySelectorAll(".part-problem")) node.textContent = "";
    const place = this.place(problem?.path ?? null);
    if (!problem || !place) return;
    const note = document.getElementById(`${place.id}-problem`);
    if (note) {
      note.textContent = problem.message;
      note.hidden = false;
    }
    if (place.matches("input, select, textarea")) place.setAttribute("aria-invalid", "true");
    for (let part = place.closest("details"); part; part = part.parentElement?.closest("details") ?? null) {
      const mark = part.querySelector(":scope > summary .part-problem");
      if (mark) mark.textContent = "Problem";
    }
  }

  /** The control of a path, or of the nearest place around it.
   * @param {Path | null} path
   * @returns {HTMLElement | null} */
  place(path) {
    for (let length = path?.length ?? 0; length > 0; length -= 1) {
      const node = document.getElementById(idOf(/** @type {Path} */ (path).slice(0, length)));
      if (node) return node;
    }
    return null;
  }

  /** Open everything around a place, and go there.
   * @param {Path | null} path */
  goTo(path) {
    const place = this.place(path);
    for (let part = place?.closest("details"); part; part = part.parentElement?.closest("details")) part.open = true;
    const target = place?.matches("details") ? place.querySelector("summary") : place;
    if (target instanceof HTMLElement) target.focus();
  }

  /** @param {boolean} open */
  openAll(open) {
    for (const part of this.#root.querySelectorAll("details")) part.open = open;
  }
}
