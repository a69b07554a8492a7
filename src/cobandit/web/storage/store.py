"""What is asked of the database, each question a function of a connection."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import Connection, Insert, Row, bindparam, delete, exists, func, insert, select, update

from cobandit import __version__
from cobandit.analysis.plan import parse_plan, text_digest
from cobandit.base.errors import InvalidInput
from cobandit.studies import Episode, Places, Round, StudyDesign, next_order
from cobandit.studies.journey import completion_code
from cobandit.web.storage.rounds import Move, insert_rounds, round_values
from cobandit.web.storage.schema import answers, episodes, events, participants, rounds, settings, studies

DEMO_MS = 86_400_000
"""How long a demo is kept: a day."""

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else


def as_json(data: Any) -> str:
    """Plain data as it is kept in a text column."""
    return json.dumps(data, ensure_ascii=False)


def now_ms() -> int:
    """The time: milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Study:
    """A stored study."""

    id: int
    design: StudyDesign
    seed: int
    code: str
    open: bool
    created_at: int
    versions: Mapping[str, str]
    plan: str | None
    plan_digest: str | None
    plan_fixed_at: int | None

    @property
    def name(self) -> str:
        """The name in its links."""
        return self.design.name


@lru_cache(maxsize=256)
def _design(text: str, digest: str) -> StudyDesign:
    design = StudyDesign.from_dict(json.loads(text), "the stored design")
    if design.digest != digest:
        raise InvalidInput(f"The stored design of {design.name!r} is not the one that its digest vouches for.")
    return design


def _study(row: Row[Any]) -> Study:
    return Study(
        row.id,
        _design(row.design, row.digest),
        int(row.seed),
        row.code,
        row.status == "open",
        row.created_at,
        json.loads(row.versions),
        row.plan,
        row.plan_digest,
        row.plan_fixed_at,
    )


def all_studies(connection: Connection) -> list[Study]:
    """Every study, the newest version of each name first."""
    rows = connection.execute(select(studies).order_by(studies.c.name, studies.c.version.desc()))
    return [_study(row) for row in rows]


def find_study(connection: Connection, name: str, version: int | None = None) -> Study | None:
    """A study by name; the newest version, where none is given."""
    query = select(studies).where(studies.c.name == name).order_by(studies.c.version.desc()).limit(1)
    row = connection.execute(query if version is None else query.where(studies.c.version == version)).first()
    return None if row is None else _study(row)


def study_by_id(connection: Connection, number: int) -> Study | None:
    """A study by its number."""
    row = connection.execute(select(studies).where(studies.c.id == number)).first()
    return None if row is None else _study(row)


def register_study(connection: Connection, design: StudyDesign, seed: int | None = None) -> Study:
    """The study of a design, made where it is new; a changed design is refused once somebody takes part."""
    known = find_study(connection, design.name, design.version)
    if known is not None and known.design.digest == design.digest:
        if seed is not None and seed != known.seed:
            raise InvalidInput(f"The study {design.name!r}, version {design.version}, has another seed already.")
        return known
    made = {
        "digest": design.digest,
        "design": as_json(design.to_dict()),
        "code": design.completion_code or completion_code(),
        "versions": as_json({"cobandit": __version__, "numpy": np.__version__}),
    }
    if known is not None:
        _refuse_if_begun(connection, known)
        # Invited people keep their links: what they have not seen yet may still change.
        connection.execute(
            delete(participants).where(participants.c.study_id == known.id, participants.c.consented_at.is_not(None))
        )
        connection.execute(
            update(participants).where(participants.c.study_id == known.id).values(revision=participants.c.revision + 1)
        )
        connection.execute(update(studies).where(studies.c.id == known.id).values(**made))
    else:
        connection.execute(
            insert(studies).values(
                name=design.name,
                version=design.version,
                seed=str(secrets.randbits(64) if seed is None else seed),
                status="open",
                arrivals=0,
                created_at=now_ms(),
                **made,
            )
        )
    stored = find_study(connection, design.name, design.version)
    assert stored is not None
    return stored


