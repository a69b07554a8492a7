"""A whole study in memory, as it was stored: who took part, what they answered, and every round.

It knows no database; whoever reads one builds these records. The rounds of an episode are kept column by column,
since a casino study has more than a million of them. Times are in UTC; in columns they are ``datetime64[ms]``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.base.checks import one_of, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.streams import StudyStream, generator
from cobandit.engine.trajectory import NOBODY
from cobandit.studies.design import StudyDesign
from cobandit.studies.journey import Step, journey, survey_ids
from cobandit.studies.plan import ParticipantPlan
from cobandit.studies.rehearse import rehearse
from cobandit.studies.rounds import Round

PEOPLE_KINDS = ("real", "rehearsal", "demo")
"""What a participant may be: only the first kind is data on people."""

STATUSES = ("invited", "active", "dropped", "finished")
"""How far a participant has come."""

MADE_UP = ("none", "neutral", "drawn")
"""Ways to make up what a simulated participant answers."""

Times = NDArray[np.datetime64]
Rule = Callable[[np.random.Generator, ParticipantPlan, int, str], int]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_CALENDAR = whole(-62_135_596_800_000, 253_402_300_799_999)  # milliseconds from the year 1 to the year 9999
_NOT_A_TIME = -(2**63)  # NumPy's NaT


def utc(name: str, value: object) -> datetime | None:
    """A check for a time with its zone, or None."""
    if value is None:
        return None
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidInput(f"{name} is {short_repr(value)}; a datetime with a time zone, or None, is needed.")
    return value.astimezone(UTC)


def moment(milliseconds: int | None) -> datetime | None:
    """A time out of milliseconds since 1970, as a database keeps it."""
    if milliseconds is None:
        return None
    return _EPOCH + int(_CALENDAR("A time", milliseconds)) * _MILLISECOND


def moments(values: Iterable[datetime | int | None] | Times) -> Times:
    """Times as a column: from datetimes with a zone, or from milliseconds since 1970; None: not known."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        return values.astype("datetime64[ms]")
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        for extreme in (values.min(), values.max()) if len(values) else ():
            _CALENDAR("A time", int(extreme))
        return values.view("datetime64[ms]")

    def milliseconds(value: datetime | int | None) -> int:
        if value is None:
            return _NOT_A_TIME
        checked = utc("A time", value) if isinstance(value, datetime) else None
        return int(_CALENDAR("A time", value)) if checked is None else (checked - _EPOCH) // _MILLISECOND

    return np.array([milliseconds(value) for value in values], dtype=np.int64).view("datetime64[ms]")


