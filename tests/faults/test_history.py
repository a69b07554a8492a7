"""Everything a participant does, under faults: the history of calls and answers against what is stored.

The checker itself is tried on stores that lose, double, change or reorder, and on a server that acknowledges early.
"""

from __future__ import annotations

import asyncio
import copy
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig
from cobandit.web.serving import running
from cobandit.web.storage.writer import Writer
from tests.faults import harness
from tests.faults import history as recorded
from tests.faults.images import check_crash_images, logged_run, opened
from tests.web.prepared import prepare_copy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def little() -> StudyDesign:
    """Every kind of step, and few rounds."""
    data = load_design("burger").to_dict()
    data |= {"name": "little", "rounds": 4, "episodes": 1, "practice": None}
    data["consent"] |= {"text": "I want to take part in this test."}
    return StudyDesign.from_dict(data)


def _under_fire(server: Any, design: StudyDesign, size: tuple[int, int], seed: int) -> Any:
    """The clients behind the proxy with its faults; their history, and the faults that happened."""
    faults, clients = size
    history = recorded.History()

    async def run() -> Any:
        # About 24 requests of each client; later ones come as retries.
        async with harness.Fire(server, harness.drawn(faults, int(24 * clients / harness.SHARE), seed), seed) as proxy:
            await asyncio.gather(
                *(recorded.Client(proxy.url, f"c{n}", design, history, seed).play() for n in range(clients))
            )
        return proxy

    return history, asyncio.run(run())