def _refuse_if_begun(connection: Connection, study: Study) -> None:
    """A design is fixed once somebody plays by it; demos do not count."""
    rows = connection.execute(
        select(participants.c.kind, func.count())
        .where(participants.c.study_id == study.id, participants.c.consented_at.is_not(None))
        .group_by(participants.c.kind)
    )
    counts: dict[str, int] = {row.kind: row[1] for row in rows}
    version = study.design.version
    if counts.get("real"):
        raise InvalidInput(
            f"The design of {study.name!r} has changed, and {counts['real']} participants belong to version {version} "
            f"as it was. A new version is a new study: set version = {version + 1}."
        )
    if counts.get("rehearsal"):
        raise InvalidInput(
            f"The design of {study.name!r} has changed, and {counts['rehearsal']} simulated participants belong to it "
            f"as it was. Delete them (cobandit study delete-participant {study.name} --rehearsals), or set version = "
            f"{version + 1}."
        )


def set_open(connection: Connection, study: int, open: bool) -> None:
    """Open or close a study to new people; whoever has begun may always finish."""
    connection.execute(update(studies).where(studies.c.id == study).values(status="open" if open else "closed"))


def set_plan(connection: Connection, study: int, text: str, *, late: bool = False) -> str:
    """Store an analysis plan (TOML) with a study; its SHA-256, which is fixed when the first person gives consent.

    A plan that came before the data is never replaced. Once a real participant has started, a first plan is refused
    unless ``late`` says that this is meant; the stored text then tells how many had started, and an analysis calls
    every result exploratory.
    """
    row = connection.execute(select(studies).where(studies.c.id == study).with_for_update()).one()
    design = _study(row).design
    if parse_plan(text).checked(design).late:
        raise InvalidInput("The plan says late, which is not written by hand; take the line out of the file.")
    started = connection.scalar(
        select(func.count())
        .select_from(participants)
        .where(
            participants.c.study_id == study, participants.c.kind == "real", participants.c.consented_at.is_not(None)
        )
    )
    if row.plan_fixed_at is not None and not parse_plan(row.plan, "the stored plan").late:
        raise InvalidInput(
            f"The analysis plan of {design.name!r} was fixed when the first participant started and is not replaced. "
            "`cobandit study analyse --plan FILE` follows another one, and its results are exploratory."
        )
    if started and not late:
        raise InvalidInput(
            f"{started} participant{' has' if started == 1 else 's have'} started in {design.name!r} already, so this "
            "plan comes after the data. With --late it is stored all the same, and every result is exploratory."
        )
    if started:
        text = f"late = {started}  # people who had started when this plan was stored; written by cobandit\n{text}"
    digest = text_digest(text)
    changes = {"plan": text, "plan_digest": digest, "plan_fixed_at": now_ms() if started else None}
    connection.execute(update(studies).where(studies.c.id == study).values(**changes))
    return digest


@dataclass(frozen=True)
class Stored:
    """A participant as stored, with the answers and with where each episode stands."""

    row: Row[Any]
    study: Study
    answers: dict[str, Any]
    episodes: dict[int, Row[Any]]


def revision_of(connection: Connection, token: str) -> int | None:
    """How often the participant was written, None where there is none of this link."""
    return connection.scalar(select(participants.c.revision).where(participants.c.token == token))


def load_participant(connection: Connection, token: str) -> Stored | None:
    """The participant of a personal link."""
    row = connection.execute(select(participants).where(participants.c.token == token)).first()
    if row is None:
        return None
    study = study_by_id(connection, row.study_id)
    assert study is not None
    given = connection.execute(select(answers.c.step, answers.c.answers).where(answers.c.participant_id == row.id))
    played = connection.execute(select(episodes).where(episodes.c.participant_id == row.id))
    return Stored(
        row,
        study,
        {answer.step: json.loads(answer.answers) for answer in given},
        {episode.number: episode for episode in played},
    )