@dataclass(frozen=True, eq=False)
class EpisodeData:
    """The stored rounds of one episode, column by column.

    ``arms`` and ``seen`` are rounds x seats, ``predictions`` rounds x seats x seats, as in a trajectory. ``seen`` NaN:
    nothing was seen; ``predictions`` -1: nothing was foreseen; ``answered_at`` NaT and ``reaction_ms`` NaN: not known.
    ``head`` is the last hash as it was kept beside the rounds.
    """

    t: NDArray[np.int64]
    arms: NDArray[np.int64]
    reward: NDArray[np.float64]
    seen: NDArray[np.float64]
    predictions: NDArray[np.int64]
    previous: tuple[str, ...]
    hash: tuple[str, ...]
    answered_at: Times
    reaction_ms: NDArray[np.float64]
    head: str | None = None
    opened_at: datetime | None = None
    finished_at: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("opened_at", "finished_at"):
            object.__setattr__(self, name, utc(name, getattr(self, name)))
        for name in (*_COLUMNS, *_TIMES):
            column = getattr(self, name)
            if len(column) != len(self.t):
                raise InvalidInput(f"{name} has {len(column)} rounds, but t has {len(self.t)}; as many are needed.")

    @classmethod
    def of_columns(
        cls,
        columns: Mapping[str, Sequence[Any]],
        *,
        start: str | None = None,
        head: str | None = None,
        opened_at: datetime | None = None,
        finished_at: datetime | None = None,
    ) -> EpisodeData:
        """From the columns of `Round`, as a database gives them (None: nothing seen, nothing foreseen).

        ``arms``, ``seen`` and ``predictions`` hold a tuple over the seats for each round; arrays as `EpisodeData` keeps
        them are taken as they are. ``answered_at`` (datetimes,
        or milliseconds since 1970) and ``reaction_ms`` may be left out; so may ``previous``, where ``start`` tells what
        the first round hangs on (`EpisodePlan.start`, or the last hash of a warm start).
        """
        for name in columns:
            if name not in _COLUMNS and name not in _TIMES:
                raise UnknownName("column of rounds called", name, (*_COLUMNS, *_TIMES))
        for name in _COLUMNS:
            if name not in columns and (name != "previous" or start is None):
                raise InvalidInput(f"The columns leave out {name!r}; it is needed.")
        count = len(columns["t"])
        hashes = tuple(columns["hash"])
        earlier = (start, *hashes[:-1]) if hashes else ()
        previous = tuple(columns.get("previous", earlier))
        if len(previous) == len(hashes):
            # Where the chain holds, a hash is kept once and not twice: a million of them take room.
            previous = tuple(old if old == stored else stored for old, stored in zip(earlier, previous, strict=True))
        seats = _width("arms", columns["arms"])
        return cls(
            t=_numbers("t", columns["t"], np.int64),
            arms=_numbers("arms", columns["arms"], np.int64, (seats,)),
            reward=_numbers("reward", columns["reward"], np.float64),
            seen=_numbers("seen", columns["seen"], np.float64, (seats,)),
            predictions=_numbers("predictions", columns["predictions"], np.int64, (seats, seats), missing=NOBODY),
            previous=previous,
            hash=hashes,
            answered_at=moments(columns.get("answered_at", [None] * count)),
            reaction_ms=_numbers("reaction_ms", columns.get("reaction_ms", [None] * count), np.float64),
            head=head,
            opened_at=opened_at,
            finished_at=finished_at,
        )

    @classmethod
    def of_rounds(
        cls,
        rounds: Sequence[Round],
        *,
        answered_at: Sequence[datetime | int | None] | None = None,
        reaction_ms: Sequence[float | None] | None = None,
        head: str | None = None,
        opened_at: datetime | None = None,
        finished_at: datetime | None = None,
    ) -> EpisodeData:
        """From rounds."""
        columns: dict[str, Sequence[Any]] = {name: [getattr(played, name) for played in rounds] for name in _COLUMNS}
        if answered_at is not None:
            columns["answered_at"] = answered_at
        if reaction_ms is not None:
            columns["reaction_ms"] = reaction_ms
        return cls.of_columns(columns, head=head, opened_at=opened_at, finished_at=finished_at)

    def __len__(self) -> int:
        return len(self.t)

    def rounds(self) -> tuple[Round, ...]:
        """The rounds as they were stored, ready for `verify_episode`."""
        columns = [getattr(self, name) for name in _COLUMNS]
        lists = [column if isinstance(column, tuple) else column.tolist() for column in columns]
        return tuple(
            Round(
                t,
                tuple(arms),
                reward,
                tuple(None if math.isnan(value) else value for value in seen),
                tuple(tuple(None if arm == NOBODY else arm for arm in row) for row in foreseen),
                before,
                own,
            )
            for t, arms, reward, seen, foreseen, before, own in zip(*lists, strict=True)
        )

    def __repr__(self) -> str:
        return f"<EpisodeData: {len(self)} rounds>"


_COLUMNS = ("t", "arms", "reward", "seen", "predictions", "previous", "hash")
_TIMES = ("answered_at", "reaction_ms")


def _width(name: str, values: Sequence[Any]) -> int:
    """How many seats the first round has; an episode without rounds tells none."""
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return int(values.shape[1])
    first = values[0] if len(values) else ()
    if not isinstance(first, Sequence) or isinstance(first, str):
        raise InvalidInput(f"{name} is {short_repr(values)}; a tuple over the seats for each round is needed.")
    return len(first)


