// Events of the other members of a team: sealed rounds, who has left, and that all have arrived. The server sends them
// as a stream; without a stream, the page asks every second.

import { Call } from "./lobby.js";

const POLL = 1000;
const HURRY = 20; // seconds before the end of the time for a move

export class TeamNews {
  #lent;
  #team;
  /** @type {EventSource | null} */
  #events;
  #timer;
  #call = new Call();
  #until = 0;

  /**
   * `sealed(reply)` takes new rounds, `step()` reads the state again, `tell(lines)` shows what there is to say.
   * @param {{ texts: Texts, team: Team, wanted: () => boolean, tell: (lines: string[]) => void,
   *   stream: () => EventSource | null, ask: () => Promise<RoundsReply>, sealed: (reply: RoundsReply) => void,
   *   moved: () => boolean, step: () => void }} lent
   */
  constructor(lent) {
    this.#lent = lent;
    this.#team = lent.team;
    this.#deadline(lent.team);
    this.#events = lent.stream();
    this.#events?.addEventListener("sealed", (event) => this.#take(JSON.parse(event.data)));
    this.#events?.addEventListener("team", (event) => this.#take({ team: JSON.parse(event.data) }));
    this.#events?.addEventListener("step", () => lent.wanted() && this.#step());
    this.#timer = setInterval(() => this.#tick(), POLL);
    this.#tell();
  }

  close() {
    clearInterval(this.#timer);
    this.#events?.close();
    this.#call.stop();
  }

  /** @param {Partial<RoundsReply>} news */
  #take(news) {
    if (!this.#lent.wanted()) return;
    const meeting = this.#team.meeting;
    if (news.team) {
      this.#team = news.team;
      this.#deadline(news.team);
    }
    if (meeting && !this.#team.meeting) {
      this.#call.start(this.#lent.texts.say("lobby.found"));
      this.#lent.step();
      return;
    }
    if (news.rounds?.length) this.#lent.sealed(/** @type {RoundsReply} */ (news));
    this.#tell();
  }

  #step() {
    this.close();
    // The last round is still being shown: the page's own button leads on.
    if (this.#team.meeting || this.#team.seats.some((seat) => seat.you && seat.left)) this.#lent.step();
    else this.#last();
  }

  async #last() {
    try {
      const reply = await this.#lent.ask();
      if (!this.#lent.wanted()) return;
      if (reply.rounds.length) this.#lent.sealed(reply);
      if (!reply.finished || reply.team?.seats.some((seat) => seat.you && seat.left)) this.#lent.step();
    } catch {
      if (this.#lent.wanted()) this.#lent.step();
    }
  }

  async #tick() {
    if (!this.#lent.wanted()) {
      this.close();
      return;
    }
    this.#tell();
    if (this.#events && this.#events.readyState === EventSource.OPEN) return;
    try {
      this.#take(await this.#lent.ask());
    } catch { /* asked again in a second */ }
  }

  /** @param {Team} team */
  #deadline(team) {
    this.#until = team.seconds_left === null ? 0 : performance.now() + 1000 * team.seconds_left;
  }

  #tell() {
    const { texts, tell, moved } = this.#lent;
    const { meeting, notice } = this.#team;
    const lines = [];
    if (meeting) lines.push(texts.say("team.meeting.text", { n: meeting.here, needed: meeting.needed }));
    if (notice) lines.push(notice);
    if (moved()) lines.push(texts.say("team.waiting"));
    else if (this.#until) {
      const left = Math.max(0, Math.round((this.#until - performance.now()) / 1000));
      if (left <= HURRY) {
        lines.push(texts.say("team.hurry", { n: left }));
        this.#call.start(texts.say("lobby.call"));
      }
    }
    tell(lines);
  }
}
