"""What a researcher may see and change: studies, people, their play, links, payments. The routes translate.

Reading happens in threads and never waits for the participants' writing; nothing but the sums behind the regret curves
is kept in memory, and those are only ever added to, episode by finished episode.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, delete, func, select
from sqlalchemy.exc import SQLAlchemyError

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.studies import ParticipantPlan, StudyDesign
from cobandit.studies.data import PEOPLE_KINDS, moment
from cobandit.studies.export import write_export
from cobandit.studies.journey import Step, attention_results, journey, wrong_quiz_answers
from cobandit.studies.plan import PRACTICE, EpisodePlan
from cobandit.web.refusals import busy, not_found
from cobandit.web.security import new_token
from cobandit.web.storage import store
from cobandit.web.storage.database import Database
from cobandit.web.storage.gather import study_data
from cobandit.web.storage.rounds import EpisodeCounts, arms_by_episode, count_rounds, counts_by_episode, rounds_from
from cobandit.web.storage.schema import answers, episodes, events, participants, studies
from cobandit.web.storage.store import Study, now_ms

T = TypeVar("T")

STATUSES = ("active", "idle", "dropped", "invited", "finished")
MOST_LINKS = 500
MOST_POINTS = 200
MOST_EVENTS_SHOWN = 500
CURVE_SECONDS = 1.5  # what one question for curves may cost; the rest waits for the next
EPISODES_AT_ONCE = 40


def status(row: Row[Any], design: StudyDesign, now: int) -> str:
    """How somebody is getting on: at it, idle (unseen since the warning), dropped, only invited, or finished."""
    if row.finished_at is not None:
        return "finished"
    if row.consented_at is None:
        return "invited"
    seen = row.last_seen or row.consented_at
    if seen < store.active_since(design, now):
        return "dropped"
    return "idle" if seen < now - design.limits.warn_seconds * 1000 else "active"


@dataclass
class _Sums:
    """The finished episodes of one participant in one condition: their regrets added up, at the points of a curve."""

    total: NDArray[np.float64]
    counted: int = 0
    known: set[int] = field(default_factory=set)


class Admin:
    """Everything that the researcher's pages ask for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sums: dict[tuple[int, str], dict[tuple[int, str], _Sums]] = {}
        self._summing = asyncio.Lock()
        self._exporting = asyncio.Lock()

    # Studies

    async def studies(self) -> list[dict[str, Any]]:
        """Every study with how many people are where."""

        def ask(connection: Connection) -> list[dict[str, Any]]:
            now = now_ms()
            known = store.all_studies(connection)
            designs = {study.id: study.design for study in known}
            counts = {study.id: _no_counts() for study in known}
            columns = (
                participants.c[name] for name in ("study_id", "kind", "consented_at", "finished_at", "last_seen")
            )
            for row in connection.execute(select(*columns)):
                counts[row.study_id][row.kind][status(row, designs[row.study_id], now)] += 1
            newest: set[str] = set()
            made = []
            for study in known:
                made.append(about(study) | {"newest": study.name not in newest, "counts": counts[study.id]})
                newest.add(study.name)
            return made

        return await self._database.ask(ask)

    async def study(self, number: int) -> Study:
        """One study."""
        return await self._database.ask(lambda connection: _study(connection, number))

    async def set_open(self, number: int, open: bool) -> None:
        """Let new people in, or no more; whoever has begun may finish."""

        def job(connection: Connection) -> None:
            _study(connection, number)
            store.set_open(connection, number, open)

        await self._database.commit(job)

    async def pulse(self, number: int) -> str:
        """Something that changes whenever anybody of the study does anything."""

        def ask(connection: Connection) -> str:
            people = participants.c
            query = select(func.max(people.last_seen), func.count(), func.sum(people.revision)).where(
                people.study_id == number
            )
            state = connection.scalar(select(studies.c.status).where(studies.c.id == number))
            return "-".join(map(str, (*connection.execute(query).one(), state)))

        return await self._database.ask(ask)

    # People

    async def live(self, number: int, kind: str) -> dict[str, Any]:
        """Who is where: people of one kind, and counts by status, order and condition."""

        def ask(connection: Connection) -> dict[str, Any]:
            study, now = _study(connection, number), now_ms()
            people = connection.execute(
                select(participants).where(participants.c.study_id == number).order_by(participants.c.id)
            ).all()
            counts = _no_counts()
            for row in people:
                counts[row.kind][status(row, study.design, now)] += 1
            shown = [row for row in people if row.kind == kind]
            played = _played(connection, number, kind)
            running = _running(connection, number, kind)
            done = _answered(connection, number, kind)
            entries = [
                _entry(row, study, now, played.get(row.id, {}), running.get(row.id), done.get(row.id, 0))
                for row in shown
            ]
            return {
                "study": about(study),
                "now": now,
                "kind": kind,
                "limits": study.design.limits.to_dict(),
                "counts": counts,
                "orders": _orders(study.design, entries),
                "conditions": _conditions(study.design, played),
                "participants": entries,
            }

        return await self._database.ask(ask)

    async def participant(self, number: int, public_id: str) -> dict[str, Any]:
        """All about one participant but the rounds, which come by `rounds`."""

        def ask(connection: Connection) -> dict[str, Any]:
            study, now = _study(connection, number), now_ms()
            row = _person(connection, number, public_id)
            given = connection.execute(
                select(answers).where(answers.c.participant_id == row.id).order_by(answers.c.at, answers.c.step)
            ).all()
            mine = events.c.participant_id == row.id
            happened = connection.execute(
                select(events).where(mine).order_by(events.c.id.desc()).limit(MOST_EVENTS_SHOWN)
            ).all()
            played = _played(connection, number, row.kind, row.id).get(row.id, {})
            running = _running(connection, number, row.kind, row.id).get(row.id)
            return _entry(row, study, now, played, running, len(given)) | {
                "study": about(study),
                "now": now,
                "arms": [list(labels) for labels in study.design.task.arms],
                "answers": [_answer(study.design, row, one) for one in given],
                "episodes": _episodes(connection, study, row),
                "events": [
                    {"at": event.at, "kind": event.kind, "data": json.loads(event.data)} for event in reversed(happened)
                ],
                "events_total": connection.scalar(select(func.count()).select_from(events).where(mine)) or 0,
            }

        return await self._database.ask(ask)

    async def rounds(self, number: int, public_id: str, episode: int, first: int, limit: int) -> dict[str, Any]:
        """Some rounds of an episode, in full."""

        def ask(connection: Connection) -> dict[str, Any]:
            study = _study(connection, number)
            row = _person(connection, number, public_id)
            known = connection.execute(
                select(episodes).where(episodes.c.participant_id == row.id, episodes.c.number == episode)
            ).first()
            if known is None:
                raise not_found(f"{public_id} has not played episode {episode}.")
            plan = _plan(study.design, row).episode(episode)
            lost = _losses(plan)
            return {
                "episode": episode,
                "condition": plan.condition,
                "played": known.played,
                "rounds": [
                    {
                        "t": r.t,
                        "arms": list(r.arms),
                        "reward": r.reward,
                        "seen": list(r.seen),
                        "predicted": r.predicted,
                        "regret": float(lost[r.arms]),
                        "at": r.at,
                        "ms": r.ms,
                    }
                    for r in rounds_from(connection, known.id, first, limit)
                ],
            }

        return await self._database.ask(ask)

    async def delete(self, number: int, public_id: str) -> dict[str, int]:
        """Delete a participant with everything of theirs; how much that was."""

        def job(connection: Connection) -> dict[str, int]:
            row = _person(connection, number, public_id)
            lost = holdings(connection, row.id)
            connection.execute(delete(participants).where(participants.c.id == row.id))
            return lost

        return await self._database.commit(job)

    # Links and payments

    async def make_links(self, number: int, labels: Sequence[str | None], kind: str) -> list[dict[str, Any]]:
        """Invite as many people as there are labels; each gets a link of their own."""
        if not 1 <= len(labels) <= MOST_LINKS:
            raise InvalidInput(f"{len(labels)} links are asked for; from 1 to {MOST_LINKS} can be made at once.")
        made = [
            {"participant": store.public_id(), "label": label, "path": new_token(), "kind": kind} for label in labels
        ]

        def job(connection: Connection) -> None:
            _study(connection, number)
            now = now_ms()
            for one in made:
                store.add_participant(
                    connection,
                    study_id=number,
                    public_id=one["participant"],
                    token=one["path"],
                    kind=kind,
                    label=one["label"],
                    created_at=now,
                )

        await self._database.commit(job)
        return [one | {"path": f"/p/{one['path']}", "status": "invited"} for one in made]

    async def links(self, number: int, kind: str) -> list[dict[str, Any]]:
        """The personal links of everybody who was invited by one."""

        def ask(connection: Connection) -> list[dict[str, Any]]:
            study, now = _study(connection, number), now_ms()
            people = participants.c
            # Whoever came by the open link brought a key of the page; the invited have none.
            found = connection.execute(
                select(participants)
                .where(people.study_id == number, people.kind == kind, people.key.is_(None))
                .order_by(people.id)
            )
            return [
                {
                    "participant": row.public_id,
                    "label": row.label,
                    "path": f"/p/{row.token}",
                    "kind": row.kind,
                    "status": status(row, study.design, now),
                }
                for row in found
            ]

        return await self._database.ask(ask)

    async def payments(self, number: int, kind: str = "real") -> list[dict[str, Any]]:
        """Everybody who has finished, and what is needed to pay them."""

        def ask(connection: Connection) -> list[dict[str, Any]]:
            study = _study(connection, number)
            mine = (
                participants.c.study_id == number,
                participants.c.kind == kind,
                participants.c.finished_at.is_not(None),
            )
            surveys: dict[int, dict[str, Any]] = defaultdict(dict)
            if study.design.attention:
                steps = [f"survey-{place + 1}" for place in range(len(study.design.conditions))]
                for person, text in connection.execute(
                    select(answers.c.participant_id, answers.c.answers)
                    .join(participants, participants.c.id == answers.c.participant_id)
                    .where(*mine, answers.c.step.in_(steps))
                ):
                    surveys[person] |= json.loads(text)
            found = connection.execute(
                select(participants).where(*mine).order_by(participants.c.finished_at, participants.c.id)
            )
            return [
                {
                    "participant": row.public_id,
                    "label": row.label,
                    "recruiter": row.recruiter,
                    "external_id": row.external_id,
                    "finished_at": row.finished_at,
                    "code": study.code,
                    "minutes": round((row.finished_at - row.consented_at) / 60_000, 1) if row.consented_at else None,
                    "attention_passed": _all_or_none(attention_results(study.design, surveys[row.id])),
                }
                for row in found
            ]

        return await self._database.ask(ask)

    # Export

    async def export(self, number: int, *, format: str, kind: str, recruiting: bool) -> tuple[str, IO[bytes]]:
        """A name for a zip file, and the file, which is gone from the disk once it is closed."""
        require_extras("Exporting Parquet files", parquet=format == "parquet")
        study = await self.study(number)

        def make() -> IO[bytes]:
            folder = Path(tempfile.mkdtemp(prefix="cobandit-export-"))
            packed: IO[bytes] | None = None
            try:
                with self._database.reading.connect() as connection:
                    data = study_data(connection, study, kind)
                write_export(data, folder / "export", format=format, recruiting=recruiting)
                packed = tempfile.TemporaryFile()  # noqa: SIM115 -- the answer closes it, once it is sent
                with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                    for path in sorted((folder / "export").rglob("*")):
                        archive.write(path, Path(name) / path.relative_to(folder / "export"))
                packed.seek(0)
                return packed
            except BaseException:
                if packed is not None:
                    packed.close()
                raise
            finally:
                shutil.rmtree(folder, ignore_errors=True)

        name = f"{study.name}-v{study.design.version}-{kind}-{format}"
        async with self._exporting:  # one after the other: a casino study fills a lot of memory
            try:
                return f"{name}.zip", await asyncio.to_thread(make)
            except SQLAlchemyError as error:
                raise busy() from error

    # Regret curves

    async def curves(self, number: int, kind: str) -> dict[str, Any]:
        """The mean cumulative task regret of each condition, over the finished episodes that count.

        A participant's curve is the mean over their episodes; mean and standard error are over participants. Where a
        lot is new, ``pending`` says how many episodes are still left out: ask again.
        """
        study = await self.study(number)
        async with self._summing:
            return await self._database.ask(lambda connection: self._curves(connection, study, kind))

    def _curves(self, connection: Connection, study: Study, kind: str) -> dict[str, Any]:
        design = study.design
        points = _points(design.rounds)
        sums = self._sums.setdefault((study.id, kind), {})
        pending = self._add_up(connection, study, kind, sums, points)
        made = []
        for condition in design.conditions:
            there = [sums[key] for key in sorted(sums) if key[1] == condition.name and sums[key].counted]
            curves = np.array([one.total / one.counted for one in there])
            n = len(there)
            error = curves.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None
            made.append(
                {
                    "name": condition.name,
                    "n": n,
                    "episodes": sum(one.counted for one in there),
                    "mean": curves.mean(axis=0).tolist() if n else [],
                    "se": None if error is None else error.tolist(),
                }
            )
        return {"kind": kind, "rounds": points.tolist(), "conditions": made, "pending": pending}

    def _add_up(
        self,
        connection: Connection,
        study: Study,
        kind: str,
        sums: dict[tuple[int, str], _Sums],
        points: NDArray[np.int64],
    ) -> int:
        """Add what has been finished since, as far as time allows; how many episodes are left."""
        until = time.monotonic() + CURVE_SECONDS
        columns = (episodes.c.id, episodes.c.participant_id, episodes.c.number, episodes.c.condition)
        finished = connection.execute(
            select(*columns, participants.c.seed, participants.c.order_index)
            .join(participants, participants.c.id == episodes.c.participant_id)
            .where(
                participants.c.study_id == study.id,
                participants.c.kind == kind,
                episodes.c.finished_at.is_not(None),
                episodes.c.condition != PRACTICE,
            )
            .order_by(episodes.c.id)
        ).all()
        there = {(row.participant_id, row.condition) for row in finished}
        for gone in [key for key in sums if key not in there]:  # somebody was deleted
            del sums[gone]
        for key in there:
            sums.setdefault(key, _Sums(np.zeros(len(points))))
        new = [row for row in finished if row.id not in sums[row.participant_id, row.condition].known]
        done = 0
        while done < len(new) and time.monotonic() < until:
            some = new[done : done + EPISODES_AT_ONCE]
            played = arms_by_episode(connection, [row.id for row in some])
            for row in some:
                kept = sums[row.participant_id, row.condition]
                kept.known.add(row.id)
                arms = played.get(row.id)
                if arms is None or len(arms) != study.design.rounds:
                    continue  # not as it should be; verifying the study tells more
                plan = EpisodePlan(study.design, int(row.seed), row.order_index, row.number)
                kept.total += np.cumsum(_losses(plan)[tuple(arms.T)])[points - 1]
                kept.counted += 1
            done += len(some)
        return len(new) - done


