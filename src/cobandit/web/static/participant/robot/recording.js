// A recorded burger: from the server's bytes to the pose of every body at any moment. The format is described in
// `cobandit/robot/recording.py`.

const MAGIC = 0x52524243; // "CBRR"
const CHANNELS = 7;
const METRE = 1e-4;

/** How long each action takes on the page for its frames: setting down is what one wants to see, going home is not.
 * @type {Record<string, number>} */
const TEMPO = { pick: 0.9, place: 1.25, person: 1.15, home: 0.4, retry: 0.9, end: 0.6 };

export class Recording {
  #poses;
  /** The frame at which each action begins, and the share of the whole time that is then over.
   * @type {{ frame: number, at: number }[]} */
  #beats = [];

  /** @param {ArrayBuffer} bytes */
  constructor(bytes) {
    const view = new DataView(bytes);
    if (view.byteLength < 12 || view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== 1) {
      throw new Error("This is no recording of a burger that the page can read.");
    }
    const length = view.getUint32(8, true);
    /** @type {RecordingHeader} */
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 12, length)));
    const { frames, bodies } = header;
    const steps = new Int16Array(bytes, 12 + length);
    const channels = bodies.length * CHANNELS;
    if (!(frames > 1) || steps.length !== channels * frames) throw new Error("The recording is cut short.");
    this.header = header;
    this.bodies = bodies;
    this.last = frames - 1;
    this.#poses = whole(steps, channels, frames);
    this.#setTempo();
  }

  #setTempo() {
    const { events } = this.header;
    const parts = events.map(({ frame, action }, i) => {
      const next = events[i + 1]?.frame ?? this.last;
      return { frame, share: Math.max(0, next - frame) * (TEMPO[action] ?? 1) };
    });
    if (!parts.length || parts[0].frame > 0) parts.unshift({ frame: 0, share: parts[0]?.frame ?? this.last });
    const all = parts.reduce((sum, { share }) => sum + share, 0) || 1;
    let at = 0;
    for (const { frame, share } of parts) {
      this.#beats.push({ frame, at });
      at += share / all;
    }
    this.#beats.push({ frame: this.last, at: 1 });
  }

  /** The frame to show when a share of the whole time (0 to 1) is over; between frames, too.
   * @param {number} part */
  frameAt(part) {
    const next = this.#beats.findIndex(({ at }) => at >= part);
    if (next <= 0) return next === 0 ? this.#beats[0].frame : this.last;
    const [from, to] = [this.#beats[next - 1], this.#beats[next]];
    return from.frame + (to.frame - from.frame) * ((part - from.at) / (to.at - from.at || 1));
  }

  /** What is being done at a frame; null before the first action.
   * @param {number} frame */
  eventAt(frame) {
    return this.header.events.filter((event) => event.frame <= frame + 1e-9).at(-1) ?? null;
  }

  /**
   * The pose of a body, blended between two frames: `put(x, y, z, qx, qy, qz, qw)`.
   * @param {number} body
   * @param {number} frame
   * @param {(x: number, y: number, z: number, qx: number, qy: number, qz: number, qw: number) => void} put
   */
  pose(body, frame, put) {
    const before = Math.min(this.last, Math.max(0, Math.floor(frame)));
    const after = Math.min(this.last, before + 1);
    const part = Math.min(1, Math.max(0, frame - before));
    const p = (before * this.bodies.length + body) * CHANNELS;
    const q = (after * this.bodies.length + body) * CHANNELS;
    const poses = this.#poses;
    /** @param {number} k */
    const mixed = (k) => poses[p + k] + (poses[q + k] - poses[p + k]) * part;
    const [w, x, y, z] = [mixed(3), mixed(4), mixed(5), mixed(6)];
    const size = Math.hypot(w, x, y, z) || 1;
    put(mixed(0) * METRE, mixed(1) * METRE, mixed(2) * METRE, x / size, y / size, z / size, w / size);
  }
}

/**
 * Channel by channel as differences, to frame by frame as they are.
 * @param {Int16Array} steps
 * @param {number} channels
 * @param {number} frames
 */
function whole(steps, channels, frames) {
  const poses = new Int16Array(steps.length);
  for (let channel = 0; channel < channels; channel += 1) {
    let value = 0;
    for (let frame = 0; frame < frames; frame += 1) {
      value += steps[channel * frames + frame];
      poses[frame * channels + channel] = value; // wraps around, as it was written
    }
  }
  return poses;
}
