// What the server sends, and what the parts of a page hand to each other.

type Child = Node | string | number | boolean | null | undefined | readonly Child[];
type Attributes = Record<string, any>;
type Values = Record<string, unknown>;

// The participant's pages

type Frame = import("../../src/cobandit/web/static/participant/frame.js").Frame;
type Texts = import("../../src/cobandit/web/static/participant/text.js").Texts;
type Words = (language: string) => Promise<Texts>;
/** The language that was chosen, or that the page came in; with an argument, the choice is kept. */
type Language = (chosen?: string) => string;
type Keys = (event: KeyboardEvent) => void;

/** A text, or an element of a text in Markdown. */
type Marked = string | { tag: string; of: Marked[]; href?: string; start?: number; src?: string; alt?: string };

/** A text of the design; with its tree, where it is in Markdown. */
interface Written {
  text: string;
  marked?: Marked[];
}

interface Round {
  t: number;
  /** Null: hidden. */
  arms: (number | null)[];
  good: boolean | null;
  /** What was seen, where rewards are scores. */
  score?: number | null;
  /** Where feedback is delayed: the rounds that are known after this one. */
  known?: Round[];
  /** Where the recording of the arm is; null: it is there as a film only. */
  recording?: string | null;
}

/** A round in which no choice is hidden: only the grid hides any. */
interface OpenRound extends Round {
  arms: number[];
}

interface Count {
  arms: (number | null)[];
  good: number;
  bad: number;
  /** The sum of the scores that were seen, where rewards are scores; `good` is then their number. */
  score?: number;
}

/** How scores are shown. */
interface Score {
  decimals: number;
}

interface Episode {
  index: number;
  practice: boolean;
  set: number;
  sets: number;
  episode: number;
  episodes: number;
  rounds: number;
  played: number;
  finished: boolean;
  good: number;
  bad: number;
  score?: number;
  counts: Count[];
  /** The latest round whose outcome is known; with `delay`, that is so many rounds ago. */
  latest: Round | null;
  delay?: number;
  /** Whether the choices of others are never shown. */
  hidden?: boolean;
  /** In a task with layers: the burger that the latest round belongs to, and all burgers with the arms of all layers. */
  plate?: number[][];
  burgers?: Count[];
}

interface Layer {
  item: string;
  by: "participant" | "partner" | "shop";
  name: string | null;
}

/** A configuration of the burger shop, its layers from below. */
interface Burger {
  arms: number[];
  layers: Layer[];
}

interface Question {
  id: string;
  text: string;
  answer: string;
  choices: string[];
  required: boolean;
  low: number;
  high: number;
}

/** Under which condition an item appears: the answer to an earlier item. */
interface ShowIf {
  item: string;
  any?: number[];
  at_least?: number;
  at_most?: number;
}

/** An item of a questionnaire; which parts are there depends on its kind. */
interface Item {
  id: string;
  kind: string;
  text: string;
  required: boolean;
  show_if?: ShowIf;
  scale?: string;
  points?: number;
  low?: string;
  high?: string;
  rows?: { id: string; text: string }[];
  choices?: string[];
  lowest?: number;
  highest?: number;
  decimals?: number;
  longest?: number;
}

interface Questionnaire {
  id: string;
  title: string;
  intro: string;
  set: number | null;
  sets: number;
  items: Item[];
}

interface Partner {
  name: string;
  look: string;
  /** Of each AI, where there are several. */
  names: string[];
}

/** What the server tells of a participant; which parts are there depends on the step. */
interface State {
  kind: string;
  title: string;
  language: string;
  languages: string[];
  texts: Record<string, string>;
  step: { id: string; kind: StepKind | "episode" };
  progress: { done: number; total: number };
  limits: { warn_seconds: number; idle_seconds: number };
  task: { kind: string; arms: number[]; seat: number; people?: number; burgers?: Burger[]; /** Of each seat's arms. */ icons?: string[][]; score?: Score; hidden?: boolean; /** How many rounds make one outcome. */ layers?: number };
  consent: Written & { version: string };
  demographics: Question[];
  instructions: string[];
  marked?: Marked[][];
  quiz: { instructions: string[]; marked?: Marked[][]; questions: Question[] };
  rest: { practice: boolean; done: number; of: number; set: number; sets: number; good: number; rounds: number; score?: number };
  survey: { items: { id: string; text: string; apart?: boolean }[]; points: number; low: string; high: string; set: number; sets: number };
  questionnaire: Questionnaire;
  page: Written & { title: string };
  thanks: { code: string | null; return_url: string | null; ending?: string; pay?: string; data?: string; debriefing?: Written };
  /** What happens to the data of somebody who withdraws: delete, anonymise. */
  withdrawal: string;
  episode: Episode;
  /** The pseudonym of the participant. */
  participant: string;
  /** Who is met in this part, where the design says so. */
  partner?: Partner;
  /** How many parts there are, at a step where somebody is met. */
  sets?: number;
  /** Good outcomes of each finished episode that counts, where there are several in a part. */
  results?: number[];
  robot?: SimulatedRobot | LabRobot;
  lobby?: Lobby | null;
  team?: Team;
  messages?: Note[];
}

