"""What may happen to a participant: arriving, answering, playing. The routes translate, this decides.

A person who is at it is kept in memory with the running episode; the database stays the truth. Every write says which
revision it builds on, so a second process that has written in between is noticed, the person is read again and the
request is tried once more. Nothing is answered before it is committed, and a person whose write failed is forgotten,
so that memory never runs ahead of the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, select

from cobandit.base.errors import InvalidInput
from cobandit.studies import BrokenLog, Episode, ParticipantPlan, participant_view
from cobandit.studies.journey import Journey, Step, check_answers, journey, step_payload, wrong_quiz_answers
from cobandit.studies.plan import PARTICIPANT
from cobandit.web.refusals import Refused, busy, conflict, not_found
from cobandit.web.security import new_token
from cobandit.web.storage import store
from cobandit.web.storage.database import Database
from cobandit.web.storage.rounds import Move, arms_of, load_rounds, seen_by_participant
from cobandit.web.storage.schema import participants
from cobandit.web.storage.store import Stale, Study, now_ms
from cobandit.web.storage.writer import Job

T = TypeVar("T")

TRIES = 5
MOST_PEOPLE_IN_MEMORY = 1000
MOST_MOVES = 200
MOST_EVENTS = 3000  # of one person, so that a page gone wild cannot fill the disk
EVENT_KINDS = ("load", "hidden", "visible", "offline", "online", "takeover", "warned", "language", "error")

UNKNOWN_LINK = "This link belongs to nobody. Please check that it is complete, or ask whoever sent it to you."


@dataclass(frozen=True)
class Recruit:
    """Who somebody is to the service that sent them."""

    recruiter: str
    external_id: str
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def known_to_one_only(self) -> bool:
        """Whether the id is long and random, so that having it is proof enough to go on in another browser."""
        return self.recruiter in ("prolific", "mturk")


RECRUITERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("prolific", "PROLIFIC_PID", ("STUDY_ID", "SESSION_ID")),
    ("mturk", "workerId", ("assignmentId", "hitId")),
    ("sona", "survey_code", ()),
    ("sona", "id", ()),
    ("label", "label", ()),
)
"""Recruiting services by the parameter that tells who comes, and what else they send."""


def recruit(parameters: Mapping[str, str]) -> Recruit | None:
    """Who comes, from the parameters of the link; None: nobody said."""
    for recruiter, name, more in RECRUITERS:
        if parameters.get(name):
            return Recruit(recruiter, parameters[name], {key: parameters[key] for key in more if parameters.get(key)})
    return None


@dataclass
class Person:
    """A participant in memory."""

    token: str
    stored: store.Stored
    journey: Journey
    revision: int
    done: set[str]
    episode: Episode | None = None
    keys: list[str] = field(default_factory=list)
    opened_at: int = 0
    events: int = 0

    @property
    def study(self) -> Study:
        """The study the person takes part in."""
        return self.stored.study

    @property
    def step(self) -> Step:
        """Where the person is."""
        return self.journey.current(self.done)

    @property
    def plan(self) -> ParticipantPlan:
        """What the person will play; known from consent on."""
        row = self.stored.row
        return ParticipantPlan(self.study.design, int(row.seed), row.order_index)


class Participants:
    """Everything that participants ask for."""

    def __init__(self, database: Database, *, demo: bool = False) -> None:
        self._database = database
        self._demo = demo
        self._people: OrderedDict[str, Person] = OrderedDict()
        self._locks: dict[str, tuple[asyncio.Lock, list[None]]] = {}

    # Studies

    async def studies(self) -> list[Study]:
        """Every study."""
        return await self._database.ask(store.all_studies)

    async def study(self, name: str) -> Study:
        """The newest version of a study."""
        found = await self._database.ask(lambda connection: store.find_study(connection, name))
        if found is None:
            raise not_found(f"There is no study called {name!r} here.")
        return found

    def describe(self, study: Study, language: str | None) -> dict[str, Any]:
        """What somebody sees who has not agreed to anything yet."""
        design = study.design
        chosen = _language(design.languages, language)
        texts = design.texts(chosen)
        return {
            "study": design.name,
            "title": texts["title"],
            "open": study.open,
            "demo": self._demo,
            "language": chosen,
            "languages": list(design.languages),
            "consent": {"version": design.consent.version, "text": texts["consent.text"]},
            "texts": texts,
        }

    # Arriving

    async def arrive(
        self,
        study: Study,
        *,
        key: str,
        consent_version: str,
        language: str | None,
        kind: str,
        coming: Recruit | None,
    ) -> tuple[str, bool]:
        """The token of somebody who agreed, and whether they are new; the same key or id gives the same person."""
        if kind == "demo" and not self._demo:
            raise Refused(403, "forbidden", "This server does not run demos; start it with --demo.")
        given = check_answers(study.design, journey(study.design).find("consent"), {"version": consent_version})
        chosen = _language(study.design.languages, language)

        def job(connection: Connection) -> tuple[str, bool]:
            table = participants.c
            known = connection.execute(select(participants).where(table.study_id == study.id, table.key == key)).first()
            if known is None and coming is not None:
                known = connection.execute(
                    select(participants).where(
                        table.study_id == study.id,
                        table.kind == kind,
                        table.recruiter == coming.recruiter,
                        table.external_id == coming.external_id,
                    )
                ).first()
                if known is not None and not coming.known_to_one_only and kind == "real":
                    raise Refused(
                        403,
                        "forbidden",
                        "Somebody has already started with this link in another browser. Please go on there, or ask "
                        "whoever sent you the link for a personal one.",
                    )
            if known is not None:
                return known.token, False
            _refuse_if_closed(connection, study.id, kind)
            now = now_ms()
            seed, order = store.take_place(connection, study.id, kind, now)
            token = new_token()
            store.add_participant(
                connection,
                study_id=study.id,
                token=token,
                key=key,
                kind=kind,
                label=coming.external_id if coming is not None and coming.recruiter == "label" else None,
                recruiter=None if coming is None else coming.recruiter,
                external_id=None if coming is None else coming.external_id,
                recruiting=None if coming is None else store.as_json(dict(coming.more)),
                seed=str(seed),
                order_index=order,
                language=chosen,
                created_at=now,
                consented_at=now,
                last_seen=now,
            )
            number = connection.scalar(select(table.id).where(table.token == token))
            assert number is not None
            store.add_answer(connection, number, "consent", given, now, None)
            return token, True

        return await self._database.commit(job)

    # Where somebody is

    async def state(self, token: str, language: str | None = None) -> dict[str, Any]:
        """Everything the page needs to draw the current step."""
        async with self._person(token, fresh=True) as person:
            return await self._state(person, language)

    async def _state(self, person: Person, language: str | None) -> dict[str, Any]:
        row, study, step = person.stored.row, person.study, person.step
        design = study.design
        chosen = _language(design.languages, language or row.language)
        made: dict[str, Any] = {
            "participant": row.public_id,
            "study": design.name,
            "title": design.texts(chosen)["title"],
            "kind": row.kind,
            "language": chosen,
            "languages": list(design.languages),
            "step": {"kind": step.kind, "id": step.id},
            "progress": person.journey.progress(person.done),
            "limits": design.limits.to_dict(),
            "texts": design.texts(chosen),
            "task": {"kind": design.task.kind, "arms": list(design.arms)},
        }
        if step.kind == "episode":
            assert step.number is not None
            episode = await self._live(person, step.number)
            made["episode"] = participant_view(episode, chosen) | {"index": step.number}
        elif step.kind == "rest":
            assert step.number is not None
            view = participant_view(await self._live(person, step.number - 1), chosen)
            made["rest"] = {
                "practice": view["practice"],
                "done": view["episode"],
                "of": view["episodes"],
                "set": view["set"],
                "sets": view["sets"],
                "good": view["good"],
                "rounds": view["rounds"],
            }
        elif step.kind == "thanks":
            made["thanks"] = {"code": study.code, "return_url": _return_url(row.recruiter, study.code)}
        else:
            plan = None if row.order_index is None else person.plan
            made |= step_payload(design, plan, step, chosen, attempts=row.quiz_attempts)
        return made

    # Answering

    async def answer(
        self, token: str, step_id: str, answers: Any, ms: int | None = None, language: str | None = None
    ) -> dict[str, Any]:
        """Take the answers to a step; the same again is answered again, others come too late."""

        async def once(person: Person) -> dict[str, Any]:
            wrong = await self._answer(person, step_id, answers, ms, language)
            return {"accepted": not wrong, "wrong": wrong, "state": await self._state(person, language)}

        return await self._retry_stale(token, language, once)

    async def _answer(
        self, person: Person, step_id: str, answers: Any, ms: int | None, language: str | None
    ) -> list[str]:
        design, row = person.study.design, person.stored.row
        step = person.journey.find(step_id)
        given = check_answers(design, step, answers)
        if step.id in person.done:
            if person.stored.answers.get(step.id) == given:
                return []
            raise conflict("already-answered", "This was answered before; the first answers count.")
        if step != person.step:
            raise conflict("wrong-step", f"The step {step.id!r} is not the current one, which is {person.step.id!r}.")
        wrong = wrong_quiz_answers(design, given) if step.kind == "quiz" else []
        chosen = _language(design.languages, language or row.language)

        def job(connection: Connection) -> None:
            now = now_ms()
            changes: dict[str, Any] = {} if chosen == row.language else {"language": chosen}
            if step.kind == "quiz":
                changes["quiz_attempts"] = row.quiz_attempts + 1
            if step.kind == "consent":
                _refuse_if_closed(connection, person.study.id, row.kind)
                seed, order = store.take_place(connection, person.study.id, row.kind, now)
                changes |= {"seed": str(seed), "order_index": order, "consented_at": now}
            if not wrong and person.journey.after(step.id).kind == "thanks":
                changes["finished_at"] = now
            # First: whoever comes second must find out here, and not by a row that is there already.
            store.touch(connection, row.id, person.revision, now, **changes)
            if wrong:
                store.add_events(connection, row.id, [(now, "quiz-wrong", {"answers": given, "wrong": wrong})])
            else:
                store.add_answer(connection, row.id, step.id, given, now, ms)

        await self._write_for(person, job)
        await self._refresh(person)
        return wrong

    async def _retry_stale(
        self, token: str, language: str | None, once: Callable[[Person], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        """Do something for a person as stored: again, where another process has written meanwhile."""
        for _ in range(TRIES):
            async with self._person(token) as person:
                try:
                    return await once(person)
                except Stale:
                    self._forget(token)
                except Refused as error:
                    if error.status != 409:
                        raise
                    if not await self._outdated(person):
                        error.state = await self._state(person, language)
                        raise
                    self._forget(token)
        raise busy()

    # Playing

    async def play(self, token: str, number: int, moves: Sequence[Move], language: str | None = None) -> dict[str, Any]:
        """Play rounds of an episode, all or none; those stored under the same keys are answered from the store."""
        return await self._retry_stale(token, language, lambda person: self._play(person, number, moves))

    async def _play(self, person: Person, number: int, moves: Sequence[Move]) -> dict[str, Any]:
        step = person.step
        current = step.number if step.kind == "episode" else None
        if number != current and not (number in person.stored.episodes and f"episode-{number}" in person.done):
            raise conflict("wrong-step", f"Episode {number} is not being played; the current step is {step.id!r}.")
        episode = await self._live(person, number)
        new = _new_moves(episode, person.keys, moves)
        if new:
            row = person.stored.row
            known = person.stored.episodes.get(number)
            made = [(episode.play(move.t, move.arm), move) for move in new]

            def job(connection: Connection) -> int:
                number_ = None if known is None else known.id
                return store.play_rounds(
                    connection, row.id, person.revision, number_, episode, made, person.opened_at, now_ms()
                )

            await self._write_for(person, job)
            person.keys += [move.key for move in new]
            person.revision += 1
            if known is None or episode.finished:
                await self._refresh(person)
        played = episode.rounds
        return {
            "episode": number,
            "rounds": [
                {
                    "t": r.t,
                    "arms": list(arms_of(r)),
                    "good": None if (seen := seen_by_participant(r)) is None else bool(seen),
                }
                for r in (played[move.t - 1] for move in moves)
            ],
            "played": episode.played,
            "left": episode.left,
            "finished": episode.finished,
        }

    async def _live(self, person: Person, number: int) -> Episode:
        """The episode as far as it is stored; brought back from the log where it is not in memory."""
        if person.episode is not None and person.episode.plan.index == number:
            return person.episode
        plan = person.plan.episode(number)
        known = person.stored.episodes.get(number)
        if known is None:
            person.episode, person.keys, person.opened_at = Episode.open(plan), [], now_ms()
            return person.episode

        def rebuild(connection: Connection) -> tuple[Episode, list[str]]:
            # The rounds hang on the hash before the first: that of the warm start, which opening plays again.
            start = Episode.open(plan).head
            rounds, keys = load_rounds(connection, known.id, start)
            return Episode.rebuild(plan, rounds), keys

        try:
            episode, person.keys = await self._database.ask(rebuild)
        except BrokenLog as error:
            raise Refused(
                500,
                "damaged",
                "What is stored of this game does not fit together, so it cannot go on; nothing was "
                "changed. Please tell the researcher.",
            ) from error
        person.episode, person.opened_at = episode, known.opened_at
        return episode

    # Events

    async def note(self, token: str, found: Sequence[tuple[int, str, Any]]) -> None:
        """Keep what happened at the page; it also shows that somebody is there."""
        async with self._person(token) as person:
            row = person.stored.row
            allowed = found[: max(0, MOST_EVENTS - person.events)]
            person.events += len(allowed)

            def job(connection: Connection) -> None:
                if store.revision_of(connection, token) is None:
                    raise not_found(UNKNOWN_LINK)
                if allowed:
                    store.add_events(connection, row.id, allowed)
                store.seen(connection, row.id, now_ms())

            await self._database.commit(job)

    # Memory

    @contextlib.asynccontextmanager
    async def _person(self, token: str, *, fresh: bool = False) -> AsyncIterator[Person]:
        """One person, for one request at a time; ``fresh``: as stored this very moment."""
        lock, waiting = self._locks.setdefault(token, (asyncio.Lock(), []))
        waiting.append(None)
        try:
            async with lock:
                person = self._people.get(token)
                if person is not None and fresh:
                    revision = await self._database.ask(lambda connection: store.revision_of(connection, token))
                    if revision != person.revision:
                        self._forget(token)
                        person = None
                if person is None:
                    person = await self._load(token)
                    self._people[token] = person
                    while len(self._people) > MOST_PEOPLE_IN_MEMORY:
                        self._people.popitem(last=False)
                self._people.move_to_end(token)
                yield person
        finally:
            waiting.pop()
            if not waiting:
                self._locks.pop(token, None)

    async def _load(self, token: str) -> Person:
        stored = await self._database.ask(lambda connection: store.load_participant(connection, token))
        if stored is None:
            raise not_found(UNKNOWN_LINK)
        return Person(token, stored, journey(stored.study.design), stored.row.revision, _done(stored))

    async def _refresh(self, person: Person) -> None:
        """Read the person again after a write of their own, keeping the running episode."""
        stored = await self._database.ask(lambda connection: store.load_participant(connection, person.token))
        if stored is None:
            self._forget(person.token)
            raise not_found(UNKNOWN_LINK)
        if stored.row.revision != person.revision and person.episode is not None:
            known = stored.episodes.get(person.episode.plan.index)
            if known is None or known.head != person.episode.head:
                person.episode = None
        person.stored, person.revision, person.done = stored, stored.row.revision, _done(stored)

    async def _outdated(self, person: Person) -> bool:
        """Whether another process has written to the person since: a refusal may then be wrong."""
        revision = await self._database.ask(lambda connection: store.revision_of(connection, person.token))
        return revision != person.revision

    def _forget(self, token: str) -> None:
        self._people.pop(token, None)

    # The database

    async def _write_for(self, person: Person, job: Job[T]) -> T:
        """Write; whoever's write fails, or whose request is given up meanwhile, is read again next time."""
        try:
            return await self._database.commit(job)
        except BaseException:
            self._forget(person.token)
            raise


