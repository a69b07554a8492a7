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
/** A picture that stays may take its time: this wide at least, whatever the level, once nothing has moved for a while
 * (milliseconds). Whoever has just chosen waits for the arm, and for no fine picture of an empty plate. */
const [RESTING, SETTLED] = [900, 700];
const SLOW = 48; // milliseconds per frame on average: below some 20 pictures a second something must go
const LONGEST = 250; // a machine that stands still for a while skips no layer
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
const ASPECT = 1.6;
const QUALITY = "cobandit:robot:quality";

/** The picture is wider than high, and the customer's head belongs into it. */
const AIM = [0, 0.02, 0.05];
/** While the burger grows the camera comes close: what it looks at then, and which part of the way is left. */
const CLOSE = { target: [0.62, 0.02, 0.84], part: 0.58 };
/** How close it is when the burger stands, and the customer's face is to be seen as well. */
const ENDED = 0.36;

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
  #close = 0; // 0: wide, 1: close
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
   * @param {() => void} lost the graphics card went away
   */
  constructor(three, description, opening, lost) {
    this.#recording = opening;
    this.#three = three;
    const canvas = document.createElement("canvas");
    const software = isSoftware();
    this.#renderer = new three.WebGLRenderer({ canvas, antialias: !software, powerPreference: "high-performance" });
    this.#renderer.shadowMap.type = three.PCFShadowMap;
    this.#camera = new three.PerspectiveCamera(description.camera.fov, ASPECT, 0.05, 20);
    this.#camera.up.set(0, 0, 1);
    this.#kitchen = new Kitchen(three, description);
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

  /** Something has changed: a picture at once, and a fine one when nothing follows. */
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
      this.#close = smooth(run.at / 0.3) - (1 - ENDED) * smooth((run.at - 0.86) / 0.14);
      run.watch(this.#frame);
      if (step) this.#judge(step);
    }
    this.#draw();
    if (run && run.at >= 1) {
      this.#run = null;
      run.done();
      this.#stir();
    } else if (run && this.#run === run) this.#ask();
  }

  #draw() {
    this.#kitchen.pose(this.#recording, this.#frame);
    const { position, target: looked } = this.#kitchen.camera;
    const wide = looked.map((value, i) => value + AIM[i]);
    const target = wide.map((value, i) => value + (CLOSE.target[i] - value) * this.#close);
    const part = 1 - (1 - CLOSE.part) * this.#close;
    const [dx, dy, dz] = position.map((value, i) => (value - looked[i]) * part);
    const away = new this.#three.Spherical().setFromVector3(new this.#three.Vector3(dy, dz, dx));
    away.theta += this.#orbit.turn;
    away.phi = Math.min(1.5, Math.max(0.15, away.phi - this.#orbit.tilt));
    const { x, y, z } = new this.#three.Vector3().setFromSpherical(away);
    this.#camera.position.set(target[0] + z, target[1] + x, target[2] + y);
    this.#camera.lookAt(target[0], target[1], target[2]);
    this.#renderer.render(this.#kitchen.scene, this.#camera);
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

  /** Which customer it is, and what they make of the burger.
   * @param {number} t
   * @param {"wait" | "good" | "bad"} mood */
  feel(t, mood) {
    this.#kitchen.welcome(t);
    this.#kitchen.feel(mood);
    this.#stir();
  }

  /** A burger as it ended, or, for null, the kitchen before the first layer; at once.
   * @param {Recording | null} recording */
  show(recording) {
    this.stop();
    this.#recording = recording ?? this.#recording;
    this.#frame = recording ? recording.last : 0;
    this.#close = recording ? ENDED : 0;
    this.#stir();
  }

  /**
   * Play a burger from its start; `watch(frame)` is told of every picture. Ends when the burger stands or `stop` comes.
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
