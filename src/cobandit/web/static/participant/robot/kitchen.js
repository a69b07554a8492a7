// The kitchen in three dimensions: what the server describes, put together from shapes and meshes, and lit.

import { DEFAULT_LOOK, ROBOT_COLOURS } from "../partner.js";
import { Customer } from "./customer.js";
import { merged } from "./merging.js";
import { Room } from "./room.js";

/** @typedef {typeof import("three")} Three */
/** @typedef {import("three").BufferGeometry} Shape */

/** On a light and on a dark page: the colour of what is far, and how bright sky and lamps are.
 * @type {Record<"light" | "dark", { wall: string, sky: number, ground: string, lamps: number }>} */
const AIR = {
  light: { wall: "#e3eef2", sky: 1.75, ground: "#d8cfc4", lamps: 3.0 },
  dark: { wall: "#1d2a31", sky: 1.15, ground: "#3a3029", lamps: 2.4 },
};
/** How much a surface shines.
 * @type {Record<string, number>} */
const ROUGHNESS = { matt: 0.95, satin: 0.6, gloss: 0.25 };
const CORNERS = { large: 32, small: 12 };
const SMALL = 0.02;
const FLOOR = "plane";
const CUSTOMER = "customer";
/** The customer's mouth is made of small capsules, and nothing else of them is. */
const MOUTH = "mouth";

export class Kitchen {
  #three;
  /** @type {Map<string, import("three").Group>} */
  #bodies = new Map();
  /** @type {{ mesh: import("three").Mesh, rich: import("three").Material, plain: import("three").Material }[]} */
  #parts = [];
  #room;
  #sky;
  /** @type {import("three").DirectionalLight[]} */
  #lamps;

  /**
   * @param {Three} three
   * @param {KitchenScene} description
   * @param {string} company whose customers come, and in which part
   * @param {string} look whose colour the robot has
   */
  constructor(three, description, company, look) {
    this.#three = three;
    this.scene = new three.Scene();
    this.camera = description.camera;
    this.#sky = new three.HemisphereLight("#ffffff", "#d8cfc4", 1);
    this.#lamps = description.lights.map((light) => this.#lamp(light));
    this.#room = new Room(three);
    this.scene.add(this.#sky, this.#room.element);
    for (const [name, { pos, quat }] of Object.entries(description.bodies)) set(this.#body(name), pos, quat);
    this.customer = new Customer(three, this.#body(CUSTOMER), this.#body(MOUTH), company);
    const meshes = this.#meshes(description);
    for (const part of this.#sorted(description.geoms, look)) {
      const shapes = part.geoms.flatMap((geom) => this.#shape(geom, meshes) ?? []);
      this.#add(part, merged(three, shapes));
    }
  }

  /** @param {string} name */
  #body(name) {
    let body = this.#bodies.get(name);
    if (!body) {
      body = new this.#three.Group();
      this.#bodies.set(name, body);
      this.scene.add(body);
    }
    return body;
  }

  /** @param {KitchenScene["lights"][number]} light */
  #lamp({ position, target, intensity, shadow }) {
    const lamp = new this.#three.DirectionalLight("#fff1dd", intensity);
    lamp.position.set(...position);
    lamp.target.position.set(...target);
    lamp.castShadow = shadow;
    lamp.userData = { shadow, intensity };
    Object.assign(lamp.shadow.camera, { left: -1.2, right: 1.2, top: 1.3, bottom: -1.2, near: 0.5, far: 6 });
    lamp.shadow.mapSize.set(2048, 2048);
    lamp.shadow.bias = -0.0005;
    lamp.shadow.normalBias = 0.006;
    lamp.shadow.radius = 4;
    this.scene.add(lamp, lamp.target);
    return lamp;
  }

  /** Shapes of one colour on one body are drawn in one go; the robot's own colour becomes the partner's.
   * @param {KitchenGeom[]} geoms
   * @param {string} look */
  #sorted(geoms, look) {
    /** @type {Map<string, { body: string, colour: string, finish: string, geoms: KitchenGeom[] }>} */
    const parts = new Map();
    for (const geom of geoms) {
      if (geom.type === FLOOR) continue; // `Room` draws the floor
      const lips = geom.body === CUSTOMER && geom.type === "capsule" && geom.size[0] < 0.01;
      const body = lips ? MOUTH : geom.body;
      const colour = geom.colour === ROBOT_COLOURS[DEFAULT_LOOK] ? ROBOT_COLOURS[look] ?? geom.colour : geom.colour;
      const key = [body, colour, geom.finish].join();
      const part = parts.get(key) ?? { body, colour, finish: geom.finish, geoms: [] };
      part.geoms.push(geom);
      parts.set(key, part);
    }
    return parts.values();
  }

  /**
   * @param {{ body: string, colour: string, finish: string }} part
   * @param {Shape} shape
   */
  #add({ body, colour, finish }, shape) {
    const { Mesh, MeshLambertMaterial, MeshStandardMaterial } = this.#three;
    const plain = new MeshLambertMaterial({ color: colour });
    const rich = new MeshStandardMaterial({ color: colour, roughness: ROUGHNESS[finish] ?? 0.6, metalness: 0 });
    const mesh = new Mesh(shape, plain);
    this.#parts.push({ mesh, rich, plain });
    if (body === CUSTOMER) this.customer.wear(colour, [rich, plain]);
    this.#body(body).add(mesh);
  }

