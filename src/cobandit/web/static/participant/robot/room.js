// The interior around the kitchen: floor, two walls and their decoration. It has the colours of the page, light or dark,
// so the browser draws it and recordings do not contain it.

import { merged } from "./merging.js";

/** @typedef {typeof import("three")} Three */
/** @typedef {"floor" | "wall" | "panel" | "rail" | "board" | "wood" | "lamp" | "glow"} Surface */
/** @typedef {Record<Surface, string>} Colours */

/** @type {Record<"light" | "dark", Colours>} */
const COLOURS = {
  light: { floor: "#d9cdbb", wall: "#eef3f1", panel: "#9cc3bb", rail: "#f7f5ef", board: "#30444a", wood: "#c49a68", lamp: "#e07a5f", glow: "#fff3cf" },
  dark: { floor: "#4b4039", wall: "#3b4f58", panel: "#2a6066", rail: "#51636a", board: "#10181c", wood: "#8a6a46", lamp: "#a34d38", glow: "#ffe9b0" },
};
const [BACK, SIDE] = [2.0, -1.05]; // where the walls stand: y of the one behind the customer, x of the one behind the robot
const DADO = 0.98; // up to here the walls are panelled
/** The jars on the shelf: colour, radius, height. */
const JARS = [["#c8402f", 0.034, 0.15], ["#e8b530", 0.034, 0.15], ["#7da453", 0.045, 0.10], ["#efe8da", 0.045, 0.12], ["#b5573c", 0.04, 0.09]];
/** The four burgers of the menu, from below. */
const MENU = [["#6a3d22", "#d4402f", "#f2b92c", "#6fae3a"], ["#6a3d22", "#6fae3a", "#f2b92c", "#d4402f"], ["#f2b92c", "#d4402f", "#6a3d22", "#6fae3a"], ["#f2b92c", "#6fae3a", "#6a3d22", "#d4402f"]];
const BUN = "#d9963f";

export class Room {
  /** What is drawn in one colour.
   * @type {Map<string, import("three").BufferGeometry[]>} */
  #shapes = new Map();
  /** @type {Map<string, import("three").MeshLambertMaterial>} */
  #materials = new Map();
  #three;

  /** @param {Three} three */
  constructor(three) {
    this.#three = three;
    this.element = new three.Group();
    this.#walls();
    this.#menu(-0.62, 1.32);
    this.#shelf(1.28, 1.26);
    for (const x of [-0.05, 0.62, 1.29]) this.#lamp(x);
    for (const [colour, shapes] of this.#shapes) {
      const material = new three.MeshLambertMaterial();
      const mesh = new three.Mesh(merged(three, shapes), material);
      mesh.receiveShadow = true;
      this.#materials.set(colour, material);
      this.element.add(mesh);
    }
  }

  #walls() {
    const { PlaneGeometry, BoxGeometry } = this.#three;
    const facing = Math.PI / 2;
    this.#put("floor", new PlaneGeometry(9, 9), [1, 0, 0]);
    this.#put("wall", new PlaneGeometry(7, 3.2).rotateX(facing), [2, BACK, 1.6]);
    this.#put("wall", new PlaneGeometry(3.2, 7).rotateY(facing), [SIDE, -1.0, 1.6]);
    this.#put("panel", new PlaneGeometry(7, DADO).rotateX(facing), [2, BACK - 0.005, DADO / 2]);
    this.#put("panel", new PlaneGeometry(DADO, 7).rotateY(facing), [SIDE + 0.005, -1.0, DADO / 2]);
    this.#put("rail", new BoxGeometry(7, 0.03, 0.045), [2, BACK - 0.01, DADO]);
    this.#put("rail", new BoxGeometry(0.03, 7, 0.045), [SIDE + 0.01, -1.0, DADO]);
  }

  /** A board with the four burgers.
   * @param {number} x
   * @param {number} z */
  #menu(x, z) {
    const { BoxGeometry, CapsuleGeometry } = this.#three;
    this.#put("wood", new BoxGeometry(0.66, 0.03, 0.44), [x, BACK - 0.02, z]);
    this.#put("board", new BoxGeometry(0.61, 0.034, 0.39), [x, BACK - 0.022, z]);
    MENU.forEach((layers, n) => {
      const [left, low] = [x + (n % 2 ? 0.145 : -0.145), z + (n < 2 ? 0.085 : -0.095)];
      [BUN, ...layers, BUN].forEach((colour, i) => {
        const width = i === 0 || i === 5 ? 0.115 : 0.13;
        const layer = new CapsuleGeometry(0.0095, width, 3, 8).rotateZ(Math.PI / 2);
        this.#put(colour, layer, [left, BACK - 0.045, low - 0.05 + 0.0195 * i]);
      });
    });
  }

  /** A shelf with jars.
   * @param {number} x
   * @param {number} z */
  #shelf(x, z) {
    const { BoxGeometry, CylinderGeometry } = this.#three;
    this.#put("wood", new BoxGeometry(0.86, 0.16, 0.024), [x, BACK - 0.08, z]);
    JARS.forEach(([colour, radius, height], i) => {
      const at = x - 0.32 + 0.16 * i;
      const jar = new CylinderGeometry(Number(radius) * 0.92, Number(radius), Number(height), 20).rotateX(Math.PI / 2);
      this.#put(String(colour), jar, [at, BACK - 0.08, z + 0.012 + Number(height) / 2]);
      this.#put("rail", new CylinderGeometry(Number(radius) * 0.7, Number(radius) * 0.7, 0.02, 20).rotateX(Math.PI / 2), [at, BACK - 0.08, z + 0.022 + Number(height)]);
    });
  }

  /** A lamp that hangs over the counter.
   * @param {number} x */
  #lamp(x) {
    const { CylinderGeometry, SphereGeometry } = this.#three;
    const [y, z] = [0.98, 1.74];
    this.#put("board", new CylinderGeometry(0.004, 0.004, 0.9, 6).rotateX(Math.PI / 2), [x, y, z + 0.5]);
    this.#put("lamp", new CylinderGeometry(0.035, 0.125, 0.11, 28, 1, false).rotateX(Math.PI / 2), [x, y, z]);
    this.#put("glow", new SphereGeometry(0.045, 16, 10), [x, y, z - 0.05]);
  }

  /**
   * @param {Surface | string} colour a surface, or a colour that is the same on every page
   * @param {import("three").BufferGeometry} shape
   * @param {[number, number, number]} at
   */
  #put(colour, shape, at) {
    const shapes = this.#shapes.get(colour) ?? [];
    shapes.push(shape.translate(...at));
    this.#shapes.set(colour, shapes);
  }

  /** @param {"light" | "dark"} theme */
  paint(theme) {
    for (const [colour, material] of this.#materials) {
      const painted = COLOURS[theme][/** @type {Surface} */ (colour)] ?? colour;
      material.color.set(painted);
      if (colour === "glow") material.emissive.set(painted);
    }
  }
}
