"""A study with many people and rounds in it, written straight into its database: what a server has after months.

``python -m benchmarks.stored URL PEOPLE ROUNDS`` makes it with whatever version of the package is on the path, since
each has tables of its own.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import replace

from cobandit.studies import Episode, ParticipantPlan, StudyDesign, load_design
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.rounds import Move, round_row
from cobandit.web.storage.schema import rounds as rounds_table
from cobandit.web.storage.studies import find_study

PEOPLE = 10_000
ROUNDS = 1_000_000
DAY_MS = 86_400_000
PASSWORD = "correct horse"


def casino() -> StudyDesign:
    """The casino study without its practice: everybody's first episode has 1000 rounds with one of the two AIs."""
    return replace(load_design("casino"), practice=None)


def fill(url: str, design: StudyDesign, people: int = PEOPLE, rounds: int = ROUNDS) -> int:
    """Store people in a SQLite database that is prepared for the design, with so many rounds; gives their number.

    Most of the rounds are those of people who have finished, the others have left early. Two of them have really
    played, one in each kind; everybody else has the same log.
    """
    database = Database(url)
    try:
        with database.read() as connection:
            study = find_study(connection, design.name)
        assert study is not None
    finally:
        database.close()
    each = len(design.conditions) * design.rounds
    finished = int(0.8 * rounds) // each
    early = (rounds - finished * each) // (people - finished)
    plan = ParticipantPlan(design, 1, 0, study.secret_for("real"))
    then = time.time_ns() // 1_000_000 - DAY_MS
    with closing(sqlite3.connect(database.url.database or "")) as connection:
        for first, count, length in ((1, finished, design.rounds), (finished + 1, people - finished, early)):
            done = then if length == design.rounds else None
            numbers = range(first, first + count)
            connection.executemany(
                "INSERT INTO participants (id, study_id, public_id, token, key, kind, seed, order_index, language, "
                "quiz_attempts, revision, created_at, consented_at, last_seen, finished_at) "
                "VALUES (?1, ?2, 'p-stored-' || ?1, 'stored-token-' || ?1, 'stored-key-' || ?1, 'real', '1', 0, 'en', "
                "1, 1, ?3, ?3, ?3, ?4)",
                ((number, study.id, then + number, done) for number in numbers),
            )
            for step in ("consent", "demographics", "instructions", "quiz"):
                connection.executemany(
                    "INSERT INTO answers (participant_id, step, answers, at) VALUES (?, ?, '{}', ?)",
                    ((number, step, then) for number in numbers),
                )
            for place in range(len(design.conditions) if done else 1):
                _play(connection, plan, place, (first, count), length, then)
        connection.commit()
    return finished * each + early * (people - finished)


def _play(
    connection: sqlite3.Connection, plan: ParticipantPlan, place: int, whose: tuple[int, int], length: int, then: int
) -> None:
    """One episode of somebody, and the same again for everybody else."""
    episode, (first, count) = Episode.open(plan.episode(place)), whose
    played = [episode.play(t, t % 2) for t in range(1, length + 1)]
    [(highest,)] = connection.execute("SELECT coalesce(max(id), 0) FROM episodes").fetchall()
    connection.executemany(
        "INSERT INTO episodes (id, participant_id, number, condition, played, head, opened_at, finished_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                highest + 1 + i,
                first + i,
                place,
                episode.plan.condition,
                length,
                episode.head,
                then,
                then if episode.finished else None,
            )
            for i in range(count)
        ),
    )
    rows = [round_row(highest + 1, r, Move(r.t, r.arms[0], f"stored-{r.t:06d}", 400), then) for r in played]
    names = [column.name for column in rounds_table.c]
    marks = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO rounds ({', '.join(names)}) VALUES ({marks})", rows)
    others = ", ".join(name for name in names if name != "episode_id")
    connection.execute(
        f"INSERT INTO rounds (episode_id, {others}) SELECT e.id, {others} FROM episodes e, rounds r "
        "WHERE e.id > ?1 AND e.id <= ?2 AND r.episode_id = ?1 ORDER BY e.id, r.t",
        (highest + 1, highest + count),
    )


if __name__ == "__main__":
    url, people, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    prepare(url, [casino()], password=PASSWORD)
    if people:
        fill(url, casino(), people, rounds)