  /** @param {KitchenScene} description */
  #meshes({ meshes }) {
    const { BufferAttribute, BufferGeometry } = this.#three;
    return new Map(Object.entries(meshes).map(([name, { vertices, faces }]) => {
      const shape = new BufferGeometry();
      shape.setAttribute("position", new BufferAttribute(new Float32Array(vertices), 3));
      shape.setIndex(faces);
      shape.computeVertexNormals();
      return [name, shape];
    }));
  }

  /**
   * @param {KitchenGeom} geom
   * @param {Map<string, Shape>} meshes
   */
  #shape({ type, size, mesh, pos, quat }, meshes) {
    const three = this.#three;
    const [a, b, c] = size;
    const corners = a > SMALL ? CORNERS.large : CORNERS.small;
    /** @type {Record<string, () => Shape | undefined>} */
    const makers = {
      box: () => new three.BoxGeometry(2 * a, 2 * b, 2 * c),
      cylinder: () => new three.CylinderGeometry(a, a, 2 * b, corners).rotateX(Math.PI / 2),
      capsule: () => new three.CapsuleGeometry(a, 2 * b, corners / 4, corners).rotateX(Math.PI / 2),
      sphere: () => new three.SphereGeometry(a, corners, corners / 2),
      ellipsoid: () => new three.SphereGeometry(1, corners, corners / 2).scale(a, b, c),
      mesh: () => meshes.get(mesh ?? "")?.clone(),
    };
    const placed = set(new three.Object3D(), pos, quat);
    placed.updateMatrix();
    return makers[type]?.()?.applyMatrix4(placed.matrix);
  }

  /** Colours for a light or a dark page.
   * @param {"light" | "dark"} theme */
  paint(theme) {
    const { wall, sky, ground, lamps } = AIR[theme];
    this.#room.paint(theme);
    this.scene.background = new this.#three.Color(wall);
    this.scene.fog = new this.#three.Fog(wall, 2.8, 7.5);
    this.#sky.intensity = sky;
    this.#sky.groundColor.set(ground);
    for (const lamp of this.#lamps) lamp.intensity = lamps * lamp.userData.intensity;
  }

  /** Shadows and shine cost time.
   * @param {{ shadows: boolean, rich: boolean }} quality */
  dress({ shadows, rich }) {
    for (const lamp of this.#lamps) lamp.castShadow = shadows && lamp.userData.shadow;
    for (const part of this.#parts) {
      part.mesh.material = rich ? part.rich : part.plain;
      part.mesh.castShadow = shadows;
      part.mesh.receiveShadow = shadows;
    }
  }

  /**
   * Everything where it was at a frame.
   * @param {import("./recording.js").Recording} recording
   * @param {number} frame
   */
  pose(recording, frame) {
    recording.bodies.forEach((name, i) => {
      const body = this.#bodies.get(name);
      if (!body) return;
      recording.pose(i, frame, (x, y, z, qx, qy, qz, qw) => {
        body.position.set(x, y, z);
        body.quaternion.set(qx, qy, qz, qw);
      });
    });
  }
}

/**
 * @template {import("three").Object3D} T
 * @param {T} object
 * @param {[number, number, number]} pos
 * @param {[number, number, number, number]} quat w first
 */
function set(object, pos, quat) {
  object.position.set(...pos);
  object.quaternion.set(quat[1], quat[2], quat[3], quat[0]);
  return object;
}
