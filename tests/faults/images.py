"""Crash images: what a power cut, or kill -9 between two inserts, may leave of a SQLite database."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from pathlib import Path

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig
from cobandit.web.serving import prepare, running
from cobandit.web.storage.database import Database
from tests.faults import history as recorded

SECTOR = 512

Run = tuple[recorded.History, recorded.Stored, tuple[bytes, bytes]]


def opened(url: str) -> contextlib.closing[Database]:
    """Open a database, and close it in the end."""
    return contextlib.closing(Database(url))


def logged_run(design: StudyDesign, path: Path, clients: int, *, twice: bool = False) -> Run:
    """Play a quiet run on SQLite whose log of writes is never folded in.

    Return the history with the size of the log at every answer, what is stored, and the file before and its log after.
    """
    prepare(f"sqlite:///{path}", [design], password="correct horse", seed=1)
    before = path.read_bytes()
    wal = Path(f"{path}-wal")
    history = recorded.History(lambda: wal.stat().st_size if wal.exists() else 0)
    holding = sqlite3.connect(path)  # a reader from the beginning: nothing is folded in behind its back
    holding.execute("BEGIN")
    holding.execute("SELECT count(*) FROM participants").fetchone()
    with running(WebConfig(database=f"sqlite:///{path}", consent_elsewhere=True)) as url:
        recorded.play(url, design, clients, history, seed=3, twice=twice)
        images = (before, wal.read_bytes())
        with opened(f"sqlite:///{path}") as database:
            held = recorded.stored(database, design)
    holding.close()
    return history, held, images


def check_crash_images(
    history: recorded.History, before: bytes, log: bytes, design: StudyDesign, folder: Path, count: int
) -> None:
    """Check the database as a power cut may leave it: what was acknowledged is there, whatever became of the rest.

    The images are the file from before the run and its log, cut at a random byte; of what comes after the last
    acknowledged write, which nobody has waited for, sectors are dropped, torn or left. They show that what SQLite reads
    from such files is whole; that the disk had what it was told to write is the word of `synchronous = FULL`.
    """
    rng = random.Random(11)
    marks = sorted({call.mark for call in history.calls if call.acknowledged})
    assert marks[-1] <= len(log)
    for image in range(count):
        safe = rng.choice([0, *marks])
        tail = bytearray(log[safe : safe + rng.randrange(1, 40_000)])
        for start in range(0, len(tail), SECTOR):
            fate = rng.choice(("stays", "dropped", "torn"))
            if fate == "dropped":
                tail[start : start + SECTOR] = bytes(len(tail[start : start + SECTOR]))
            elif fate == "torn":
                half = start + rng.randrange(SECTOR)
                tail[half : start + SECTOR] = rng.randbytes(len(tail[half : start + SECTOR]))
        place = folder / str(image)
        place.mkdir()
        (place / "studies.sqlite").write_bytes(before)
        (place / "studies.sqlite-wal").write_bytes(log[:safe] + tail)
        with opened(f"sqlite:///{place / 'studies.sqlite'}") as database:
            held = recorded.stored(database, design)
            with database.reading.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert recorded.check(history, held, until=safe) == []
        shutil.rmtree(place)
    # And it is noticed where something is missing. Well before the last acknowledged write: the last frame alone may be
    # somebody's whom nobody had answered yet.
    cut = marks[len(marks) // 4]
    (folder / "cut.sqlite").write_bytes(before)
    (folder / "cut.sqlite-wal").write_bytes(log[:cut])
    with opened(f"sqlite:///{folder / 'cut.sqlite'}") as database:
        assert recorded.check(history, recorded.stored(database, design), until=marks[len(marks) // 2])