def active_since(design: StudyDesign, now: int) -> int:
    """Whoever was last seen before this has left."""
    return now - design.limits.idle_seconds * 1000


def places(connection: Connection, study: Study, kind: str, now: int) -> Places:
    """How many of each order have finished, and how many are at it."""
    counted = connection.execute(
        select(participants.c.order_index, participants.c.finished_at.is_not(None).label("done"), func.count())
        .where(
            participants.c.study_id == study.id,
            participants.c.kind == kind,
            participants.c.order_index.is_not(None),
            participants.c.finished_at.is_not(None) | (participants.c.last_seen >= active_since(study.design, now)),
        )
        .group_by(participants.c.order_index, participants.c.finished_at.is_not(None))
    ).all()
    orders = range(len(study.design.orders))
    held = {(order, bool(done)): count for order, done, count in counted}
    return Places(
        tuple(held.get((order, True), 0) for order in orders), tuple(held.get((order, False), 0) for order in orders)
    )


def take_place(connection: Connection, study_id: int, kind: str, now: int) -> tuple[int, int]:
    """Seed and order for the next person; everything is counted and taken in the caller's transaction."""
    # PostgreSQL: whoever comes at the same time waits here. SQLite has one writer anyway.
    row = connection.execute(select(studies).where(studies.c.id == study_id).with_for_update()).one()
    study = _study(row)
    order = next_order(study.design, places(connection, study, kind, now), study.seed, row.arrivals)
    key = hashlib.sha256(f"participant:{study.seed}:{row.arrivals}".encode()).digest()
    changes: dict[str, Any] = {"arrivals": row.arrivals + 1}
    if kind == "real" and row.plan is not None and row.plan_fixed_at is None:
        changes["plan_fixed_at"] = now
    connection.execute(update(studies).where(studies.c.id == study_id).values(**changes))
    return int.from_bytes(key[:16], "big"), order


def public_id() -> str:
    """A pseudonym."""
    return "p-" + "".join(secrets.choice(_ALPHABET) for _ in range(8))


def add_participant(connection: Connection, **values: Any) -> None:
    """A new participant; what is not given is empty."""
    connection.execute(
        insert(participants).values(**({"public_id": public_id(), "quiz_attempts": 0, "revision": 0} | values))
    )


_TOUCH = (
    update(participants)
    .where(participants.c.id == bindparam("b_id"), participants.c.revision == bindparam("b_revision"))
    .values(revision=participants.c.revision + 1, last_seen=bindparam("b_now"))
)


class Stale(Exception):
    """Somebody else has written to this participant since it was read."""


def touch(connection: Connection, participant: int, revision: int, now: int, **changes: Any) -> None:
    """One more write to a participant, which must be as it was read."""
    statement = _TOUCH.values(**changes) if changes else _TOUCH
    done = connection.execute(statement, {"b_id": participant, "b_revision": revision, "b_now": now})
    if done.rowcount != 1:
        raise Stale


_ADVANCE = (
    update(episodes)
    .where(episodes.c.id == bindparam("b_id"))
    .values(played=bindparam("b_played"), head=bindparam("b_head"), finished_at=bindparam("b_finished"))
)


def append_rounds(
    connection: Connection,
    participant: int,
    episode_id: int | None,
    episode: Episode,
    made: Sequence[tuple[Round, Move]],
    opened_at: int,
    now: int,
) -> int:
    """Rounds at the end of an episode's log; the number of the episode, which the first ones create."""
    standing = {
        "played": episode.played,
        "head": episode.head,
        "finished_at": now if episode.finished else None,
    }
    if episode_id is None:
        result = connection.execute(
            insert(episodes).values(
                participant_id=participant,
                number=episode.plan.index,
                condition=episode.plan.condition,
                opened_at=opened_at,
                **standing,
            )
        )
        assert result.inserted_primary_key is not None
        episode_id = int(result.inserted_primary_key[0])
    else:
        connection.execute(
            _ADVANCE,
            {
                "b_id": episode_id,
                "b_played": standing["played"],
                "b_head": standing["head"],
                "b_finished": standing["finished_at"],
            },
        )
    insert_rounds(connection, episode_id, made, now)
    return episode_id