def about(study: Study) -> dict[str, Any]:
    """What identifies a study."""
    design = study.design
    return {
        "id": study.id,
        "name": study.name,
        "version": design.version,
        "title": design.title,
        "task": design.task.kind,
        "open": study.open,
        "created_at": study.created_at,
        "conditions": [condition.name for condition in design.conditions],
        "rounds": design.rounds,
        "episodes": design.episodes,
        "code": study.code,
        "words": {key: getattr(design.task, key) for key in ("participant", "partner", "configuration", "good", "bad")},
    }


def holdings(connection: Connection, participant: int) -> dict[str, int]:
    """How much is stored of a participant."""

    def count(table: Any, *where: Any) -> int:
        return connection.scalar(select(func.count()).select_from(table).where(*where)) or 0

    return {
        "episodes": count(episodes, episodes.c.participant_id == participant),
        "rounds": count_rounds(connection, participant),
        "answers": count(answers, answers.c.participant_id == participant),
        "events": count(events, events.c.participant_id == participant),
    }


def _no_counts() -> dict[str, dict[str, int]]:
    return {kind: dict.fromkeys(STATUSES, 0) for kind in PEOPLE_KINDS}


def _study(connection: Connection, number: int) -> Study:
    found = store.study_by_id(connection, number)
    if found is None:
        raise not_found(f"There is no study number {number}.")
    return found


