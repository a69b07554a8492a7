"""In-memory cache of active participants with their running episodes; the database is authoritative.

Every write names the revision it builds on. If another process has written in between, the participant is read again
and the request is retried. After a failed write the participant is evicted from the cache, so that memory never runs
ahead of the disk.
"""

from __future__ import annotations

import asyncio
import functools
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cobandit.base.json_types import JsonObject
from cobandit.studies import BrokenLog, Episode, ParticipantPlan, TeamPlace
from cobandit.studies.journey import Journey, Step, journey, journey_episode, steps_skipped
from cobandit.studies.leaving import SCREENED_OUT, outcome_of
from cobandit.studies.rounds import hash_version
from cobandit.web.refusals import Refused, busy, not_found
from cobandit.web.storage.answers import answers_by_participant, answers_of
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.episodes import StoredEpisode, episodes_by_participant, episodes_of
from cobandit.web.storage.participants import (
    Participant,
    Stale,
    participant_by_token,
    participants_by_ids,
    revision_of,
)
from cobandit.web.storage.rounds import load_rounds
from cobandit.web.storage.studies import Study, study_by_id
from cobandit.web.storage.teams import Team, team_of
from cobandit.web.storage.values import now_ms
from cobandit.web.storage.writer import Job

T = TypeVar("T")

TRIES = 5
MOST_PEOPLE_IN_MEMORY = 1000

UNKNOWN_LINK = (
    "This link belongs to no participant. Please check that it is complete, or ask the person who sent it to you."
)


@dataclass(frozen=True)
class Stored:
    """A participant as stored, with the answers by step and with where each episode stands."""

    participant: Participant
    study: Study
    answers: JsonObject
    episodes: dict[int, StoredEpisode]
    team: Team | None = None

    @property
    def done(self) -> set[str]:
        """The steps that are behind the participant."""
        finished = {f"episode-{number}" for number, episode in self.episodes.items() if episode.finished_at is not None}
        done = set(self.answers) | finished
        whole = self.study.design.group is None and self.participant.ending is None
        return done if whole else done | self._skipped

    @property
    def outcome(self) -> str:
        """How the participation ended; empty while it is under way."""
        return outcome_of(self.study.design, self.answers, finished=self.participant.finished_at is not None)

    @property
    def _skipped(self) -> set[str]:
        """The steps that a participant skips after leaving a team, if no team was found, or who was screened out."""
        if self.outcome in ("no-team", SCREENED_OUT):
            return {step.id for step in journey(self.study.design).steps[:-1]}
        if self.team is None:
            return set()
        own = self.team.members[self.team.seat_of(self.participant.id)]
        return set() if own.left_episode is None else set(steps_skipped(self.study.design, own.left_episode))


def _load(connection: Connection, token: str) -> Stored | None:
    participant = participant_by_token(connection, token)
    if participant is None:
        return None
    study = study_by_id(connection, participant.study_id)
    assert study is not None
    return Stored(
        participant,
        study,
        {given.step: given.values for given in answers_of(connection, participant.id)},
        {episode.number: episode for episode in episodes_of(connection, participant.id)},
        team_of(connection, participant.id) if study.design.has_recorded_seats else None,
    )


def episode_of(connection: Connection, participant: int) -> int:
    """Return the number of the episode where a participant is: the one under way, the next one, or the last one."""
    person = participants_by_ids(connection, [participant])[participant]
    stored = _load(connection, person.token)
    assert stored is not None
    return journey_episode(stored.study.design, journey(stored.study.design).current(stored.done))


def steps_of(
    connection: Connection, study: Study, people: Mapping[int, Participant], teams: Mapping[int, Team]
) -> dict[int, Step]:
    """Return the current step of some people of one study, by participant; ``teams`` are theirs."""
    numbers = list(people)
    answers = answers_by_participant(connection, numbers)
    episodes = episodes_by_participant(connection, numbers)
    way = journey(study.design)
    steps = {}
    for number, person in people.items():
        given = {answer.step: answer.values for answer in answers.get(number, ())}
        begun = {episode.number: episode for episode in episodes.get(number, ())}
        steps[number] = way.current(Stored(person, study, given, begun, teams.get(number)).done)
    return steps