/** A message of the researcher. */
interface Note {
  key: string;
  text: string;
}

/** The wait for a team. */
interface Lobby {
  waiting: number;
  needed: number;
  joined: boolean;
  waited_seconds: number;
  limit_seconds: number;
  /** What happens at the limit: "ai" continues with an AI, "dismiss" ends the study with a code. */
  when_short: string;
  check_in: { seconds_left: number } | null;
  expired: boolean;
}

interface LobbyReply {
  lobby: Lobby | null;
  state: State | null;
}

/** The team as one member may see it: made of sealed rounds, and of the own move alone. */
interface Team {
  seat: number;
  seats: { seat: number; player: string; you: boolean; left: boolean }[];
  meeting: { here: number; needed: number; seconds_left: number | null } | null;
  moved: boolean;
  seconds_left: number | null;
  notice: string | null;
}

/** Recorded burgers: where it is told what the kitchen is made of, and a recording that begins with it. */
interface SimulatedRobot {
  kind: "simulated";
  scene: string | null;
  opening: string | null;
  /** Where three.js is; null: it is not installed, and the arm is shown as a film. */
  three: string | null;
}

/** An arm in a lab, and what this person waits for. */
interface LabRobot {
  kind: "lab";
  wait: "busy" | "stacking" | "stopped" | null;
  burger: {
    layers: { item: string; by: string; done: boolean }[];
    place: { number: number; item: string } | null;
  } | null;
}

interface RecordingEvent {
  frame: number;
  action: string;
  item: string;
  by: string;
}

interface RecordingHeader {
  fps: number;
  frames: number;
  bodies: string[];
  events: RecordingEvent[];
}

type Position = [number, number, number];
/** w first. */
type Turn = [number, number, number, number];

interface KitchenGeom {
  body: string;
  type: string;
  size: number[];
  pos: Position;
  quat: Turn;
  colour: string;
  finish: string;
  mesh?: string;
}

/** As `cobandit.robot.scene_description` gives it. */
interface KitchenScene {
  bodies: Record<string, { pos: Position; quat: Turn }>;
  geoms: KitchenGeom[];
  meshes: Record<string, { vertices: number[]; faces: number[] }>;
  camera: { position: Position; target: Position; fov: number };
  lights: { position: Position; target: Position; intensity: number; shadow: boolean }[];
  /** Whose the meshes are, where they are not ours. */
  credit: { name: string; licence: string; source: string } | null;
}

type StepKind = "lobby" | "consent" | "demographics" | "instructions" | "quiz" | "partner" | "rest" | "survey" | "questionnaire" | "page" | "thanks";

/** What a study's open link shows. */
interface StudyInfo {
  title: string;
  open: boolean;
  /** Why nobody new is taken at the moment; the page of this name says so. */
  refused: string | null;
  language: string;
  languages: string[];
  texts: Record<string, string>;
  consent: Written & { version: string };
}

interface Move {
  episode: number;
  t: number;
  arm: number;
  key: string;
  ms: number;
}

interface Batch {
  episode: number;
  moves: Omit<Move, "episode">[];
}

interface RoundsReply {
  episode: number;
  finished: boolean;
  waiting?: boolean;
  team?: Team;
  messages?: Note[];
  played: number;
  rounds: Round[];
}

interface AnswerReply {
  accepted: boolean;
  state: State;
  wrong: string[];
}

type Answers = Record<string, unknown>;

interface Draft {
  read(): Answers;
  keep(answers: Answers): void;
  forget(): void;
}

/** What a step around the task is lent. */
interface Lent {
  state: State;
  texts: Texts;
  answer(answers: Answers): Promise<AnswerReply | null>;
  decline(): void;
  draft: Draft;
  keys(handler: Keys): void;
  again: { href: string; forget(): void } | null;
}