def _person(connection: Connection, study: int, public_id: str) -> Row[Any]:
    found = connection.execute(
        select(participants).where(participants.c.study_id == study, participants.c.public_id == public_id)
    ).first()
    if found is None:
        raise not_found(f"Nobody in this study is called {public_id!r}; perhaps they were deleted.")
    return found


def _plan(design: StudyDesign, row: Row[Any]) -> ParticipantPlan:
    return ParticipantPlan(design, int(row.seed), row.order_index)


def _losses(plan: EpisodePlan) -> NDArray[np.float64]:
    """The task regret of one round, by team action as labelled in the episode."""
    means: NDArray[np.float64] = plan.means
    lost: NDArray[np.float64] = means.max() - means
    return lost


def _points(length: int) -> NDArray[np.int64]:
    """The rounds at which curves are told, the last one always."""
    return np.unique(np.linspace(1, length, min(length, MOST_POINTS)).round().astype(np.int64))


Played = dict[str, tuple[int, int]]
"""By condition: rounds played, episodes finished."""


def _mine(study: int, kind: str, one: int | None) -> list[Any]:
    where = [participants.c.study_id == study, participants.c.kind == kind]
    return where if one is None else [*where, participants.c.id == one]


def _played(connection: Connection, study: int, kind: str, one: int | None = None) -> dict[int, Played]:
    query = (
        select(
            episodes.c.participant_id,
            episodes.c.condition,
            func.sum(episodes.c.played),
            func.count(episodes.c.finished_at),
        )
        .join(participants, participants.c.id == episodes.c.participant_id)
        .where(*_mine(study, kind, one))
        .group_by(episodes.c.participant_id, episodes.c.condition)
    )
    made: dict[int, Played] = defaultdict(dict)
    for person, condition, played, finished in connection.execute(query):
        made[person][condition] = int(played), int(finished)
    return made