@dataclass
class ActiveParticipant:
    """A participant in memory; ``keys`` are those of the moves of the running episode.

    ``recordings`` are the robot's of rounds (episode, t), as far as they were asked for.
    """

    token: str
    stored: Stored
    journey: Journey
    revision: int
    done: set[str]
    episode: Episode | None = None
    keys: list[str] = field(default_factory=list)
    opened_at: int = 0
    recordings: dict[tuple[int, int], Any] = field(default_factory=dict)

    @property
    def record(self) -> Participant:
        """The participant as stored."""
        return self.stored.participant

    @property
    def study(self) -> Study:
        """The study the person takes part in."""
        return self.stored.study

    @property
    def team(self) -> Team | None:
        """The team of the person, where several people or services play."""
        return self.stored.team

    @property
    def last_met(self) -> int | None:
        """The last episode that any other member reached (-1: none); None while one of them is still there."""
        others = [] if self.team is None else [m for m in self.team.members.values() if m.participant != self.record.id]
        if not others or any(member.left_at is None for member in others):
            return None
        return max(member.arrived for member in others)

    @functools.cached_property
    def step(self) -> Step:
        """Where the person is."""
        return self.journey.current(self.done)

    def renew(self, stored: Stored) -> None:
        """Take over what is stored now."""
        self.stored, self.revision, self.done = stored, stored.participant.revision, stored.done
        for derived in ("step", "seat", "_recorded"):
            self.__dict__.pop(derived, None)

    @functools.cached_property
    def seat(self) -> int:
        """The seat of the person."""
        return self.study.design.participant_seat if self.team is None else self.team.seat_of(self.record.id)

    @functools.cached_property
    def _recorded(self) -> dict[int, bool]:
        return {}

    def is_recorded(self, number: int) -> bool:
        """Return whether the moves of several seats are recorded in an episode."""
        if number not in self._recorded:
            plan = self.plan
            self._recorded[number] = plan is not None and plan.episode(number).recorded
        return self._recorded[number]

    @property
    def plan(self) -> ParticipantPlan | None:
        """What the person will play; known from consent on."""
        seed, order = self.record.seed, self.record.order_index
        if seed is None or order is None:
            return None
        place = None
        if self.team is not None:
            place = TeamPlace(self.team.seed, self.team.seat_of(self.record.id), self.team.roster)
        return ParticipantPlan(self.study.design, seed, order, self.study.secret_for(self.record.kind), place)