def _one_round() -> Insert:
    """Touch, advance and append as one statement, which PostgreSQL knows: one way to the server instead of three."""
    touched = _TOUCH.returning(participants.c.id).cte("touched")
    advanced = (
        update(episodes)
        .where(episodes.c.id == bindparam("b_episode"), exists(select(touched.c.id)))
        .values(played=bindparam("b_played"), head=bindparam("b_head"), finished_at=bindparam("b_finished"))
        .returning(episodes.c.id)
        .cte("advanced")
    )
    # Values named as a column would be taken for changes of the other tables, too.
    values = [bindparam(f"r_{column.name}", type_=column.type) for column in rounds.c]
    made = insert(rounds).from_select(list(rounds.c), select(*values).select_from(touched)).add_cte(advanced)
    return made.execution_options(preserve_rowcount=True)


_ONE_ROUND = _one_round()


def play_rounds(
    connection: Connection,
    participant: int,
    revision: int,
    episode_id: int | None,
    episode: Episode,
    made: Sequence[tuple[Round, Move]],
    opened_at: int,
    now: int,
) -> int:
    """Rounds at the end of the log of a participant, who must be as they were read."""
    if episode_id is None or len(made) > 1 or connection.dialect.name != "postgresql":
        touch(connection, participant, revision, now)
        return append_rounds(connection, participant, episode_id, episode, made, opened_at, now)
    [(r, move)] = made
    standing = {"b_played": episode.played, "b_head": episode.head, "b_finished": now if episode.finished else None}
    which = {"b_id": participant, "b_revision": revision, "b_now": now, "b_episode": episode_id}
    played = {f"r_{name}": value for name, value in round_values(episode_id, r, move, now).items()}
    if connection.execute(_ONE_ROUND, which | standing | played).rowcount != 1:
        raise Stale
    return episode_id


def add_answer(connection: Connection, participant: int, step: str, given: Any, now: int, ms: int | None) -> None:
    """What was answered at one step."""
    connection.execute(
        insert(answers).values(participant_id=participant, step=step, answers=as_json(given), at=now, ms=ms)
    )


def add_events(connection: Connection, participant: int, found: Sequence[tuple[int, str, Any]]) -> None:
    """Things that happened: time, kind, data."""
    connection.execute(
        insert(events),
        [{"participant_id": participant, "at": at, "kind": kind, "data": as_json(data)} for at, kind, data in found],
    )


def seen(connection: Connection, participant: int, now: int) -> None:
    """The person is still there."""
    connection.execute(update(participants).where(participants.c.id == participant).values(last_seen=now))


def forget_demos(connection: Connection, before: int) -> int:
    """Delete what was tried out before a time; how many there were."""
    return connection.execute(
        delete(participants).where(participants.c.kind == "demo", participants.c.created_at < before)
    ).rowcount


def delete_participant(connection: Connection, study: int, pseudonym: str) -> bool:
    """Delete somebody with everything of theirs; whether there was such a person."""
    done = connection.execute(
        delete(participants).where(participants.c.study_id == study, participants.c.public_id == pseudonym)
    )
    return done.rowcount == 1


def delete_rehearsals(connection: Connection, study: int) -> int:
    """Delete every simulated participant of a study; how many there were."""
    return connection.execute(
        delete(participants).where(participants.c.study_id == study, participants.c.kind == "rehearsal")
    ).rowcount


def read_setting(connection: Connection, name: str) -> str | None:
    """A setting that lives with the data, such as the hash of the password."""
    return connection.scalar(select(settings.c.value).where(settings.c.name == name))


def write_setting(connection: Connection, name: str, value: str) -> None:
    """Keep a setting."""
    connection.execute(delete(settings).where(settings.c.name == name))
    connection.execute(insert(settings).values(name=name, value=value))