def _refuse_if_closed(connection: Connection, study: int, kind: str) -> None:
    current = store.study_by_id(connection, study)
    if current is None:
        raise not_found()
    if not current.open and kind == "real":
        raise Refused(403, "closed", "This study is closed: it takes no new participants at the moment.")


def _done(stored: store.Stored) -> set[str]:
    finished = {f"episode-{number}" for number, row in stored.episodes.items() if row.finished_at is not None}
    return set(stored.answers) | finished


def _new_moves(episode: Episode, keys: Sequence[str], moves: Sequence[Move]) -> list[Move]:
    """The moves that are not stored yet, after a check of all of them that changes nothing."""
    arms, rounds, stored = episode.plan.design.arms[0], episode.plan.rounds, episode.rounds
    new: list[Move] = []
    for before, move in zip([None, *moves], moves, strict=False):
        if not 0 <= move.arm < arms:
            raise InvalidInput(f"The arm of round {move.t} is {move.arm}; arms go from 0 to {arms - 1}.")
        if before is not None and move.t != before.t + 1:
            raise InvalidInput(f"Round {move.t} follows round {before.t}; the rounds of a request must be in a row.")
        if move.t <= len(stored):
            if keys[move.t - 1] != move.key:
                raise conflict("already-played", f"Round {move.t} has been played already, with another choice.")
            if arms_of(stored[move.t - 1])[PARTICIPANT] != move.arm:
                raise conflict("already-played", f"Round {move.t} was sent with this key and another arm before.")
        elif move.t > rounds:
            raise conflict("episode-over", f"There is no round {move.t}: the episode has {rounds} rounds.")
        elif move.t != len(stored) + len(new) + 1:
            raise conflict("out-of-order", f"Round {move.t} cannot be played yet: round {len(stored) + 1} is next.")
        else:
            new.append(move)
    return new


def _language(known: Sequence[str], wanted: str | None) -> str:
    """The language asked for, where the study speaks it; else its first."""
    return wanted if wanted is not None and wanted in known else known[0]


def _return_url(recruiter: str | None, code: str) -> str | None:
    if recruiter != "prolific":
        return None
    return f"https://app.prolific.com/submissions/complete?cc={quote(code)}"