interface Shown {
  heading: string;
  body: Child[];
  layout?: string;
  focus?: boolean;
  /** What stands in the line of the heading. */
  beside?: HTMLElement | null;
}

interface Field {
  id: string;
  node: HTMLElement;
  fail(text: string): void;
  raw(): string | number | number[] | null;
  read(): string | number | number[] | null;
  focus(): void;
  /** Whether the field does not appear, because of the answer to another one. */
  hidden?(): boolean;
}

type ShowWrong = (wrong: Map<string, string>, message: string) => void;

/** What a task is lent. */
interface App {
  state: State;
  texts: Texts;
  opening: string;
  keys(handler: Keys): void;
  speak(text: string): void;
  advance(part: number): void;
  shown(played: number): void;
  unsent(): Move[];
  choose(arm: number, ms: number): boolean;
  next(): void;
  note(kind: string, data: object): void;
  robot(): Promise<SimulatedRobot | LabRobot | null>;
  placed(request: number): Promise<unknown>;
}

interface Task {
  element: HTMLElement;
  answered(reply: RoundsReply): void;
  close(): void;
}

/** Something that takes a while and can be brought to its end; animations are. */
interface Playing {
  finished: Promise<unknown>;
  finish(): void;
}

interface Scene {
  element: Element;
  hold(arm: number, t: number): void;
  /** The round is decided, and will be revealed in a moment. */
  expect?(round: Round): void;
  reveal(round: Round): Playing[];
  show(round: Round): unknown;
  clear(t: number): void;
  question?: string;
  icon?(arm: number): Element;
  picture?(i: number, j: number): Element;
  /** The icon of any seat's arm, for the headings of the table. */
  symbol?(seat: number, arm: number): Element;
  /** The key of what to say while it plays, where both have decided. */
  performing?: string;
  /** Its own table of outcomes. */
  record?: { element: HTMLElement; good: number; bad: number; score: number; add(round: Round): void; mark(arms: (number | null)[] | null): void };
  /** Its own line above the choices while it plays, in place of the question. */
  status?: HTMLElement;
  /** Whether what it plays cannot be skipped. */
  patient?: boolean;
  close?(): void;
}

interface Tab {
  take(): void;
  leave(): void;
  claim(): void;
}

