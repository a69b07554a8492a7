// The kitchen in three dimensions: what the server describes, put together from shapes and meshes, and lit.

/** @typedef {typeof import("three")} Three */
/** @typedef {import("three").BufferGeometry} Shape */

/** The room on a light and on a dark page: its walls, and how bright sky and lamps are.
 * @type {Record<"light" | "dark", { wall: string, sky: number, ground: string, lamps: number }>} */
const ROOM = {
  light: { wall: "#e3eef2", sky: 1.75, ground: "#d8cfc4", lamps: 3.0 },
  dark: { wall: "#1d2a31", sky: 1.0, ground: "#3a3029", lamps: 2.4 },
};
/** How much a surface shines.
 * @type {Record<string, number>} */
const ROUGHNESS = { matt: 0.95, satin: 0.6, gloss: 0.25 };
const CORNERS = { large: 32, small: 12 };
const SMALL = 0.02;
const FLOOR = "plane";
const CUSTOMER = "customer";
/** The customer's mouth is made of capsules and of nothing else; it is turned over for a bad burger. */
const MOUTH = "mouth";
const LIPS = 1.289; // their height when the mouth is turned
/** Nobody in particular, but somebody else each time: the colours of the described figure, and those of the others. */
const [SKIN, SHIRT] = ["#b8a6d9", "#7d6bb3"];
const PEOPLE = [[SKIN, SHIRT], ["#e8c29b", "#3f8f79"], ["#9fc5e8", "#c8523f"], ["#b07b52", "#4a7fb5"], ["#f0b7b0", "#8a5a9c"], ["#a8d5a2", "#d08b2c"], ["#8a5f45", "#c25b7a"]];

export class Kitchen {
  #three;
  /** @type {Map<string, import("three").Group>} */
  #bodies = new Map();
  /** @type {{ mesh: import("three").Mesh, rich: import("three").Material, plain: import("three").Material }[]} */
  #parts = [];
  /** What is painted anew for every customer.
   * @type {{ colour: string, rich: import("three").MeshStandardMaterial, plain: import("three").MeshLambertMaterial }[]} */
  #looks = [];
  #sky;
  /** @type {import("three").DirectionalLight[]} */
  #lamps;

  /**
   * @param {Three} three
   * @param {KitchenScene} description
   */
  constructor(three, description) {
    this.#three = three;
    this.scene = new three.Scene();
    this.camera = description.camera;
    this.#sky = new three.HemisphereLight("#ffffff", "#d8cfc4", 1);
    this.#lamps = description.lights.map((light) => this.#lamp(light));
    this.scene.add(this.#sky);
    for (const [name, { pos, quat }] of Object.entries(description.bodies)) set(this.#body(name), pos, quat);
    const meshes = this.#meshes(description);
    for (const part of this.#sorted(description.geoms)) {
      const shapes = part.geoms.flatMap((geom) => this.#shape(geom, meshes) ?? []);
      this.#add(part, merged(three, shapes));
    }
    const mouth = this.#bodies.get(MOUTH);
    if (mouth) this.#body(CUSTOMER).add(mouth);
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

  /** Shapes of one colour on one body are drawn in one go.
   * @param {KitchenGeom[]} geoms */
  #sorted(geoms) {
    /** @type {Map<string, { body: string, colour: string, finish: string, geoms: KitchenGeom[] }>} */
    const parts = new Map();
    for (const geom of geoms) {
      if (geom.type === FLOOR) continue; // the floor has the colour of the walls, so that it has no end
      const lips = geom.body === CUSTOMER && geom.type === "capsule" && geom.size[0] < 0.01;
      const body = lips ? MOUTH : geom.body;
      const key = [body, geom.colour, geom.finish].join();
      const part = parts.get(key) ?? { body, colour: geom.colour, finish: geom.finish, geoms: [] };
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
    if (body === CUSTOMER && (colour === SKIN || colour === SHIRT)) this.#looks.push({ colour, rich, plain });
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
    const { wall, sky, ground, lamps } = ROOM[theme];
    this.scene.background = new this.#three.Color(wall);
    this.scene.fog = new this.#three.Fog(wall, 2.6, 5.2);
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

  /** Another customer comes to the counter.
   * @param {number} t */
  welcome(t) {
    const [skin, shirt] = PEOPLE[t % PEOPLE.length];
    for (const { colour, rich, plain } of this.#looks) {
      for (const material of [rich, plain]) material.color.set(colour === SKIN ? skin : shirt);
    }
  }

  /** What the customer makes of it.
   * @param {"wait" | "good" | "bad"} mood */
  feel(mood) {
    const mouth = this.#bodies.get(MOUTH);
    if (!mouth) return;
    const scale = { wait: 0.25, good: 1.25, bad: -1 }[mood];
    mouth.scale.z = scale;
    mouth.position.z = LIPS * (1 - scale);
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

/**
 * Several shapes as one; corners that triangles share stay shared.
 * @param {Three} three
 * @param {Shape[]} shapes
 */
function merged({ BufferAttribute, BufferGeometry }, shapes) {
  const starts = [0];
  for (const shape of shapes) starts.push(starts[starts.length - 1] + shape.getAttribute("position").count);
  const all = starts[shapes.length];
  const whole = new BufferGeometry();
  for (const name of /** @type {const} */ (["position", "normal"])) {
    const numbers = new Float32Array(3 * all);
    shapes.forEach((shape, i) => numbers.set(shape.getAttribute(name).array, 3 * starts[i]));
    whole.setAttribute(name, new BufferAttribute(numbers, 3));
  }
  const corners = new Uint32Array(shapes.reduce((sum, shape) => sum + (shape.index ?? shape.getAttribute("position")).count, 0));
  let at = 0;
  shapes.forEach(({ index }, i) => {
    const count = index ? index.count : starts[i + 1] - starts[i];
    for (let k = 0; k < count; k += 1) corners[at + k] = starts[i] + (index ? index.array[k] : k);
    at += count;
  });
  whole.setIndex(new BufferAttribute(corners, 1));
  return whole;
}