def _numbers(
    name: str,
    values: Sequence[Any],
    kind: type[np.generic],
    shape: tuple[int, ...] = (),
    missing: float = math.nan,
) -> NDArray[Any]:
    """The values as a column, ``shape`` for each round; what would have to be rounded or read out is refused."""
    needed = "a whole number" if kind is np.int64 else "a number or None"
    if isinstance(values, np.ndarray) and values.dtype == kind and values.shape == (len(values), *shape):
        return values
    try:
        flat = list(values)
        for _ in shape:
            flat = [part for row in flat for part in row]
        given = [missing if value is None else value for value in flat]
        array = np.array(given) if given else np.zeros(0, dtype=kind)
        with np.errstate(invalid="ignore"):  # NaN where a whole number is needed: noticed in the next line
            column = array.astype(kind)
        fits = array.ndim == 1 and array.dtype.kind in "iuf" and np.array_equal(array, column, equal_nan=True)
        column = column.reshape(len(values), *shape)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        each = " and seat" if shape else ""
        raise InvalidInput(f"{name} is {short_repr(values)}; {needed} for each round{each} is needed.")
    return column


@dataclass(frozen=True)
class Answer:
    """What was answered at a step, in the form of `check_answers`; when, and how long it took."""

    values: Mapping[str, Any]
    at: datetime | None = None
    ms: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", utc("at", self.at))


@dataclass(frozen=True)
class EventData:
    """Something the page has told: that it was hidden, that the network was gone ..."""

    at: datetime | None
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", utc("at", self.at))


@dataclass(frozen=True, eq=False)
class ParticipantData:
    """One participant: ``answers`` by step, ``episodes`` by their index.

    ``seed`` and ``order`` are None until they are assigned, ``language`` until one is chosen; ``secret`` is that of the
    study for people of this kind (see `ParticipantPlan`) and is not exported.
    """

    id: str
    kind: str
    status: str
    seed: int | None
    order: int | None
    language: str | None
    recruiter: str | None = None
    external_id: str | None = None
    consented_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    quiz_attempts: int = 0
    episodes: Mapping[int, EpisodeData] = field(default_factory=dict)
    events: tuple[EventData, ...] = ()
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        one_of(PEOPLE_KINDS, "kind of participant")("kind", self.kind)
        one_of(STATUSES, "status of a participant")("status", self.status)
        for name in ("consented_at", "started_at", "finished_at"):
            object.__setattr__(self, name, utc(name, getattr(self, name)))

    def plan(self, design: StudyDesign) -> ParticipantPlan | None:
        """What the participant was to meet; None until seed and order are assigned."""
        if self.seed is None or self.order is None:
            return None
        return ParticipantPlan(design, self.seed, self.order, self.secret)

    def __repr__(self) -> str:
        return f"<ParticipantData {self.id} ({self.kind}, {self.status}): {len(self.episodes)} episodes>"


