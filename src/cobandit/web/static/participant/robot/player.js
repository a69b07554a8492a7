// Playing a recorded burger: camera, clock, and as much beauty as the machine has time for.

import { passing } from "../store.js";
import { Kitchen } from "./kitchen.js";
import { Orbit } from "./orbit.js";

/** @typedef {import("./recording.js").Recording} Recording */

/** How long one burger takes on the page, in milliseconds. */
export const DURATION = 3200;

/** From the most beautiful down; `width` limits the picture's own pixels. */
const LADDER = [
  { shadows: true, rich: true, ratio: 2, width: 1800 },
  { shadows: true, rich: false, ratio: 1, width: 960 },
  { shadows: false, rich: false, ratio: 1, width: 720 },
  { shadows: false, rich: false, ratio: 1, width: 480 },
  { shadows: false, rich: false, ratio: 1, width: 320 },
];
/** A still picture may take longer to draw: it has at least this width on every level, once nothing has moved for some
 * milliseconds. Right after a choice there is none, because the participant waits for the arm. */
const [RESTING, SETTLED] = [900, 700];
const SLOW = 48; // milliseconds per frame on average: below some 20 pictures a second something must go
const LONGEST = 250; // a machine that stands still for a while skips no layer
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
const ASPECT = 1.6;
const QUALITY = "cobandit:robot:quality";

/** Where the camera goes: from the whole kitchen to the table while the burger grows, and at the end low over the table, with
 * the burger in front and the customer's face behind it. The shots are as close as they can be with the whole arm in the
 * picture wherever it moves, in a picture that is at least half as wide again as it is high.
 * @typedef {{ position: number[], target: number[], fov: number }} Shot */
const AIM = [0, 0.02, 0.05]; // the picture is wider than high, and the customer's head belongs into it
/** @type {Shot} */
export const CLOSE = { position: [1.8, -0.64, 1.16], target: [0.68, -0.09, 1.01], fov: 28.5 };
/** @type {Shot} */
export const ENDED = { position: [0.96, -0.45, 0.86], target: [0.52, 0.04, 0.94], fov: 54 };
const [COMING, GOING] = [0.2, 0.86]; // the parts of the time when it is close, and when it leaves
const DRIFT = 0.05; // radians that it wanders about the table meanwhile
const REACTION = 900; // milliseconds for which a customer hops or shakes their head

export class Player {
  #three;
  #kitchen;
  #camera;
  #renderer;
  #orbit;
  #level;
  /** @type {Recording} */
  #recording;
  #frame = 0;
  #close = 0; // 0: the whole kitchen, 1: the plate
  #ended = 0; // 1: the burger and the customer
  #drift = 0;
  /** @type {{ mood: "good" | "bad", at: number, last: number | null } | null} */
  #reaction = null;
  /** @type {{ at: number, last: number | null, done: () => void, watch: (frame: number) => void } | null} */
  #run = null;
  /** @type {number[]} */
  #times = [];
  #asked = 0;
  #resting = false;
  #settling = 0;
  #settled = false;
  #listening = new AbortController();
  #theme = matchMedia("(prefers-color-scheme: dark)");
  #resized;

  /**
   * Throws where there is no WebGL.
   * @param {import("./kitchen.js").Three} three
   * @param {KitchenScene} description
   * @param {Recording} opening a burger before its first layer
   * @param {string} company whose customers come, and in which part
   * @param {string} look whose colour the robot has
   * @param {() => void} lost the graphics card went away
   */
  constructor(three, description, opening, company, look, lost) {
    this.#recording = opening;
    this.#three = three;
    const canvas = document.createElement("canvas");
    const software = isSoftware();
    this.#renderer = new three.WebGLRenderer({ canvas, antialias: !software, powerPreference: "high-performance" });
    this.#renderer.shadowMap.type = three.PCFShadowMap;
    this.#camera = new three.PerspectiveCamera(description.camera.fov, ASPECT, 0.05, 20);
    this.#camera.up.set(0, 0, 1);
    this.#kitchen = new Kitchen(three, description, company, look);
    this.#level = Math.max(passing.get(QUALITY) ?? 0, software ? 3 : 0);
    this.element = canvas;
    this.#orbit = new Orbit(canvas, () => this.#stir());
    const { signal } = this.#listening;
    canvas.addEventListener("webglcontextlost", lost, { signal });
    this.#theme.addEventListener("change", this.#paint, { signal });
    document.addEventListener("visibilitychange", this.#forgetTime, { signal });
    this.#resized = new ResizeObserver(() => this.#fit());
    this.#resized.observe(canvas);
    this.#kitchen.paint(this.#theme.matches ? "dark" : "light");
    this.#dress();
  }

  #paint = () => {
    this.#kitchen.paint(this.#theme.matches ? "dark" : "light");
    this.#stir();
  };

  /** The time in a hidden tab does not count. */
  #forgetTime = () => {
    if (this.#run) this.#run.last = null;
    this.#times = [];
  };

  #dress() {
    const quality = LADDER[this.#level];
    this.#renderer.shadowMap.enabled = quality.shadows;
    this.#kitchen.dress(quality);
    this.#fit();
  }

  #fit() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width || !height) return;
    const { ratio, width: most } = LADDER[this.#level];
    const pixels = this.#resting ? Math.max(most, RESTING) : most;
    this.#renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, ratio, pixels / width));
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
    this.#ask();
  }

  /** @param {boolean} resting */
  #rest(resting) {
    if (resting === this.#resting) return;
    this.#resting = resting;
    if (LADDER[this.#level].width < RESTING) this.#fit();
  }

  /** Draw after a change: a quick picture now, and a fine one when no further change follows. */
  #stir() {
    clearTimeout(this.#settling);
    this.#settled = false;
    this.#settling = setTimeout(() => {
      this.#settled = true;
      this.#ask();
    }, SETTLED);
    this.#ask();
  }

