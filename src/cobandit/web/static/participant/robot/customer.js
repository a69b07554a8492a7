// The customers at the counter: each one looks different, and shows by face whether the burger is good.

import { shuffled } from "../shuffle.js";

/** @typedef {typeof import("three")} Three */
/** @typedef {"wait" | "good" | "bad"} Mood */

/** The colours of the figure in the recording; each customer replaces them by their own. */
export const [SKIN, SHIRT] = ["#b8a6d9", "#7d6bb3"];
/** The looks of the customers: skin, shirt, hair, and hair style. */
const PEOPLE = [
  ["#e8c29b", "#3f8f79", "#5b3a24", "short"],
  ["#b07b52", "#4a7fb5", "#231a17", "bun"],
  [SKIN, SHIRT, "#4b3a78", "curls"],
  ["#f0b7b0", "#8a5a9c", "#c9702e", "long"],
  ["#8a5f45", "#c25b7a", "#1d1715", "curls"],
  ["#9fc5e8", "#c8523f", "#35506e", "cap"],
  ["#f3d3b3", "#d08b2c", "#8b8b86", "short"],
  ["#a8d5a2", "#5a6fb0", "#3f6b45", "bun"],
  ["#c68a5e", "#5f9a4a", "#3a2418", "long"],
];
/** The head of the described figure, which looks along -y. */
const HEAD = { z: 1.31, half: [0.118, 0.112, 0.132] };
const BROW = { x: 0.041, y: -0.1035, z: 1.372 };
/** How brows stand for a mood: higher by metres, and turned. */
const BROWS = { wait: [0, 0], good: [0.008, -0.12], bad: [-0.002, 0.42] };
const LIPS = 1.289; // their height, about which a bad burger turns the mouth over

export class Customer {
  #body;
  #mouth;
  #home;
  /** @type {Map<string, import("three").Group>} */
  #styles = new Map();
  #hair;
  /** @type {import("three").Mesh[]} */
  #brows;
  /** The materials that change with each customer.
   * @type {{ colour: string, materials: { color: import("three").Color }[] }[]} */
  #looks = [];
  /** The order in which people come. */
  #order;

  /**
   * @param {Three} three
   * @param {import("three").Group} body
   * @param {import("three").Group} mouth
   * @param {string} company the seed of the customers' order
   */
  constructor(three, body, mouth, company) {
    this.#order = shuffled(PEOPLE.length, company);
    this.#body = body;
    this.#mouth = mouth;
    this.#home = { z: body.position.z, turn: body.rotation.z };
    body.add(mouth);
    this.#hair = new three.MeshLambertMaterial({ color: "#3a2418" });
    for (const [style, shapes] of Object.entries(styles(three))) {
      const worn = new three.Group();
      for (const shape of shapes) worn.add(new three.Mesh(shape, this.#hair));
      this.#styles.set(style, worn);
      body.add(worn);
    }
    const brow = new three.CapsuleGeometry(0.0046, 0.03, 3, 8).rotateZ(Math.PI / 2);
    this.#brows = [-1, 1].map((side) => {
      const mesh = new three.Mesh(brow, this.#hair);
      mesh.position.set(side * BROW.x, BROW.y, BROW.z);
      body.add(mesh);
      return mesh;
    });
  }

  /**
   * Register a part of the figure whose colour changes with the customer.
   * @param {string} colour
   * @param {{ color: import("three").Color }[]} materials
   */
  wear(colour, materials) {
    if (colour === SKIN || colour === SHIRT) this.#looks.push({ colour, materials });
  }

  /** Another one comes; gives who it is.
   * @param {number} t */
  welcome(t) {
    const person = this.#order[t % this.#order.length];
    const [skin, shirt, hair, style] = PEOPLE[person];
    for (const { colour, materials } of this.#looks) {
      for (const { color } of materials) color.set(colour === SKIN ? skin : shirt);
    }
    this.#hair.color.set(hair);
    for (const [name, worn] of this.#styles) worn.visible = name === style;
    return person;
  }

  /** What they make of it.
   * @param {Mood} mood */
  feel(mood) {
    const scale = { wait: 0.25, good: 1.25, bad: -1 }[mood];
    this.#mouth.scale.z = scale;
    this.#mouth.position.z = LIPS * (1 - scale);
    const [raised, turned] = BROWS[mood];
    this.#brows.forEach((brow, i) => {
      brow.position.z = BROW.z + raised;
      brow.rotation.y = (i ? 1 : -1) * turned;
    });
    this.move("wait", 1);
  }

  /**
   * A hop for joy, or a head that is shaken; `part` of it (0 to 1) is over.
   * @param {Mood} mood
   * @param {number} part
   */
  move(mood, part) {
    const left = 1 - part;
    this.#body.position.z = this.#home.z + (mood === "good" ? 0.055 * left * Math.abs(Math.sin(2 * Math.PI * part)) : 0);
    this.#body.rotation.z = this.#home.turn + (mood === "bad" ? 0.22 * left * Math.sin(5 * Math.PI * part) : 0);
  }
}

/** Hair for the described head, by how it is worn.
 * @param {Three} three
 * @returns {Record<string, import("three").BufferGeometry[]>} */
function styles({ SphereGeometry, CylinderGeometry }) {
  const [a, b, c] = HEAD.half;
  /** A skullcap: down to an angle from its top, and leant back.
   * @type {(down: number, back: number, wide?: number) => import("three").BufferGeometry} */
  const cover = (down, back, wide = 1.055) => new SphereGeometry(1, 28, 14, 0, 2 * Math.PI, 0, down)
    .rotateX(Math.PI / 2).scale(a * wide, b * wide, c * wide).rotateX(-back).translate(0, 0.004, HEAD.z + 0.002);
  /** @type {(radius: number, x: number, y: number, z: number) => import("three").BufferGeometry} */
  const ball = (radius, x, y, z) => new SphereGeometry(radius, 16, 10).translate(x, y, z);
  const curls = [];
  for (let i = 0; i < 22; i += 1) {
    const around = i * 2.39996; // the golden angle spreads them evenly
    const down = 0.25 + 1.15 * Math.sqrt(i / 22);
    const [x, y, z] = [Math.sin(down) * Math.cos(around), Math.sin(down) * Math.sin(around), Math.cos(down)];
    if (y < -0.55 && z < 0.75) continue; // the face stays free
    curls.push(ball(0.036, a * x, 0.012 + b * y, HEAD.z + 0.01 + c * z));
  }
  return {
    short: [cover(1.45, 0.42)],
    bun: [cover(1.5, 0.45), ball(0.048, 0, 0.055, HEAD.z + c + 0.02)],
    curls: [cover(1.3, 0.35), ...curls],
    long: [cover(1.5, 0.4, 1.07), new SphereGeometry(1, 24, 14).scale(a * 1.12, 0.075, 0.165).translate(0, 0.062, HEAD.z - 0.055)],
    cap: [cover(1.5, 0.12, 1.08), new CylinderGeometry(0.1, 0.1, 0.012, 28, 1, false, Math.PI / 2, Math.PI).rotateX(Math.PI / 2).rotateZ(Math.PI).translate(0, -0.085, HEAD.z + 0.045)],
  };
}
