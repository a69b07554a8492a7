"""People who play in teams, under faults: lobby, moves of all members and takeovers that race with them.

The checker is that of `history`; here it is tried on stores that hold a team twice, half a round or a changed move.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cobandit.studies import StudyDesign
from cobandit.web.storage.database import Database
from tests.faults import harness
from tests.faults import history as recorded
from tests.faults.images import check_crash_images, logged_run, opened
from tests.team_designs import team_design

pytestmark = pytest.mark.slow

REQUESTS = 30
"""About as many requests has each client; later ones come as retries."""


@pytest.fixture(scope="session")
def pairs() -> StudyDesign:
    """Two people together, then each alone; or the other way round."""
    data = team_design().to_dict()
    data["consent"] |= {"text": "I want to take part in this test."}
    return StudyDesign.from_dict(data)


class Clock:
    """Lets the time for a move be over, whenever a client says so: a takeover races with the move."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self.hurried = 0

    def hurry(self, token: str) -> None:
        own = "SELECT s.team_id FROM members s JOIN participants p ON p.id = s.participant_id WHERE p.token = :token"
        late = (
            f"UPDATE episodes SET deadline = 1, round_at = round_at - 1000000 WHERE team_id IN ({own}) "
            "AND finished_at IS NULL"
        )
        with self._database.write() as connection:
            self.hurried += connection.execute(text(late), {"token": token}).rowcount

    def close(self) -> None:
        self._database.close()


def _under_fire(server: Any, design: StudyDesign, faults: int, clients: int, seed: int, clock: Clock) -> Any:
    history = recorded.History()

    async def run() -> Any:
        drawn = harness.drawn(faults, int(REQUESTS * clients / harness.SHARE), seed)
        async with harness.Fire(server, drawn, seed) as proxy:
            await asyncio.gather(
                *(
                    recorded.Client(proxy.url, f"c{n}", design, history, seed, hurry=clock.hurry).play()
                    for n in range(clients)
                )
            )
        return proxy

    return history, asyncio.run(run())


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_nothing_of_a_team_is_lost_doubled_or_changed(
    kind: str,
    start: Callable[..., Any],
    pairs: StudyDesign,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    size: tuple[int, int],
) -> None:
    faults = size[0] // 2
    clients = 2 * max(2, faults // 24)
    url = f"sqlite:///{tmp_path / 'studies.sqlite'}" if kind == "sqlite" else request.getfixturevalue("postgresql")
    server = start(url, pairs, workers=1 if kind == "sqlite" else 2)
    with contextlib.closing(Clock(url)) as clock:
        history, proxy = _under_fire(server, pairs, faults, clients, 11, clock)
    with opened(url) as database:
        held = recorded.stored(database, pairs)
    moves = [by for team in held.teams for moved in team.moves.values() for _, by, _ in moved.values()]
    print(
        f"\n{kind}: {len(history.calls)} calls, faults {dict(proxy.done)}, {clock.hurried} rounds hurried, "
        f"{moves.count('person')} moves of people and {moves.count('takeover')} of takeovers"
    )
    assert sum(proxy.done.values()) >= 0.9 * faults
    assert proxy.wrong == []
    assert recorded.check(history, held) == []
    assert held.waiting == []
    assert len(held.teams) == clients // 2
    assert clock.hurried > 0
    assert moves.count("person") > 0
    assert moves.count("takeover") > 0


@pytest.fixture(scope="module")
def quiet(pairs: StudyDesign, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A history without faults, what is stored after it, and the images of the database."""
    return logged_run(pairs, tmp_path_factory.mktemp("pairs") / "studies.sqlite", clients=4, twice=True)


def test_a_quiet_run_is_as_it_should_be(quiet: Any) -> None:
    history, held, _ = quiet
    assert recorded.check(history, held) == []
    assert {call.kind.split()[0] for call in history.calls} >= {"lobby", "rounds", "shown"}
    assert len(held.teams) == 2


def test_crash_images_of_teams(quiet: Any, pairs: StudyDesign, tmp_path: Path, size: tuple[int, int]) -> None:
    """Killed between any two inserts: no team without members, no round without its moves."""
    history, _, (before, log) = quiet
    check_crash_images(history, before, log, pairs, tmp_path, max(12, size[0] // 4))


def _team_twice(held: Any) -> None:
    held.teams.append(copy.deepcopy(held.teams[0]))


def _still_in_the_lobby(held: Any) -> None:
    held.waiting.append(next(iter(held.teams[0].members.values())))


def _no_team(held: Any) -> None:
    del held.teams[0]


def _half_a_round(held: Any) -> None:
    next(iter(held.teams[0].moves.values())).popitem()


def _unsealed_round(held: Any) -> None:
    held.teams[0].rounds.pop(max(held.teams[0].rounds))


def _lost_move(held: Any) -> None:
    token = held.teams[0].members[0]
    held.rounds[token] = [row for row in held.rounds[token] if row[3] is not None][1:]


def _other_arm(held: Any) -> None:
    arms, own_hash = held.teams[0].rounds[min(held.teams[0].rounds)]
    held.teams[0].rounds[min(held.teams[0].rounds)] = [1 - arms[0], *arms[1:]], own_hash


def _knew_the_round(held: Any) -> None:
    team = held.teams[0]
    number, t = max(team.moves)
    seat, (arm, by, _) = next(iter(team.moves[number, t].items()))
    team.moves[number, t][seat] = arm, by, team.rounds[number, t][1]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_team_twice, "is in 2 teams"),
        (_still_in_the_lobby, "in a team and in the lobby"),
        (_no_team, "led out of the lobby and is in no team"),
        (_half_a_round, "its moves are"),
        (_unsealed_round, "rounds are sealed"),
        (_lost_move, "acknowledged and is lost"),
        (_other_arm, "was shown as"),
        (_knew_the_round, "not made on the round before"),
    ],
)
def test_the_checker_finds_it(quiet: Any, spoil: Callable[[Any], None], words: str) -> None:
    history, held, _ = quiet
    spoiled = copy.deepcopy(held)
    spoil(spoiled)
    assert any(words in problem for problem in recorded.check(history, spoiled))