@pytest.fixture
def history_size(size: tuple[int, int]) -> tuple[int, int]:
    """As many clients as the faults need that were asked for."""
    faults = size[0] // 2
    return faults, max(4, faults // 12)


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_nothing_is_lost_doubled_or_reordered(
    kind: str,
    start: Callable[..., Any],
    little: StudyDesign,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    history_size: tuple[int, int],
) -> None:
    url = f"sqlite:///{tmp_path / 'studies.sqlite'}" if kind == "sqlite" else request.getfixturevalue("postgresql")
    server = start(url, little, workers=1 if kind == "sqlite" else 2)
    history, proxy = _under_fire(server, little, history_size, seed=7)
    print(f"\n{kind}: {len(history.calls)} calls, faults {dict(proxy.done)}")
    assert sum(proxy.done.values()) >= 0.9 * history_size[0]
    assert proxy.wrong == []
    with opened(url) as database:
        assert recorded.check(history, recorded.stored(database, little)) == []


@pytest.fixture(scope="module")
def quiet_history(little: StudyDesign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A quiet run on SQLite whose log of writes is never folded in: history with its size at every answer."""
    return logged_run(little, tmp_path_factory.mktemp("history") / "studies.sqlite", clients=3)


def test_a_quiet_run_is_as_it_should_be(quiet_history: Any) -> None:
    history, held, _ = quiet_history
    assert recorded.check(history, held) == []
    assert {len(call.body["moves"]) for call in history.calls if call.kind == "rounds"} >= {1, 2}
    assert {call.kind.split()[0] for call in history.calls} == {"arrive", "answer", "quiz-wrong", "events", "rounds"}


def _lose_round(held: Any, token: str) -> None:
    held.rounds[token].pop()


def _double_round(held: Any, token: str) -> None:
    held.rounds[token].append(held.rounds[token][-1])


def _change_round(held: Any, token: str) -> None:
    episode, t, key, arms = held.rounds[token][0]
    held.rounds[token][0] = (episode, t, key, [1 - arm for arm in arms])


def _made_up_round(held: Any, token: str) -> None:
    held.rounds[token].append((0, 99, "nobody", [0, 0]))


def _lose_answer(held: Any, token: str) -> None:
    held.answers[token] = [row for row in held.answers[token] if row[0] != "demographics"]


def _change_answer(held: Any, token: str) -> None:
    held.answers[token] = [(s, {"age": 1} if s == "demographics" else g) for s, g in held.answers[token]]


def _lose_event(held: Any, token: str) -> None:
    held.events[token] = held.events[token][:-1]


def _double_event(held: Any, token: str) -> None:
    held.events[token].append(held.events[token][0])


def _reorder_events(held: Any, token: str) -> None:
    held.events[token].reverse()


def _double_attempt(held: Any, token: str) -> None:
    held.attempts[token] += 2


def _lose_attempt(held: Any, token: str) -> None:
    held.attempts[token] = 0


def _lose_somebody(held: Any, token: str) -> None:
    del held.attempts[token]


@pytest.mark.parametrize(
    "harm",
    [
        _lose_round,
        _double_round,
        _change_round,
        _made_up_round,
        _lose_answer,
        _change_answer,
        _lose_event,
        _double_event,
        _reorder_events,
        _double_attempt,
        _lose_attempt,
        _lose_somebody,
    ],
)
def test_the_checker_sees_every_harm(quiet_history: Any, harm: Callable[[Any, str], None]) -> None:
    history, held, _ = quiet_history
    harmed = copy.deepcopy(held)
    harm(harmed, history.tokens["c1"])
    problems = recorded.check(history, harmed)
    assert problems
    assert all(problem.startswith("c1: ") for problem in problems)


def test_the_checker_sees_half_of_a_request(quiet_history: Any) -> None:
    """A request with several moves that nobody has answered: all of them are stored, or none."""
    history, held, _ = copy.deepcopy(quiet_history)
    last = next(call for call in reversed(history.calls) if len(call.body.get("moves", ())) > 1)
    last.status = None
    rounds = held.rounds[history.tokens[last.client]]
    keys = [move["key"] for move in last.body["moves"]]
    rounds.remove(next(row for row in rounds if row[2] == keys[-1]))
    [problem] = recorded.check(history, held)
    assert problem.endswith("only some are stored")
    rounds[:] = [row for row in rounds if row[2] not in keys]
    assert recorded.check(history, held) == []


def _is_note(job: Any) -> bool:
    """Whether a job stores events; those that join others have a class of their own, and no name."""
    return ".note." in getattr(job, "__qualname__", "")


def test_the_checker_sees_a_server_that_acknowledges_early(
    little: StudyDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    prepare_copy(url, [little], "correct horse", 1)
    commit, rng = Writer._commit, random.Random(5)

    def early(self: Writer, batch: list[Any]) -> None:
        """Now and then an event is acknowledged and never written."""
        lost = [waiting for waiting in batch if _is_note(waiting.job) and rng.random() < 0.2]
        commit(self, [waiting for waiting in batch if waiting not in lost])

    monkeypatch.setattr(Writer, "_commit", early)
    history = recorded.History()
    with running(WebConfig(database=url, consent_elsewhere=True)) as address:
        recorded.play(address, little, 2, history, seed=4)
    with opened(url) as database:
        problems = recorded.check(history, recorded.stored(database, little))
    assert any("was acknowledged and is lost" in problem for problem in problems)


@pytest.mark.parametrize("ignored", [False, True])
def test_the_checker_sees_a_server_that_ignores_keys(
    little: StudyDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignored: bool
) -> None:
    url = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    prepare_copy(url, [little], "correct horse", 1)
    if ignored:
        with sqlite3.connect(tmp_path / "studies.sqlite") as connection:
            connection.execute("DROP INDEX ix_events_participant_id_key")
        connection.close()
        monkeypatch.setattr("cobandit.web.services.page_events.known_keys", lambda *words: set())
    history = recorded.History()
    with running(WebConfig(database=url, consent_elsewhere=True)) as address:
        recorded.play(address, little, 1, history, seed=4, twice=True)
    with opened(url) as database:
        problems = recorded.check(history, recorded.stored(database, little))
    assert any("stored twice" in problem for problem in problems) == ignored
    assert bool(problems) == ignored


def test_what_is_acknowledged_above_the_limit_of_events_is_stored_once(
    little: StudyDesign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is reached before the quiz, and everything is sent twice."""
    url = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    prepare_copy(url, [little], "correct horse", 1)
    monkeypatch.setattr("cobandit.web.services.page_events.MOST_EVENTS", 3)
    history = recorded.History()
    with running(WebConfig(database=url, consent_elsewhere=True)) as address:
        recorded.play(address, little, 2, history, seed=4, twice=True)
    with opened(url) as database:
        assert recorded.check(history, recorded.stored(database, little)) == []
    refused = [call for call in history.calls if call.answer.get("error") == "too-many-events"]
    quiz = [call for call in history.calls if call.kind == "quiz-wrong"]
    assert refused[0].sent < quiz[0].sent
    assert len(quiz) == 4  # each client's wrong attempt, twice


def test_crash_images_of_the_log_of_writes(
    little: StudyDesign, tmp_path: Path, quiet_history: Any, size: tuple[int, int]
) -> None:
    history, _, (before, log) = quiet_history
    check_crash_images(history, before, log, little, tmp_path, max(12, size[0] // 4))