def _running(connection: Connection, study: int, kind: str, one: int | None = None) -> dict[int, tuple[int, int]]:
    """Whose episode is under way: which one, and how many rounds of it are played."""
    query = (
        select(episodes.c.participant_id, episodes.c.number, episodes.c.played)
        .join(participants, participants.c.id == episodes.c.participant_id)
        .where(*_mine(study, kind, one), episodes.c.finished_at.is_(None))
    )
    return {person: (number, played) for person, number, played in connection.execute(query)}


def _answered(connection: Connection, study: int, kind: str) -> dict[int, int]:
    query = (
        select(answers.c.participant_id, func.count())
        .join(participants, participants.c.id == answers.c.participant_id)
        .where(*_mine(study, kind, None), participants.c.finished_at.is_(None))
        .group_by(answers.c.participant_id)
    )
    return {person: int(count) for person, count in connection.execute(query)}


def _entry(
    row: Row[Any], study: Study, now: int, played: Played, running: tuple[int, int] | None, answered: int
) -> dict[str, Any]:
    """One participant in a line. Steps are done in their order, so counting those done tells which one is next."""
    design = study.design
    steps = journey(design).steps
    finished = sum(count for _, count in played.values())
    place = len(steps) - 1 if row.finished_at is not None else min(answered + finished, len(steps) - 1)
    practices = 0 if design.practice is None else design.practice.episodes * design.practice.rounds
    return {
        "participant": row.public_id,
        "kind": row.kind,
        "label": row.label,
        "recruiter": row.recruiter,
        "external_id": row.external_id,
        "status": status(row, design, now),
        "step": {"kind": steps[place].kind, "id": steps[place].id},
        "episode": _where(design, row, steps[place], running),
        "progress": {"done": place, "total": len(steps) - 1},
        "rounds": {
            "played": sum(count for count, _ in played.values()),
            "total": practices + len(design.conditions) * design.episodes * design.rounds,
        },
        "order_index": row.order_index,
        "order": None if row.order_index is None else list(design.orders[row.order_index]),
        "language": row.language,
        "quiz_attempts": row.quiz_attempts,
        "created_at": row.created_at,
        "started_at": row.consented_at,
        "last_seen": row.last_seen,
        "idle_seconds": None if row.last_seen is None else max(0, now - row.last_seen) // 1000,
        "finished_at": row.finished_at,
        "path": f"/p/{row.token}",
    }