interface Place {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

// The researcher's pages

type Status = "active" | "idle" | "dropped" | "invited" | "finished" | "removed";
type Kind = "real" | "rehearsal" | "demo";
type StatusCounts = Record<Status, number>;

interface Curves {
  rounds: number[];
  pending: number;
  /** Whether conditions are hidden; then there are none here. */
  blind: boolean;
  /** `number` is the place of the algorithm in the palette. */
  conditions: { name: string; number: number; n: number; mean: (number | null)[]; se: (number | null)[] | null }[];
}

interface Whereabouts {
  status: Status;
  step: { id: string; kind: string };
  episode: {
    practice: boolean;
    set: number;
    sets: number;
    place: number;
    of: number;
    /** Null, like the rounds, for blind accounts where the conditions differ in their number of rounds. */
    played: number | null;
    rounds: number | null;
  } | null;
}

interface Listed extends Whereabouts {
  participant: string;
  label: string | null;
  external_id: string | null;
  url: string | null;
  order: string[] | null;
  order_index: number | null;
  progress: { done: number; total: number };
  created_at: number;
  started_at: number | null;
  last_seen: number | null;
}

interface Live {
  unfilled: { parameter: string; value: string; count: number; at: number } | null;
  now: number;
  study: {
    open: boolean; state: string; quota: number | null;
    availability: { code: string; word: string; reason: string | null; taken: number | null };
  };
  blind: boolean;
  counts: Record<Kind, StatusCounts>;
  total: number;
  offset: number;
  cursor: number;
  page: string[];
  participants: Listed[];
  conditions: { name: string; begun: number; finished: number; episodes: number; rounds: number | null }[];
  orders: { order: string[]; counts: StatusCounts }[];
}

/** A seat of a team for a person. */
interface TeamMember {
  seat: number;
  name: string;
  participant: string | null;
  status: Status | null;
  last_seen: number | null;
  step: string | null;
  /** Time and reason are null for blind accounts where they would tell the conditions apart. */
  left: { at: number | null; reason: string | null } | null;
}

interface WatchedTeam {
  team: string;
  formed_at: number;
  status: string;
  members: TeamMember[];
  /** Null, like the set, while the account is blind. */
  condition: string | null;
  set: number | null;
  round: number | null;
  rounds: number | null;
  round_at: number | null;
  waiting: { seats: number[]; for: number[]; since: number; deadline: number | null } | null;
  takeovers: { seat: number; name: string; moves: number; agents: string[] | null; reason: string }[];
}

interface ServiceSums {
  moves: number;
  takeovers: number;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  outcomes: Record<string, number>;
}

/** The lobby and the teams of a study. */
interface TeamsView {
  now: number;
  blind: boolean;
  group: { size: number; lobby_seconds: number; check_in_seconds: number; when_short: string; when_left: string } | null;
  lobby: { participant: string; joined_at: number; seen_at: number; until: number; check_in: string; asked_at: number | null }[];
  teams: WatchedTeam[];
  total: number;
  offset: number;
  counts: { active: number; over: number; takeovers: number | null; left: Record<string, number> } | null;
  services: (ServiceSums & { max_moves: number | null; players: (ServiceSums & { kind: string; player: string })[] | null }) | null;
}

interface PersonalLink {
  participant: string;
  label: string | null;
  status: Status;
  url: string;
}

interface PlayedEpisode {
  number: number;
  practice: boolean;
  set: number;
  place: number;
  of: number;
  condition: string;
  swapped: boolean;
  /** Null, like what is played, for blind accounts where it would tell the condition. */
  rounds: number | null;
  played: number | null;
  good: number | null;
  regret: number | null;
  reaction_ms: number | null;
  opened_at: number | null;
  finished_at: number | null;
  cells: { arms: number[]; mean: number; played: number; good: number }[];
}

interface PlayedRounds {
  played: number | null;
  rounds: {
    t: number;
    arms: (number | null)[];
    reward: number | null;
    seen: (number | null)[];
    predictions: (number | null)[][];
    regret: number | null;
    ms: number | null;
    at: number;
  }[];
}

interface Person extends Whereabouts {
  blind: boolean;
  /** Whether rewards are scores. */
  scored?: boolean;
  /** The labels of the arms by layer, in a task with layers. */
  layers?: string[][][];
  study: { words: { good: string; bad: string; configuration: string; participant: string; partner: string } };
  arms: string[][];
  /** What each seat is called, and which is the participant's. */
  seats: string[];
  seat: number;
  label: string | null;
  recruiter: string | null;
  external_id: string | null;
  order: string[] | null;
  language: string;
  quiz_attempts: number;
  url: string | null;
  started_at: number | null;
  finished_at: number | null;
  last_seen: number | null;
  idle_seconds: number | null;
  kind: Kind;
  rounds: { played: number | null };
  episodes: PlayedEpisode[];
  answers: {
    step: string;
    kind: string;
    at: number;
    ms: number | null;
    items: { text: string; value: unknown; right: boolean | null }[];
  }[];
  events: { at: number; kind: string; data: object }[];
  events_total: number;
}

interface Console {
  arm: string;
  connected: boolean;
  connection: string;
  halted: boolean;
  holder: string | null;
  burger: {
    name: string;
    participant: string;
    episode: number;
    round: number;
    standing: "stacking" | "stopped";
    doing: string;
    message: string;
    layers: { item: string; by: string; done: boolean }[];
  } | null;
  request: { number: number; text: string; by: string } | null;
  notes: { at: number; text: string }[];
}

// Offline reports

interface ReportLine {
  label: string;
  number: number;
  dash: number[];
  factor: number;
}

interface ReportCurve extends ReportLine {
  mean: number[];
  se: number[] | null;
  median: number[];
  q10: number[];
  q90: number[];
}

interface ReportLevel extends ReportLine {
  value: number;
  sloping: boolean;
}

interface ReportPanel {
  name: string;
  horizon: number;
  regret: "team" | "task" | null;
  rounds: number[];
  curves: ReportCurve[];
  levels: ReportLevel[];
  /** Whether the regret axis starts as a logarithmic one; absent: only with bounds. */
  logarithmic?: boolean;
}

/** Centre, low and high of a line. */
type Columns = [number[], number[] | null, number[] | null];

/** A run to watch, as `report/simulation/watch.py` writes it; team actions are numbered in row-major order. */
interface WatchedRun {
  arms: number[];
  ranks: number[];
  cells: number[];
  rewards: (number | null)[];
  seen: (number | null)[][];
  predictions: number[][][];
  regret: (number | null)[];
  means: (number | string | null)[][];
  ratings: (number | string | null)[][][];
  step: number;
  others: { run: number; strip: number[]; best: number; regret: number }[];
}
