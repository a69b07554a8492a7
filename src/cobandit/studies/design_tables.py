"""The tables of a design file: conditions, seats, task, means, survey, consent, questions; each checks itself.

Paper: Experiments; Online Casino Study.
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from cobandit.base.checks import one_of, real, short_repr, whole, with_schema
from cobandit.base.errors import InvalidInput
from cobandit.base.numbers import count
from cobandit.base.records import (
    Record,
    Table,
    entry,
    flag,
    listing,
    optional,
    result_name,
    scalar,
    slug,
    table_of,
    words,
    words_or_empty,
)
from cobandit.base.schema import check_schema
from cobandit.problem import FixedMeans
from cobandit.problem.problem import ACTIONS
from cobandit.studies.agent_tables import MOST_ROUNDS, AgentChoice, SeatAgent
from cobandit.studies.icons import arm_icon
from cobandit.studies.lines import LINE
from cobandit.studies.payment import money
from cobandit.studies.reward_tables import DRIFTS, LARGEST, OBSERVATIONS, RewardRule

TASKS = ("burger", "casino", "grid", LINE)
"""What a page may draw: the layers of a burger, the slot machines, a plain grid with the labels, or a burger that is
stacked layer by layer.
"""

PLAYERS = ("participant", "agent")
"""Who sits in the two seats of a design in its short form: the person who takes part, and the AI of the condition."""

SEAT_PLAYERS = ("participant", "agent", "service")
"""Who may sit in a seat: a person, the AI of the condition, or a service whose moves are recorded."""

WHEN_SHORT = ("ai", "dismiss")
"""The options if no team is found for a participant: AIs fill the free seats, or the study ends early."""

WHEN_LEFT = ("ai", "end")
"""The options when a member leaves for good: an AI takes over the seat, or the others continue with the survey."""

ANSWERS = ("whole", "choice", "text")
MARKS = ("holm", "paper")
"""What asterisks are of: p-values after Holm's correction, or the plain ones, as in the paper's figures."""

LOOKS = ("teal", "amber", "violet", "rose")
"""How a partner may look on the page: a colour, with a face that belongs to it."""

REGRETS = ("task", "team")
"""Which regret is tested: what the task lost, or what the team observed of it (the paper's R(T))."""

LONGEST_DELAY = 100
"""More rounds without an outcome would be no task for a person."""

MOST_ARMS = 9
MOST_SEATS = 6
PRACTICE = "practice"
"""The name of the condition of rounds that do not count."""


def _condition_name(name: str, value: object) -> str:
    if value == PRACTICE:
        raise InvalidInput(f"{name} is {value!r}; practice rounds go by this name, so another one is needed.")
    return slug(name, value)


with_schema(_condition_name, check_schema(slug) | {"not": {"const": PRACTICE}})


def roles_rule(name: str, value: object) -> str | tuple[int, ...]:
    """Return who leads: the rank of each seat, or "drawn" for ranks that are drawn for each episode."""
    if value == "drawn":
        return "drawn"
    if isinstance(value, str):
        why = "agents elect their leader by the arms of an opening that every member has to know, and people do not"
        why = f": {why}" if value == "elected" else ""
        raise InvalidInput(f"{name} must be ranks or 'drawn', got {short_repr(value)}{why}.")
    ranks: tuple[int, ...] = _ranks(name, value)
    return ranks


_ranks = listing(whole(0, MOST_SEATS - 1), 0, MOST_SEATS, unique="=")
with_schema(roles_rule, lambda: check_schema(_ranks) | {"type": ["array", "string"], "pattern": "^drawn$"})


def _matrices(name: str, value: object) -> tuple[FixedMeans, ...]:
    if not isinstance(value, (list, tuple)):
        raise InvalidInput(f"{name} must be a list of matrices, one per episode, got {short_repr(value)}.")
    return tuple(part if isinstance(part, FixedMeans) else FixedMeans.of(part) for part in value)


with_schema(_matrices, {"type": "array", "items": {"type": "array", "items": {"type": ["array", "number"]}}})


@dataclass(frozen=True)
class MeansRule(Record):
    """Where the means mu of an episode come from.

    ``uniform``: each from Unif[low, high], drawn for each participant or once for the whole study; ``fixed``: the
    matrices in ``values``, one for all episodes or one for each. ``drift`` says how they change within an episode:
    ``random-walk`` by a normal ``step`` in every round, between ``low`` and ``high``; ``piecewise`` in the rounds
    ``changes_at``, to means that are drawn like the first ones, or to the matrices in ``phases``.
    """

    draw: str = entry(one_of(("uniform", "fixed"), "way to draw means"), "uniform")
    per: str = entry(one_of(("participant", "study"), "owner of means"), "participant")
    low: float = entry(real(-LARGEST, LARGEST), 0.0)
    high: float = entry(real(-LARGEST, LARGEST), 1.0)
    values: tuple[FixedMeans, ...] = entry(_matrices, ())
    drift: str = entry(one_of(DRIFTS, "drift of means"), "none")
    step: float = entry(real(0.0, LARGEST), 0.02)
    changes_at: tuple[int, ...] = entry(listing(whole(2, MOST_ROUNDS), 0, 100), ())
    phases: tuple[FixedMeans, ...] = entry(_matrices, ())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise InvalidInput(f"means.low is {self.low:g} and means.high is {self.high:g}; low must not be higher.")
        if (self.draw == "fixed") != bool(self.values):
            raise InvalidInput("means.values and means.draw = 'fixed' require each other.")
        if self.step != 0.02 and self.drift != "random-walk":
            raise InvalidInput(f"means.step requires means.drift = 'random-walk', but means.drift is {self.drift!r}.")
        if (self.drift == "piecewise") != bool(self.changes_at):
            raise InvalidInput("means.changes_at and means.drift = 'piecewise' require each other.")
        if any(later <= earlier for earlier, later in pairwise(self.changes_at)):
            raise InvalidInput(f"means.changes_at must be rounds in ascending order, got {list(self.changes_at)}.")
        needed = len(self.changes_at) if self.draw == "fixed" else 0
        if len(self.phases) != needed:
            raise InvalidInput(
                f"means.phases must hold {needed} matrices, got {len(self.phases)}: with means.draw = 'fixed' one for "
                "each round of means.changes_at."
            )
        walk = self.values if self.drift == "random-walk" else ()
        if any(not self.low <= value <= self.high for matrix in walk for value in matrix.values):
            raise InvalidInput(f"means.values must be between means.low, {self.low:g}, and means.high, {self.high:g}.")

    @property
    def drifts(self) -> bool:
        """Whether the means change within an episode."""
        return self.drift != "none"


@dataclass(frozen=True)
class Condition(AgentChoice):
    """One condition of the study: the AI that the participant plays with (Independent Variables).

    In a design for several people, ``alone`` says that each of them plays an episode of their own, with the AI in all
    other seats; otherwise they play together. ``players`` holds a player for every seat and may turn an AI's seat into
    that of a service, or back; ``service`` replaces the seat's own table. ``levels`` names the level of each factor of
    the design. ``observability``, ``means``, ``rewards``, ``observation``, ``noise``, ``roles``, ``rounds``, ``delay``,
    ``actions`` and ``robot`` replace the design's. ``agents`` names AIs of single seats, where not all play the same
    algorithm.
    """

    name: str = entry(_condition_name)
    alone: bool = entry(flag, False)
    players: tuple[str, ...] = entry(listing(one_of(SEAT_PLAYERS, "player of a seat"), 0, MOST_SEATS), ())
    service: Table = entry(table_of(scalar), Table())
    levels: Table = entry(table_of(slug), Table())
    observability: tuple[float, ...] = entry(listing(real(0.0, 1.0), 0, MOST_SEATS), ())
    means: MeansRule | None = entry(optional(MeansRule.read), None)
    noise: tuple[float, ...] = entry(listing(real(0.0, LARGEST), 0, MOST_SEATS), ())
    roles: str | tuple[int, ...] = entry(roles_rule, ())
    rounds: int | None = entry(optional(whole(1, MOST_ROUNDS)), None)
    delay: int | None = entry(optional(whole(0, LONGEST_DELAY)), None)
    actions: str | None = entry(optional(one_of(ACTIONS, "visibility of choices")), None)
    robot: bool = entry(flag, True)
    agents: tuple[SeatAgent, ...] = entry(listing(SeatAgent.read, 0, MOST_SEATS, unique="seat"), ())
    observation: str | None = entry(optional(one_of(OBSERVATIONS, "observation model")), None)
    rewards: RewardRule | None = entry(optional(RewardRule.read), None)

    def agent_of(self, seat: str) -> AgentChoice:
        """Return the AI of the seat with this name: its own, or that of the condition."""
        return next((own for own in self.agents if own.seat == seat), self)

    @property
    def differences(self) -> list[str]:
        """What it has in place of the design's noise, roles, length, delay and robot, for a list in a text."""
        rounds = [f"{own.seat}: {own.agent} {own.settings}".rstrip() for own in self.agents]
        rounds += [] if self.observation is None else [f"observation {self.observation}"]
        rounds += [] if self.rewards is None else [f"rewards {self.rewards.said}"]
        rounds += [f"noise {' and '.join(f'{sd:g}' for sd in self.noise)}"] if self.noise else []
        ranks = "ranks " + " and ".join(map(str, self.roles))
        rounds += ["ranks drawn for each episode" if self.roles == "drawn" else ranks] if self.roles else []
        rounds += [] if self.rounds is None else [count(self.rounds, "round")]
        delay = [] if self.delay is None else [f"feedback delay {count(self.delay, 'round')}"]
        delay += [] if self.actions is None else [f"choices {self.actions}"]
        return rounds + delay + ([] if self.robot else ["no robot"])


@dataclass(frozen=True)
class Seat(Record):
    """One seat of the team: who plays there, how well they observe (p_i), what they and their arms are called.

    ``timeout_seconds`` limits a move while another member waits for it (0: no limit); then ``takeover`` plays, by
    default the agent of the condition. ``service`` describes the player of a service's seat: its ``kind`` and options.
    """

    name: str = entry(words)
    player: str = entry(one_of(SEAT_PLAYERS, "player of a seat"))
    observability: float = entry(real(0.0, 1.0))
    arms: tuple[str, ...] = entry(listing(words, 2, MOST_ARMS, unique="="))
    icons: tuple[str, ...] = entry(listing(arm_icon, 0, MOST_ARMS), ())
    timeout_seconds: int = entry(whole(0, 86_400), 60)
    takeover: AgentChoice | None = entry(optional(AgentChoice.read), None)
    service: Table = entry(table_of(scalar), Table())

    def __post_init__(self) -> None:
        super().__post_init__()
        count = len(self.icons)
        if count not in (0, len(self.arms)):
            raise InvalidInput(
                f"icons of {self.name!r} must have one icon for each of the {len(self.arms)} arms, got {count}."
            )
        if self.player == "service" and not self.timeout_seconds:
            raise InvalidInput(
                f"timeout_seconds of the seat {self.name!r} is 0; a service needs a limit of at least 1."
            )


@dataclass(frozen=True)
class Group(Record):
    """How several people become a team, and what happens when a member is missing.

    ``lobby_seconds`` limits the wait for a team, and for a member who is late for an episode; ``check_in_seconds`` the
    answer to "Are you still there?". ``timeouts`` in a row, and the seat is taken over for good. ``short_code`` and
    ``short_pay`` belong to ``when_short = "dismiss"``. ``people``, ``agent`` and ``left`` are read by participants.
    """

    lobby_seconds: int = entry(whole(1, 86_400), 300)
    check_in_seconds: int = entry(whole(1, 3600), 30)
    when_short: str = entry(one_of(WHEN_SHORT, "ending of a wait"), "ai")
    when_left: str = entry(one_of(WHEN_LEFT, "rule for a member who leaves"), "ai")
    timeouts: int = entry(whole(1, 1000), 3)
    short_code: str = entry(words_or_empty, "")
    short_pay: str = entry(money, "0")
    people: str = entry(words, "another participant")
    agent: str = entry(words, "an AI")
    left: str = entry(words, "Your partner has left. An AI plays on.")


@dataclass(frozen=True)
class Task(Record):
    """What the page draws, and what everything is called.

    ``arms`` holds the labels of every seat's arms; ``configuration`` is the word for one team action ("burger",
    "machine"), ``good`` and ``bad`` for its outcome. ``partner`` is the word for the participant's partner.
    Where the design lists its seats, ``participant``, ``partner`` and ``arms`` follow from them. ``fillings`` names
    the four fillings of a burger, the participant's two and the partner's two: all are stacked, and the arms decide
    their order (`cobandit.studies.burger`). Without it, each lays a single filling. ``icons`` gives every arm of a grid
    an icon (`cobandit.studies.icons`); where the design lists its seats, each seat has its own. ``layers`` belongs to
    ``kind = "burger-line"``: ``arms`` are the labels of the first layer, ``layers`` those of each further one.
    """

    kind: str = entry(one_of(TASKS, "kind of task"))
    participant: str = entry(words_or_empty, "")
    partner: str = entry(words_or_empty, "")
    arms: tuple[tuple[str, ...], ...] = entry(listing(listing(words, 2, MOST_ARMS, unique="="), 0, MOST_SEATS), ())
    fillings: tuple[tuple[str, ...], ...] = entry(listing(listing(words, 2, 2, unique="="), 0, 2), ())
    icons: tuple[tuple[str, ...], ...] = entry(listing(listing(arm_icon, 2, MOST_ARMS), 0, MOST_SEATS), ())
    layers: tuple[tuple[tuple[str, ...], ...], ...] = entry(
        listing(listing(listing(words, 2, MOST_ARMS, unique="="), 2, 2), 0, 3), ()
    )
    configuration: str = entry(words)
    good: str = entry(words)
    bad: str = entry(words)
    instructions: tuple[str, ...] = entry(listing(words, 1, 50))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fillings and self.kind != "burger":
            raise InvalidInput(f"task.fillings requires task.kind = 'burger', but task.kind is {self.kind!r}.")
        if (self.kind == LINE) != bool(self.layers):
            raise InvalidInput(f"task.layers and task.kind = {LINE!r} require each other.")
        if any(list(map(len, layer)) != list(map(len, self.arms)) for layer in self.layers):
            raise InvalidInput("task.layers must have as many labels for each side as task.arms.")
        if len(self.icons) not in (0, 2):
            raise InvalidInput(
                f"task.icons must be two lists, the participant's icons and the partner's, got {len(self.icons)}."
            )
        if len(self.fillings) == 1:
            raise InvalidInput(
                "task.fillings names those of one side; two of the participant and two of the partner are needed."
            )

    def layer_texts(self) -> dict[str, str]:
        """Return the labels of the further layers by message key."""
        return {
            f"task.layers.{layer}.{seat}.{arm}": label
            for layer, sides in enumerate(self.layers)
            for seat, labels in enumerate(sides)
            for arm, label in enumerate(labels)
        }

    @property
    def steps(self) -> int:
        """How many choices make one configuration: the layers of a burger at a line, else 1."""
        return 1 + len(self.layers)


@dataclass(frozen=True)
class PartnerIdentity(Record):
    """The partner that a participant is shown in one of the sets: a name and an appearance.

    Which partner appears in which set is drawn for each participant, independently of the algorithm
    (`ParticipantPlan.partner_order`). ``seats`` names the AIs one by one, where there are several.
    """

    name: str = entry(words)
    look: str = entry(one_of(LOOKS, "look of a partner"))
    seats: tuple[str, ...] = entry(listing(words, 0, MOST_SEATS - 1, unique="="), ())


@dataclass(frozen=True)
class SurveyItem(Record):
    """One statement to agree with; ``reversed``: agreement speaks against the AI."""

    id: str = entry(slug)
    text: str = entry(words)
    reversed: bool = entry(flag, False)


@dataclass(frozen=True)
class Survey(Record):
    """The questions after each set, on a scale from 1 to ``points`` (Dependent Measures)."""

    points: int = entry(whole(2, 11), 5)
    low: str = entry(words, "Strongly disagree")
    high: str = entry(words, "Strongly agree")
    shuffled: bool = entry(flag, False)
    items: tuple[SurveyItem, ...] = entry(listing(SurveyItem.read, 1, 100, unique="id"))


@dataclass(frozen=True)
class Consent(Record):
    """What people agree to; its version is stored with the time of consent."""

    version: str = entry(words)
    text: str = entry(words)


@dataclass(frozen=True)
class Question(Record):
    """One question about the person: an integer, a choice or a short text.

    ``screen_out`` holds the places of choices, from 0, that end the study for the person. ``stratify``: people with
    different answers are assigned to cells and orders apart from each other.
    """

    id: str = entry(slug)
    text: str = entry(words)
    answer: str = entry(one_of(ANSWERS, "kind of answer"))
    choices: tuple[str, ...] = entry(listing(words, 0, 50, unique="="), ())
    low: int = entry(whole(0), 0)
    high: int = entry(whole(0), 200)
    required: bool = entry(flag, True)
    screen_out: tuple[int, ...] = entry(listing(whole(0), 0, 50, unique="="), ())
    stratify: bool = entry(flag, False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.answer == "choice") != (len(self.choices) >= 2):
            raise InvalidInput(f"Question {self.id!r}: two or more choices and answer = 'choice' require each other.")
        if self.screen_out and self.answer != "choice":
            raise InvalidInput(f"Question {self.id!r}: screen_out requires answer = 'choice'.")
        if any(place >= len(self.choices) for place in self.screen_out):
            raise InvalidInput(
                f"screen_out of {self.id!r} must hold places of choices, from 0 to {len(self.choices) - 1}, got "
                f"{list(self.screen_out)}."
            )
        if self.screen_out and len(self.screen_out) == len(self.choices):
            raise InvalidInput(f"screen_out of {self.id!r} must leave at least one choice, got all of them.")
        if self.stratify and (self.answer != "choice" or not self.required):
            raise InvalidInput(f"stratify of {self.id!r} requires answer = 'choice' and required = true.")


@dataclass(frozen=True)
class QuizItem(Record):
    """One question on the instructions; ``answer`` is the place of the right choice, from 0."""

    id: str = entry(slug)
    text: str = entry(words)
    choices: tuple[str, ...] = entry(listing(words, 2, 10, unique="="))
    answer: int = entry(whole(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(0, len(self.choices) - 1)(f"The answer to {self.id!r}", self.answer)


@dataclass(frozen=True)
class AttentionCheck(Record):
    """A question with one right answer, asked after one of the sets (``after_set`` from 1).

    ``apart``: it appears below the survey's items, outside their scale; otherwise it looks like one of the items.
    """

    id: str = entry(slug)
    text: str = entry(words)
    answer: int = entry(whole(1))
    after_set: int = entry(whole(1), 1)
    apart: bool = entry(flag, False)


@dataclass(frozen=True)
class AnalysisChoices(Record):
    """Defaults of the analysis plan that `cobandit.analysis.default_plan` writes for the study.

    ``marks`` selects the p-value that the asterisks show, ``regret`` the regret that is tested, and ``hypotheses``
    names the hypotheses about performance and about the survey (H1 and H2; H3 and H4 in the casino study).
    """

    marks: str = entry(one_of(MARKS, "rule for asterisks"), "holm")
    regret: str = entry(one_of(REGRETS, "regret"), "task")
    hypotheses: tuple[str, ...] = entry(listing(result_name, 2, 2, unique="="), ("H1", "H2"))


@dataclass(frozen=True)
class Limits(Record):
    """After how many idle seconds a person is warned, and is taken to have left (the place is then free again)."""

    warn_seconds: int = entry(whole(1), 300)
    idle_seconds: int = entry(whole(1), 1800)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.warn_seconds > self.idle_seconds:
            raise InvalidInput(f"limits.warn_seconds is {self.warn_seconds}; at most idle_seconds makes sense.")