class Turns:
    """For each token one request at a time, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, token: str) -> bool:
        """Take the turn immediately, if it is free."""
        if token in self._waiting:
            return False
        self._waiting[token] = deque()
        return True

    async def wait(self, token: str) -> None:
        """Take the turn after all earlier requests are done."""
        if self.take(token):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[token].append(future)
        try:
            await future
        except asyncio.CancelledError:
            if not future.cancelled():  # it has just become this request's turn, which is given up
                self.pass_on(token)
            raise

    def pass_on(self, token: str) -> None:
        """End the turn: the next may begin."""
        waiting = self._waiting[token]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(None)
                return
        del self._waiting[token]


class Turn:
    """A context in which one request has a turn; a class, since every move enters one."""

    __slots__ = ("_token", "_turns")

    def __init__(self, turns: Turns, token: str) -> None:
        self._turns, self._token = turns, token

    async def __aenter__(self) -> None:
        if not self._turns.take(self._token):
            await self._turns.wait(self._token)

    async def __aexit__(self, *problem: object) -> None:
        self._turns.pass_on(self._token)


class _Turn:
    """A context in which one request has a participant to itself."""

    __slots__ = ("_fresh", "_people", "_token")

    def __init__(self, people: People, token: str, fresh: bool) -> None:
        self._people, self._token, self._fresh = people, token, fresh

    async def __aenter__(self) -> ActiveParticipant:
        people, token = self._people, self._token
        if not people.turns.take(token):
            await people.turns.wait(token)
        try:
            return await people.in_turn(token, self._fresh)
        except BaseException:
            people.turns.pass_on(token)
            raise

    async def __aexit__(self, *problem: object) -> None:
        self._people.turns.pass_on(self._token)


class People:
    """In-memory cache of active participants; the database is authoritative."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._people: OrderedDict[str, ActiveParticipant] = OrderedDict()
        self.turns = Turns()

    def __len__(self) -> int:
        return len(self._people)

    def person(self, token: str, *, fresh: bool = False) -> _Turn:
        """Return a context for one request of a participant; ``fresh``: with what is stored at this moment."""
        return _Turn(self, token, fresh)

    async def in_turn(self, token: str, fresh: bool) -> ActiveParticipant:
        """Return a participant from memory or from the database; the caller must have the turn."""
        person = self._people.get(token)
        if person is not None and fresh and await self._outdated(person):
            self.forget(token)
            person = None
        if person is None:
            person = await self._read(token)
            self._people[token] = person
            while len(self._people) > MOST_PEOPLE_IN_MEMORY:
                self._people.popitem(last=False)
        self._people.move_to_end(token)
        return person

    async def retry_stale(
        self,
        token: str,
        once: Callable[[ActiveParticipant], Awaitable[T]],
        state: Callable[[ActiveParticipant], Awaitable[JsonObject]],
    ) -> T:
        """Do something for a person as stored: again, where another process has written meanwhile.

        A refusal because of where the person is carries their ``state``.
        """
        for _ in range(TRIES):
            async with self.person(token) as person:
                try:
                    return await once(person)
                except Stale:
                    self.forget(token)
                except Refused as error:
                    if error.status != 409:
                        raise
                    if not await self._outdated(person):
                        error.state = await state(person)
                        raise
                    self.forget(token)
        raise busy()

    async def write(self, person: ActiveParticipant, job: Job[T]) -> T:
        """Write; if the write fails or the request is cancelled, the participant is read again next time."""
        try:
            return await self._database.commit(job)
        except BaseException:
            self.forget(person.token)
            raise

    async def refresh(self, person: ActiveParticipant) -> None:
        """Read the person again after a write of their own, keeping the running episode."""
        stored = await self._database.ask(lambda connection: _load(connection, person.token))
        if stored is None:
            self.forget(person.token)
            raise not_found(UNKNOWN_LINK)
        revision = stored.participant.revision
        if revision != person.revision and person.episode is not None:
            known = stored.episodes.get(person.episode.plan.index)
            if known is None or known.head != person.episode.head:
                person.episode = None
        person.renew(stored)

    async def episode(self, person: ActiveParticipant, number: int) -> Episode:
        """Return an episode as far as it is stored; brought back from the log where it is not in memory."""
        if person.episode is not None and person.episode.plan.index == number:
            return person.episode
        assert person.plan is not None
        plan = person.plan.episode(number)
        known = person.stored.episodes.get(number)
        if known is None:
            person.episode, person.keys, person.opened_at = Episode.open(plan), [], now_ms()
            return person.episode

        def rebuild(connection: Connection) -> tuple[Episode, list[str]]:
            # The first round depends on the previous hash: that of the warm start, which opening the episode replays.
            episode = Episode.open(plan, hash_version(known.head))
            rounds, keys = load_rounds(connection, known.id, episode.head)
            episode.replay(rounds)
            return episode, keys

        try:
            episode, person.keys = await self._database.ask(rebuild)
        except BrokenLog as error:
            raise Refused(
                500,
                "damaged",
                "The stored data of this game are inconsistent, so it cannot continue; nothing was "
                "changed. Please contact the researcher.",
            ) from error
        person.episode, person.opened_at = episode, known.opened_at
        return episode

    async def _read(self, token: str) -> ActiveParticipant:
        stored = await self._database.ask(lambda connection: _load(connection, token))
        if stored is None:
            raise not_found(UNKNOWN_LINK)
        return ActiveParticipant(token, stored, journey(stored.study.design), stored.participant.revision, stored.done)

    async def _outdated(self, person: ActiveParticipant) -> bool:
        """Return whether another process has written to the person since: what is in memory may then be wrong."""
        revision = await self._database.ask(lambda connection: revision_of(connection, person.token))
        return revision != person.revision

    def forget(self, token: str) -> None:
        """Take a person out of memory, so that they are read again."""
        self._people.pop(token, None)