@dataclass(frozen=True, eq=False)
class StudyData:
    """A stored study: its design, the seed that the participants' seeds come from, and everybody in it.

    ``versions`` are those of the software that ran it, ``plan`` is the analysis plan as text, with its SHA-256;
    ``about`` is whatever else should travel with the data, ready for JSON.
    """

    design: StudyDesign
    participants: tuple[ParticipantData, ...]
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    plan: str | None = None
    plan_digest: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "participants", tuple(self.participants))
        if self.plan is not None and self.plan_digest is None:
            object.__setattr__(self, "plan_digest", hashlib.sha256(self.plan.encode("utf-8")).hexdigest())
        known, places = set[str](), journey(self.design).places
        for person in self.participants:
            if person.id in known:
                raise InvalidInput(f"The participant {person.id!r} is there twice; each needs an id of their own.")
            known.add(person.id)
            if person.plan(self.design) is None and person.episodes:
                raise InvalidInput(f"The participant {person.id!r} has played without seed or order; both are needed.")
            strangers = [f"episode-{i}" for i in person.episodes if f"episode-{i}" not in places]
            strangers += [id for id in person.answers if id not in places]
            if strangers:
                raise InvalidInput(f"The participant {person.id!r} has {strangers[0]!r}; the design has no such step.")

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of participants that there are."""
        there = {person.kind for person in self.participants}
        return tuple(kind for kind in PEOPLE_KINDS if kind in there)

    def __repr__(self) -> str:
        return f"<StudyData of {self.design.name}: {len(self.participants)} participants>"


@dataclass(frozen=True, eq=False)
class StudyParts:
    """A stored study too large to hold at once: ``about`` has nobody in it, ``parts`` have some people each.

    ``kinds`` and ``count`` are those of everybody; ``parts`` can be gone through once.
    """

    about: StudyData
    kinds: tuple[str, ...]
    count: int
    parts: Iterator[StudyData]

    @classmethod
    def of(cls, data: StudyData) -> StudyParts:
        """A study that is held at once, as one part."""
        return cls(data, data.kinds, len(data.participants), iter([data]))


def rehearsed_data(
    design: StudyDesign, people: Iterable[tuple[str | Agent, int, int | None]], *, answers: str | Rule = "neutral"
) -> StudyData:
    """A study with simulated participants alone, each a behaviour, a seed and an order (None draws it).

    ``answers`` says where answers come from: "none", "neutral" (the middle of each scale), "drawn" (from the
    participant's seed), or a rule for survey items, called with a generator, the plan, the set from 0 and the item's
    id; the rest is then drawn. Attention checks and the quiz are answered rightly. There are no times.
    """
    if not callable(answers):
        one_of(MADE_UP, "way to make up answers")("answers", answers)
    participants = []
    for place, (behaviour, seed, order) in enumerate(people):
        episodes = rehearse(design, behaviour, seed, order)
        first = episodes[0].plan
        plan = ParticipantPlan(design, first.seed, first.order)
        person = ParticipantData(
            id=f"r-{place + 1:04d}",
            kind="rehearsal",
            status="finished",
            seed=plan.seed,
            order=plan.order,
            language=design.languages[0],
            answers=_made_up(plan, answers),
            quiz_attempts=int(bool(design.quiz)),
            episodes={
                episode.plan.index: EpisodeData.of_rounds(episode.rounds, head=episode.head) for episode in episodes
            },
        )
        participants.append(person)
    return StudyData(design, tuple(participants), versions=this_software())


def this_software() -> dict[str, str]:
    """The versions that a study should be kept with: the agents' moves and the draws depend on them."""
    from cobandit import __version__  # only now: the front door opens this room

    return {"cobandit": __version__, "numpy": np.__version__}


def _made_up(plan: ParticipantPlan, source: str | Rule) -> dict[str, Answer]:
    if source == "none":
        return {}
    rng = generator(plan.seed, StudyStream.ANSWERS)

    def number(low: int, high: int) -> int:
        return (low + high) // 2 if source == "neutral" else low + int(rng.random() * (high - low + 1))

    design = plan.design
    right = {check.id: check.answer for check in design.attention}

    def opinion(step: Step, item: str) -> int:
        if item in right:
            return right[item]
        if callable(source):
            answer = source(rng, plan, (step.number or 1) - 1, item)
            return int(whole(1, design.survey.points)(f"The answer to {item!r}", answer))
        return number(1, design.survey.points)

    answers: dict[str, dict[str, Any]] = {}
    for step in journey(design).steps:
        if step.kind == "consent":
            answers[step.id] = {"version": design.consent.version}
        elif step.kind == "demographics":
            answers[step.id] = {
                asked.id: "simulated"
                if asked.answer == "text"
                else number(0, len(asked.choices) - 1)
                if asked.answer == "choice"
                else number(asked.low, asked.high)
                for asked in design.demographics
            }
        elif step.kind == "quiz":
            answers[step.id] = {item.id: item.answer for item in design.quiz}
        elif step.kind == "survey":
            answers[step.id] = {item: opinion(step, item) for item in survey_ids(design, step)}
        elif step.kind in ("instructions", "partner", "rest"):
            answers[step.id] = {}
    return {id: Answer(values) for id, values in answers.items()}