  /** Draw at the next opportunity, once. */
  #ask() {
    this.#asked ||= requestAnimationFrame((now) => {
      this.#asked = 0;
      this.#tick(now);
    });
  }

  /** @param {number} now */
  #tick(now) {
    const run = this.#run;
    this.#rest(!run && this.#settled);
    if (run) {
      const step = run.last === null ? 0 : Math.min(now - run.last, LONGEST);
      run.last = now;
      run.at = Math.min(1, run.at + step / DURATION);
      this.#frame = this.#recording.frameAt(run.at);
      this.#close = smooth(run.at / COMING);
      this.#ended = smooth((run.at - GOING) / (1 - GOING));
      this.#drift = DRIFT * Math.sin(Math.PI * run.at) * (run.at - 0.5);
      run.watch(this.#frame);
      if (step) this.#judge(step);
    }
    this.#react(now);
    this.#draw();
    if (run && run.at >= 1) {
      this.#run = null;
      run.done();
      this.#stir();
    } else if (this.#reaction || (run && this.#run === run)) this.#ask();
  }

  /** The customer's hop, or the head that is shaken.
   * @param {number} now */
  #react(now) {
    const reaction = this.#reaction;
    if (!reaction) return;
    reaction.at = Math.min(1, reaction.at + (reaction.last === null ? 0 : now - reaction.last) / REACTION);
    reaction.last = now;
    this.#kitchen.customer.move(reaction.mood, reaction.at);
    if (reaction.at >= 1) this.#reaction = null;
  }

  #draw() {
    this.#kitchen.pose(this.#recording, this.#frame);
    const { position, target, fov } = this.#shot();
    const [dx, dy, dz] = position.map((value, i) => value - target[i]);
    const away = new this.#three.Spherical().setFromVector3(new this.#three.Vector3(dy, dz, dx));
    away.theta += this.#orbit.turn + this.#drift;
    away.phi = Math.min(1.5, Math.max(0.15, away.phi - this.#orbit.tilt));
    const { x, y, z } = new this.#three.Vector3().setFromSpherical(away);
    this.#camera.position.set(target[0] + z, target[1] + x, target[2] + y);
    this.#camera.lookAt(target[0], target[1], target[2]);
    this.#camera.fov = fov;
    this.#camera.updateProjectionMatrix();
    this.#renderer.render(this.#kitchen.scene, this.#camera);
  }

  /** Where the camera is now.
   * @returns {Shot} */
  #shot() {
    const { position, target, fov } = this.#kitchen.camera;
    const aimed = target.map((value, i) => value + AIM[i]);
    /** @type {Shot} */
    const wide = { position: position.map((value, i) => value + AIM[i]), target: aimed, fov };
    return between(between(wide, CLOSE, this.#close), ENDED, this.#ended);
  }

  /** Something has to go when pictures come too slowly.
   * @param {number} step */
  #judge(step) {
    this.#times.push(step);
    if (this.#times.length < 8) return;
    const mean = this.#times.slice(1).reduce((sum, time) => sum + time, 0) / (this.#times.length - 1);
    this.#times = [];
    if (mean > SLOW && this.#level < LADDER.length - 1) {
      this.#level += 1;
      passing.set(QUALITY, this.#level);
      this.#dress();
    }
  }

  /** How beautiful it is: 0 is the best. */
  get level() {
    return this.#level;
  }

  /** Which customer it is, and what they make of the burger; `lively`, if they have just seen it. Gives who it is.
   * @param {number} t
   * @param {"wait" | "good" | "bad"} mood */
  feel(t, mood, lively = false) {
    const person = this.#kitchen.customer.welcome(t);
    this.#kitchen.customer.feel(mood);
    this.#reaction = lively && mood !== "wait" ? { mood, at: 0, last: null } : null;
    this.#stir();
    return person;
  }

  /** Show a finished burger, or, for null, the kitchen before the first layer, without animation.
   * @param {Recording | null} recording */
  show(recording) {
    this.stop();
    this.#recording = recording ?? this.#recording;
    this.#frame = recording ? recording.last : 0;
    this.#close = this.#ended = recording ? 1 : 0;
    this.#drift = 0;
    this.#stir();
  }

  /**
   * Play a burger from its start; call `watch(frame)` for every picture. End when the burger is finished or at `stop`.
   * @param {Recording} recording
   * @param {(frame: number) => void} watch
   * @returns {Promise<void>}
   */
  play(recording, watch) {
    this.stop();
    this.#recording = recording;
    return new Promise((resolve) => {
      this.#run = { at: 0, last: null, done: resolve, watch };
      this.#times = [];
      this.#ask();
    });
  }

  stop() {
    const run = this.#run;
    this.#run = null;
    run?.done();
  }

  close() {
    this.stop();
    clearTimeout(this.#settling);
    cancelAnimationFrame(this.#asked);
    this.#listening.abort();
    this.#resized.disconnect();
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }
}

/**
 * On the way from one shot to another.
 * @param {Shot} from
 * @param {Shot} to
 * @param {number} part
 * @returns {Shot}
 */
function between(from, to, part) {
  /** @type {(a: number, b: number) => number} */
  const mixed = (a, b) => a + (b - a) * part;
  return {
    position: from.position.map((value, i) => mixed(value, to.position[i])),
    target: from.target.map((value, i) => mixed(value, to.target[i])),
    fov: mixed(from.fov, to.fov),
  };
}

/** Whether pictures are made by the processor alone. */
function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error("There is no WebGL.");
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}

/** @param {number} part */
const smooth = (part) => {
  const u = Math.min(1, Math.max(0, part));
  return u * u * (3 - 2 * u);
};
