"""Ask the services of a team for their moves, in threads of their own; a takeover agent plays where one gives up."""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor

from cobandit.base.errors import CobanditError
from cobandit.studies.seats import NoMove, SeatPlayer, ServiceMove, make_player, seat_view
from cobandit.studies.service_tables import most_moves
from cobandit.web.services.games import Game
from cobandit.web.services.teams import Teams
from cobandit.web.storage.database import Database
from cobandit.web.storage.service_records import count_records
from cobandit.web.storage.team_moves import SeatMove
from cobandit.web.storage.values import now_ms

log = logging.getLogger("cobandit.web")

THREADS = 128
"""A thread waits for a reply for seconds, and costs little meanwhile; a team that finds none free is timed out."""


class ServiceSeats:
    """The services of the games of one process; each is asked once for a round."""

    def __init__(self, teams: Teams, database: Database) -> None:
        self._teams, self._database = teams, database
        self._players: dict[tuple[int, int, int], SeatPlayer] = {}
        self._asking: dict[tuple[int, int, int, int], asyncio.Task[None]] = {}
        self._threads = ThreadPoolExecutor(THREADS, "service")

    def ask(self, game: Game) -> None:
        """Ask every service that has not moved in the round under way."""
        if not game.has_services or game.stored is None or game.finished:
            return
        t = game.played + 1
        for seat, player in enumerate(game.plan.players):
            key = game.team.id, game.plan.index, seat, t
            if player == "service" and seat not in game.pending and key not in self._asking:
                task = asyncio.create_task(self._move(game, seat, t))
                self._asking[key] = task
                task.add_done_callback(lambda _, key=key: self._asking.pop(key, None))  # type: ignore[misc]

    async def _move(self, game: Game, seat: int, t: int) -> None:
        team, number = game.team.id, game.plan.index
        takeover, start = game.episode.takeover(seat), time.monotonic()
        try:
            chosen = await self._chosen(game, seat)
            ms = int(1000 * (time.monotonic() - start))
            move = SeatMove(seat, chosen.arm, "service", None, ms, chosen.evidence, chosen.record)
        except Exception as error:
            log.warning("A service did not move in round %d, so an AI does: %s", t, error or type(error).__name__)
            record = error.record if isinstance(error, NoMove) else None
            move = SeatMove(seat, takeover, "takeover", record=record or None)
        # Several processes may ask the service; the one that stores the move continues, the others drop their answer.
        if await self._teams.add_move(team, number, t, move):
            played = await self._teams.game(team, number)
            if played.finished:
                self._players.pop((team, number, seat), None)
            self.ask(played)

    async def _chosen(self, game: Game, seat: int) -> ServiceMove:
        """Return the move of a service within the remaining time of the round, or raise the error of the request."""
        assert game.stored is not None
        options = game.plan.service(seat)
        limit, study = most_moves(options), game.study.id
        if limit is not None and await self._database.ask(lambda c: count_records(c, study)) >= limit:
            raise NoMove(f"The services of the study have been asked for {limit:,} moves, as many as max_moves allows.")
        spent = (now_ms() - game.stored.round_at) / 1000
        seconds = max(0.1, game.plan.design.seating[seat].timeout_seconds - spent)
        place = game.team.id, game.plan.index, seat
        player = self._players.get(place)
        if player is None:
            player = self._players[place] = make_player(options)
        loop, view = asyncio.get_running_loop(), seat_view(game.episode, seat)
        async with asyncio.timeout(seconds):
            chosen = await loop.run_in_executor(self._threads, player.choose, view, seconds)
        arms = game.plan.design.arms[seat]
        if not 0 <= chosen.arm < arms:
            raise CobanditError(f"The arm is {chosen.arm}; arms go from 0 to {arms - 1}.")
        return chosen

    def close(self) -> None:
        """Stop asking."""
        for task in list(self._asking.values()):
            task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