def _where(design: StudyDesign, row: Row[Any], step: Step, running: tuple[int, int] | None) -> dict[str, Any] | None:
    if step.kind not in ("episode", "rest") or step.number is None or row.order_index is None:
        return None
    plan = _plan(design, row).episode(step.number)
    return {
        "number": plan.index,
        "practice": plan.practice,
        "set": plan.set + 1,
        "sets": len(design.conditions),
        "place": plan.number + 1,
        "of": plan.siblings,
        "condition": plan.condition,
        "played": running[1] if running is not None and running[0] == plan.index else 0,
        "rounds": plan.rounds,
    }


def _orders(design: StudyDesign, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    counted = Counter((entry["order_index"], entry["status"]) for entry in entries)
    return [
        {"order": list(order), "counts": {name: counted[i, name] for name in STATUSES if name != "invited"}}
        for i, order in enumerate(design.orders)
    ]


def _conditions(design: StudyDesign, played: Mapping[int, Played]) -> list[dict[str, Any]]:
    made = []
    for condition in design.conditions:
        mine = [person[condition.name] for person in played.values() if condition.name in person]
        made.append(
            {
                "name": condition.name,
                "begun": len(mine),
                "finished": sum(finished == design.episodes for _, finished in mine),
                "episodes": sum(finished for _, finished in mine),
                "rounds": sum(count for count, _ in mine),
            }
        )
    return made


def _episodes(connection: Connection, study: Study, row: Row[Any]) -> list[dict[str, Any]]:
    """What the participant has played so far, episode by episode, and how each configuration went."""
    if row.order_index is None:
        return []
    known = connection.execute(
        select(episodes).where(episodes.c.participant_id == row.id).order_by(episodes.c.number)
    ).all()
    counts = counts_by_episode(connection, row.id)
    plan = _plan(study.design, row)
    made = []
    for episode in known:
        mine = plan.episode(episode.number)
        lost, counted = _losses(mine), counts.get(episode.id, EpisodeCounts())
        made.append(
            {
                "number": episode.number,
                "practice": mine.practice,
                "set": mine.set + 1,
                "place": mine.number + 1,
                "of": mine.siblings,
                "condition": mine.condition,
                "swapped": mine.swapped,
                "rounds": mine.rounds,
                "played": episode.played,
                "good": counted.good,
                "regret": sum(count * float(lost[cell]) for cell, (count, _) in counted.cells.items()),
                "reaction_ms": round(counted.ms / counted.timed) if counted.timed else None,
                "opened_at": episode.opened_at,
                "finished_at": episode.finished_at,
                "cells": [
                    {"arms": list(cell), "mean": float(mean), "played": count, "good": good}
                    for cell, mean in np.ndenumerate(mine.means)
                    for count, good in (counted.cells.get(cell, (0, 0.0)),)
                ],
            }
        )
    return made


def _answer(design: StudyDesign, row: Row[Any], stored: Row[Any]) -> dict[str, Any]:
    """The answers to one step with the texts they answer, in the order in which they were asked."""
    step = journey(design).find(stored.step)
    given = json.loads(stored.answers)
    texts = design.texts()
    items: list[dict[str, Any]] = []
    if step.kind == "consent":
        items = [{"id": "version", "text": "Version of the text", "value": given["version"], "right": None}]
    elif step.kind in ("demographics", "quiz"):
        wrong = wrong_quiz_answers(design, given) if step.kind == "quiz" else []
        for id, value in given.items():
            choice = texts.get(f"{step.kind}.{id}.{value}")
            items.append(
                {
                    "id": id,
                    "text": texts[f"{step.kind}.{id}"],
                    "value": value if choice is None else choice,
                    "right": id not in wrong if step.kind == "quiz" else None,
                }
            )
    elif step.kind == "survey":
        checks = attention_results(design, given)
        for id in _plan(design, row).survey_order((step.number or 1) - 1):
            text = texts[f"{'attention' if id in checks else 'survey'}.{id}"]
            items.append({"id": id, "text": text, "value": given.get(id), "right": checks.get(id)})
    return {"step": step.id, "kind": step.kind, "at": stored.at, "ms": stored.ms, "items": items}


def _all_or_none(results: Mapping[str, bool]) -> bool | None:
    return all(results.values()) if results else None


def iso(milliseconds: int | None) -> str:
    """A time for a table: ISO 8601, UTC; nothing, where there is none."""
    made = moment(milliseconds)
    return "" if made is None else made.isoformat(timespec="seconds").replace("+00:00", "Z")
