"""A whole study in memory, as it was stored: participants, answers, and every round.

This module knows no database; the caller that reads one builds these records. The rounds of an episode are stored by
column, because a casino study has more than a million of them. Times are in UTC; in columns they are
``datetime64[ms]``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import one_of, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.engine.trajectory import NOBODY
from cobandit.studies.design import StudyDesign
from cobandit.studies.journey import journey
from cobandit.studies.leaving import outcome_of
from cobandit.studies.plan import EpisodePlan, ParticipantPlan, TeamPlace
from cobandit.studies.rounds import By, Evidence, Round

PEOPLE_KINDS = ("real", "rehearsal", "demo")
"""What a participant may be: only the first kind is data on people."""

STATUSES = ("invited", "active", "dropped", "finished", "removed")
"""How far a participant has come."""

Times = NDArray[np.datetime64]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_CALENDAR = whole(-62_135_596_800_000, 253_402_300_799_999)  # milliseconds from the year 1 to the year 9999
_NOT_A_TIME = -(2**63)  # NumPy's NaT


def utc(name: str, value: object) -> datetime | None:
    """Return a time with a zone, or None; raise for other values."""
    if value is None:
        return None
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidInput(f"{name} must be a datetime with a time zone, or None, got {short_repr(value)}.")
    return value.astimezone(UTC)


def moment(milliseconds: int | None) -> datetime | None:
    """Return the time for milliseconds since 1970, as a database stores it."""
    if milliseconds is None:
        return None
    return _EPOCH + int(_CALENDAR("A time", milliseconds)) * _MILLISECOND


def moments(values: Iterable[datetime | int | None] | Times) -> Times:
    """Return times as a column, from datetimes with a zone or milliseconds since 1970; None: not known."""
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
    ``head`` is the last hash, which is stored separately from the rounds. ``by`` and ``evidence`` are those of `Round`,
    where several seats are recorded, and ``seat_ms`` (rounds x seats) is how long each choice took. ``seat_arms`` are
    the arms of the stored moves (`NO_MOVE`: none), from which a server has made the rounds.
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
    by: tuple[By, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    seat_ms: NDArray[np.float64] | None = None
    seat_arms: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for name in ("opened_at", "finished_at"):
            object.__setattr__(self, name, utc(name, getattr(self, name)))
        recorded = ("by", "evidence") if self.by else ()
        for name in (*_COLUMNS, *_TIMES, *recorded):
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
        """Return the episode with the columns of `Round`, as a database returns them (None: nothing seen or predicted).

        ``arms``, ``seen`` and ``predictions`` contain a tuple over the seats for each round; arrays in the form of
        `EpisodeData` are used unchanged. ``answered_at`` (datetimes, or milliseconds since 1970) and ``reaction_ms``
        are optional; so is ``previous`` if ``start`` gives the hash that the first round is chained to
        (`EpisodePlan.start`, or the last hash of a warm start).
        """
        for name in columns:
            if name not in (*_COLUMNS, *_TIMES, *_RECORDED):
                raise UnknownName("column of rounds called", name, (*_COLUMNS, *_TIMES, *_RECORDED))
        for name in _COLUMNS:
            if name not in columns and (name != "previous" or start is None):
                raise InvalidInput(f"The columns leave out {name!r}; it is needed.")
        count = len(columns["t"])
        hashes = tuple(columns["hash"])
        earlier = (start, *hashes[:-1]) if hashes else ()
        previous = tuple(columns.get("previous", earlier))
        if len(previous) == len(hashes):
            # If the chain is valid, each hash is stored once and not twice: a million of them need much memory.
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
            by=tuple(columns.get("by", ())),
            evidence=tuple(columns.get("evidence", ())),
            seat_ms=_numbers("seat_ms", columns["seat_ms"], np.float64, (seats,)) if "seat_ms" in columns else None,
            seat_arms=_numbers("seat_arms", columns["seat_arms"], np.int64, (seats,))
            if "seat_arms" in columns
            else None,
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
        """Create the data from rounds."""
        columns: dict[str, Sequence[Any]] = {name: [getattr(played, name) for played in rounds] for name in _COLUMNS}
        if rounds and rounds[0].by:
            columns |= {name: [getattr(played, name) for played in rounds] for name in ("by", "evidence")}
        if answered_at is not None:
            columns["answered_at"] = answered_at
        if reaction_ms is not None:
            columns["reaction_ms"] = reaction_ms
        return cls.of_columns(columns, head=head, opened_at=opened_at, finished_at=finished_at)

    def __len__(self) -> int:
        return len(self.t)

    def rounds(self) -> tuple[Round, ...]:
        """Return the rounds as they were stored, in the form that `verify_episode` takes."""
        columns = [getattr(self, name) for name in _COLUMNS]
        lists = [column if isinstance(column, tuple) else column.tolist() for column in columns]
        nobody: tuple[tuple[object, ...], ...] = ((),) * len(self)
        lists += [self.by or nobody, self.evidence or nobody]
        return tuple(
            Round(
                t,
                tuple(arms),
                reward,
                tuple(None if math.isnan(value) else value for value in seen),
                tuple(tuple(None if arm == NOBODY else arm for arm in row) for row in foreseen),
                before,
                own,
                tuple(by),
                tuple(evidence),
            )
            for t, arms, reward, seen, foreseen, before, own, by, evidence in zip(*lists, strict=True)
        )

    def by_seat(self, plan: EpisodePlan) -> tuple[By, ...]:
        """Return who chose in each seat, round by round, also for logs of one recorded seat, which omit it."""
        if self.by:
            return self.by
        return (tuple("person" if player == "participant" else player for player in plan.players),) * len(self)

    def __repr__(self) -> str:
        return f"<EpisodeData: {len(self)} rounds>"


_COLUMNS = ("t", "arms", "reward", "seen", "predictions", "previous", "hash")
_TIMES = ("answered_at", "reaction_ms")
NO_MOVE = -1
_RECORDED = ("by", "evidence", "seat_ms", "seat_arms")


def _width(name: str, values: Sequence[Any]) -> int:
    """Return how many seats the first round has; 0 for an episode without rounds."""
    if isinstance(values, np.ndarray) and values.ndim == 2:
        return int(values.shape[1])
    first = values[0] if len(values) else ()
    if not isinstance(first, Sequence) or isinstance(first, str):
        raise InvalidInput(f"{name} must be a tuple over the seats for each round, got {short_repr(values)}.")
    return len(first)


def _numbers(
    name: str,
    values: Sequence[Any],
    kind: type[np.generic],
    shape: tuple[int, ...] = (),
    missing: float = math.nan,
) -> NDArray[Any]:
    """Return the values as a column, ``shape`` for each round; raise if a value would have to be rounded or parsed."""
    needed = "an integer" if kind is np.int64 else "a number or None"
    if isinstance(values, np.ndarray) and values.dtype == kind and values.shape == (len(values), *shape):
        return values
    try:
        flat = list(values)
        for _ in shape:
            flat = [part for row in flat for part in row]
        given = [missing if value is None else value for value in flat]
        array = np.array(given) if given else np.zeros(0, dtype=kind)
        with np.errstate(invalid="ignore"):  # NaN where an integer is needed: noticed in the next line
            column = array.astype(kind)
        fits = array.ndim == 1 and array.dtype.kind in "iuf" and np.array_equal(array, column, equal_nan=True)
        column = column.reshape(len(values), *shape)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        each = " and seat" if shape else ""
        raise InvalidInput(f"{name} must be {needed} for each round{each}, got {short_repr(values)}.")
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
    """An event that the page reported: it was hidden, the network was lost ..."""

    at: datetime | None
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", utc("at", self.at))


@dataclass(frozen=True)
class TeamMember:
    """A participant's place in a team of several people: ``id`` is the pseudonym of the team.

    ``left_reason`` is None for members who stayed; the others left during ``left_episode``.
    """

    id: str
    seat: int
    seed: int
    roster: str = ""
    left_reason: str | None = None
    left_episode: int | None = None


@dataclass(frozen=True, eq=False)
class ParticipantData:
    """One participant: ``answers`` by step, ``episodes`` by their index.

    Members of a ``team`` share the episodes that they played together.

    ``seed`` and ``order`` are None until they are assigned, ``language`` until one is chosen; ``secret`` is that of the
    study for people of this kind (see `ParticipantPlan`) and is not exported. ``ending`` tells why a participant left
    early: ``screened-out``, ``withdrew``, or ``removed`` by a researcher.
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
    team: TeamMember | None = None
    ending: str | None = None

    def __post_init__(self) -> None:
        one_of(PEOPLE_KINDS, "kind of participant")("kind", self.kind)
        one_of(STATUSES, "status of a participant")("status", self.status)
        for name in ("consented_at", "started_at", "finished_at"):
            object.__setattr__(self, name, utc(name, getattr(self, name)))

    def plan(self, design: StudyDesign) -> ParticipantPlan | None:
        """Return the plan of the participant; None until seed and order are assigned."""
        if self.seed is None or self.order is None:
            return None
        team = self.team
        place = None if team is None else TeamPlace(team.seed, team.seat, team.roster)
        return ParticipantPlan(design, self.seed, self.order, self.secret, place)

    def outcome(self, design: StudyDesign) -> str:
        """Return how the participation ended (see `cobandit.studies.leaving`); empty while it is under way."""
        if self.ending == "withdrew":
            return self.ending
        given = {step: answer.values for step, answer in self.answers.items()}
        return outcome_of(design, given, finished=self.finished_at is not None)

    @property
    def has_played_all(self) -> bool:
        """Whether every episode must be there: the participant has finished, and neither left nor was dismissed."""
        left = self.team is not None and self.team.left_reason is not None
        return self.status == "finished" and not left and not self.dismissed

    @property
    def dismissed(self) -> bool:
        """Whether no team was found for the participant, so that the study ended in the lobby."""
        lobby = self.answers.get("lobby")
        return lobby is not None and lobby.values.get("outcome") == "short"

    def __repr__(self) -> str:
        return f"<ParticipantData {self.id} ({self.kind}, {self.status}): {len(self.episodes)} episodes>"


@dataclass(frozen=True, eq=False)
class StudyData:
    """A stored study: its design, the seed of the participants' seeds, and all participants.

    ``versions`` are those of the software that ran it, ``plan`` is the analysis plan as text, with its SHA-256;
    ``about`` contains all other facts to store with the data, ready for JSON.
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
    """A stored study that is too large for memory: ``about`` has no participants, ``parts`` have some participants
    each.

    ``kinds`` and ``count`` are those of all participants; ``parts`` can be iterated once.
    """

    about: StudyData
    kinds: tuple[str, ...]
    count: int
    parts: Iterator[StudyData]

    @classmethod
    def of(cls, data: StudyData) -> StudyParts:
        """Return a study in memory as one part."""
        return cls(data, data.kinds, len(data.participants), iter([data]))


def this_software() -> dict[str, str]:
    """Return the versions to store with a study: the agents' moves and the random draws depend on them."""
    from cobandit import __version__  # imported late, because the package itself imports this module

    return {"cobandit": __version__, "numpy": np.__version__}
