"""The games of the partner service: choose and observe, exactly once, with the log in the database as the truth.

A game in memory is a cache. The next choice is made when a round ends, so `choose` reads and `observe` appends one
entry, which is acknowledged after the commit. Where another process has appended to a game, its entries are read and
applied before a request continues.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.engine.partner_game import Entry, GameConflict, OpenRound, PartnerGame
from cobandit.web.refusals import Refused, busy, conflict, not_found
from cobandit.web.services.partner.settings import TeamSetting, ranks_of_game
from cobandit.web.services.people import Turn, Turns
from cobandit.web.storage import partner_games as storage
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Stale
from cobandit.web.storage.partner_games import AppendEntry, StoredEntry, StoredGame
from cobandit.web.storage.values import now_ms

log = logging.getLogger("cobandit.web")

TRIES = 5
MOST_GAMES_IN_MEMORY = 2000
SNAPSHOT_EVERY = 256
_SPREAD = 159
"""Odd, so that 256 games in a row have their first snapshots after 256 different numbers of entries."""
FRESH_SECONDS = 2.0
"""How long a game in memory is trusted without a look whether it was deleted elsewhere."""

NO_TEAM = "There is no team of this name."
NO_GAME = "The team has no game of this name."

Place = tuple[str, str, str]
"""Tenant, team and game: a tenant is part of every look-up."""


@dataclass
class ActiveGame:
    """A game in memory, with how many entries of its log it has."""

    place: Place
    id: int
    setting: TeamSetting
    game: PartnerGame
    number: int
    checked: float
    stored: StoredGame
    snapshot: int


@dataclass(frozen=True)
class Feedback:
    """What an app reports of a round, named by its number or event; ``rewarded``: the reward is given."""

    round: int | None
    event: str | None
    action: Sequence[int] | None
    rewarded: bool
    reward: float | None
    override: bool = False
    key: str | None = None


class Games:
    """The games of all tenants in one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._games: OrderedDict[Place, ActiveGame] = OrderedDict()
        self._turns = Turns()
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._games)

    # Playing

    async def choose(
        self, place: Place, t: int | None, event: str | None = None, after: int | None = None
    ) -> JsonObject:
        """Return the partner's arm: of a round, of an event, or of the current round.

        ``after`` is a round that the client has seen end: a current round in memory that is later needs no look into
        the database.
        """
        for _ in range(TRIES):
            async with self._turn(place):
                active = await self._active(place)
                try:
                    if event is not None:
                        return await self._choose_for(active, event, t)
                    if self._is_behind(active.game.round, t, after):
                        active = await self._caught_up(active)
                    number = active.game.round if t is None else t
                    opened = _choice(active.game, number)
                    if opened is not None:
                        return _choice_view(active, number, opened)
                    return _past_choice(number, await self._entries(active, number), active)
                except Stale:
                    self._forget(place)
        raise busy()

    def _is_behind(self, newest: int, t: int | None, after: int | None) -> bool:
        """Return whether another process may have ended rounds that the client knows of; SQLite has one process."""
        if t is None and after is None:
            return not self._database.sqlite
        return newest < (t if t is not None else (after or 0) + 1)

    async def _choose_for(self, active: ActiveGame, event: str, t: int | None) -> dict[str, object]:
        number = active.game.named(event)
        if number is None:
            active = await self._caught_up(active)
            number = active.game.named(event)
        if number is None and (known := await self._entries(active, None, event)):
            number = known[0].entry.round
            active = await self._caught_up(active)  # another process may have opened it a moment ago
            if number not in active.game.open:
                return _past_choice(number, known, active) | {"event": event}
        if number is None:
            with _Conflicts():
                entry = active.game.opening(event, now_ms())
            if t is not None and t != entry.round:
                raise conflict("not-open", f"The event would open round {entry.round}, not {t}.")
            await self._append(active, entry, {}, None)
            number = entry.round
        if t is not None and t != number:
            raise conflict("already-open", f"The event {event!r:.80} belongs to round {number}.")
        opened = active.game.open[number]
        return _choice_view(active, number, opened)

    async def observe(self, place: Place, given: Feedback) -> JsonObject:
        """Store feedback on a round, once, and return the choice of the newest round."""
        for _ in range(TRIES):
            async with self._turn(place):
                active = await self._active(place)
                try:
                    return await self._observe(active, given)
                except Stale:
                    self._forget(place)
        raise busy()

    async def _observe(self, active: ActiveGame, given: Feedback) -> dict[str, object]:
        t = await self._round_of(active, given)
        if t > active.game.round:
            active = await self._caught_up(active)
        game = active.game
        opened = _choice(game, t)
        duplicate = False
        if (
            opened is None
            or (given.action is not None and opened.action is not None)
            or (given.rewarded and opened.rewarded)
        ):
            duplicate = _is_repeat(t, opened, await self._entries(active, t), given, active)
        if not duplicate:
            assert opened is not None
            override = given.override or active.setting.shadow
            with _Conflicts():
                entry = game.feedback(t, given.action, given.rewarded, given.reward, now_ms(), override=override)
            if entry is not None:
                await self._append(active, entry, opened.predictions, given.key)
        left = game.open.get(t)
        return {
            "round": t,
            "duplicate": duplicate,
            "complete": left is None,
            "next": _choice_view(active, game.round, game.newest),
        }

    async def _round_of(self, active: ActiveGame, given: Feedback) -> int:
        if given.event is None:
            assert given.round is not None
            return given.round
        t = active.game.named(given.event)
        if t is None:
            known = await self._entries(active, None, given.event)
            if not known:
                raise not_found(f"No round has the event {given.event!r:.80}; choose with it first.")
            t = known[0].entry.round
        if given.round not in (None, t):
            raise conflict("other-round", f"The event {given.event!r:.80} belongs to round {t}, not {given.round}.")
        return t

    # Reading

    async def view(self, place: Place) -> JsonObject:
        """Return where a game is."""
        async with self._turn(place):
            active = await self._caught_up(await self._active(place))
            return _game_view(active)

    async def export(self, place: Place) -> JsonObject:
        """Return the whole state of a game, from which another game can continue."""
        async with self._turn(place):
            active = await self._caught_up(await self._active(place))
            return {"team": active.setting.to_dict(), "state": active.game.state()}

    async def history(self, place: Place, after: int, limit: int) -> JsonObject:
        """Return rounds of a game after a round, and the newest round."""
        async with self._turn(place):
            active = await self._caught_up(await self._active(place))
            entries = await self._database.ask(
                lambda connection: storage.entries_of_rounds(connection, active.id, after, limit), heavy=True
            )
            return _history(active, entries, after, limit)

    # Memory and log

    def forget(self, place: Place) -> None:
        """Take a game, or all games of a team (``place`` with an empty name), out of memory."""
        tenant, team, name = place
        for known in [known for known in self._games if known[:2] == (tenant, team) and name in ("", known[2])]:
            del self._games[known]

    async def finish(self) -> None:
        """Wait for snapshots that are being stored."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _turn(self, place: Place) -> Turn:
        return Turn(self._turns, "\n".join(place))

    async def _active(self, place: Place) -> ActiveGame:
        active = self._games.get(place)
        if active is None:
            active = await self._database.ask(lambda connection: _load(connection, place))
            self._games[place] = active
            while len(self._games) > MOST_GAMES_IN_MEMORY:
                self._games.popitem(last=False)
        elif time.monotonic() - active.checked > FRESH_SECONDS:
            active = await self._caught_up(active)
        self._games.move_to_end(place)
        return active

    async def _caught_up(self, active: ActiveGame) -> ActiveGame:
        """Apply what other processes have appended; read the game again if it was deleted."""
        news = await self._database.ask(lambda connection: storage.news_of(connection, active.id, active.number))
        if news is None:
            self._forget(active.place)
            return await self._active(active.place)
        _apply(active, news)
        active.checked = time.monotonic()
        return active

    async def _entries(self, active: ActiveGame, t: int | None, event: str | None = None) -> list[StoredEntry]:
        return await self._database.ask(lambda connection: storage.entries_of(connection, active.id, t, event))

    async def _append(self, active: ActiveGame, entry: Entry, predictions: dict[int, int], key: str | None) -> None:
        """Apply an entry and store it; if either fails, the game is read again next time."""
        number, began = active.number + 1, time.monotonic()
        foreseen = {str(seat): arm for seat, arm in predictions.items()}
        try:
            try:
                active.game.apply(entry)
            except Exception as error:
                if active.stored.origin is None:
                    raise
                raise Refused(422, "broken-state", "The imported state does not fit its agent.") from error
            await self._database.commit(AppendEntry(active.id, StoredEntry(entry, number, foreseen, key)))
        except BaseException:
            self._forget(active.place)
            raise
        active.number, active.checked = number, began  # the commit shows that the game is there and nothing is missing
        if number - active.snapshot >= max(SNAPSHOT_EVERY, len(active.game.open)):
            self._store_snapshot(active)

    def _store_snapshot(self, active: ActiveGame) -> None:
        active.snapshot, state = active.number, json.dumps(active.game.state())
        number, game_id = active.number, active.id

        async def store() -> None:
            try:
                await self._database.commit(
                    lambda connection: storage.store_snapshot(connection, game_id, number, state)
                )
            except Refused:
                log.warning("A snapshot of a partner's game was not stored; its log is complete.")

        task = asyncio.create_task(store())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forget(self, place: Place) -> None:
        self._games.pop(place, None)


def _load(connection: Connection, place: Place) -> ActiveGame:
    pair = storage.find_game(connection, *place)
    if pair is None:
        raise not_found(NO_TEAM)
    team, stored = pair
    if stored is None:
        raise not_found(NO_GAME)
    setting = TeamSetting.from_dict(team.setting)
    origin = stored.snapshot if stored.snapshot is not None else stored.origin
    game = setting.new_game(stored.seed) if origin is None else setting.restored_game(origin)
    # Games that began together would all store their first snapshots in the same moment, and all clients would wait.
    earlier = 0 if stored.snapshot_number else stored.id * _SPREAD % SNAPSHOT_EVERY
    snapshot = stored.snapshot_number - earlier
    active = ActiveGame(place, stored.id, setting, game, stored.snapshot_number, time.monotonic(), stored, snapshot)
    _apply(active, storage.entries_after(connection, stored.id, stored.snapshot_number))
    return active


def _apply(active: ActiveGame, news: Sequence[StoredEntry]) -> None:
    try:
        for stored in news:
            if stored.number != active.number + 1:
                raise GameConflict("damaged", f"Entry {active.number + 1} of the log is missing.")
            active.game.apply(stored.entry)
            active.number = stored.number
    except (CobanditError, KeyError) as error:
        raise Refused(
            500,
            "damaged",
            "The log of this game does not fit together, so the game cannot continue; nothing was changed.",
        ) from error


class _Conflicts:
    """A context that turns a conflict of the game into a refusal."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, GameConflict):
            raise conflict(error.code, str(error)) from error


def _choice(game: PartnerGame, t: int) -> OpenRound | None:
    with _Conflicts():
        return game.choice(t)


def _is_repeat(
    t: int, opened: OpenRound | None, known: Sequence[StoredEntry], given: Feedback, active: ActiveGame
) -> bool:
    """Return whether everything that is given is stored already; refuse what differs from it."""
    if not known and opened is None:
        raise conflict("before-import", f"Round {t} was played before this game was imported.")
    acted = next((stored for stored in known if stored.entry.action is not None), None)
    paid = next((stored for stored in known if stored.entry.kind in ("reward", "round")), None)
    repeated = [stored for wanted, stored in ((given.action is not None, acted), (given.rewarded, paid)) if wanted]
    for stored in repeated:
        if stored is not None and None not in (given.key, stored.key) and given.key != stored.key:
            raise conflict("already-observed", f"Round {t} was reported by another request before.")
    if given.action is not None and acted is not None and tuple(given.action) != acted.entry.action:
        raise conflict("already-observed", f"Round {t} was reported with another team action before.")
    if given.rewarded and paid is not None:
        seen = active.game.partner.checked_seen(given.reward, "reward")
        if seen != paid.entry.reward:
            raise conflict("already-observed", f"Round {t} was reported with another reward before.")
    if opened is None and given.rewarded and paid is None:
        raise conflict("too-late", f"The reward of round {t} came after its deadline; the default counts.")
    return all(stored is not None for stored in repeated)


def _choice_view(active: ActiveGame, t: int, opened: OpenRound) -> dict[str, object]:
    view: JsonObject = {"round": t, "arm": opened.arm}
    if opened.predictions:
        view["predictions"] = {str(seat): arm for seat, arm in opened.predictions.items()}
    if opened.event is not None:
        view["event"] = opened.event
    if active.setting.shadow:
        view["shadow"] = True
    return view


def _past_choice(t: int, known: Sequence[StoredEntry], active: ActiveGame) -> dict[str, object]:
    chosen = next((stored for stored in known if stored.entry.arm >= 0), None)
    if chosen is None:
        raise conflict("before-import", f"Round {t} was played before this game was imported.")
    view: JsonObject = {"round": t, "arm": chosen.entry.arm}
    if chosen.predictions:
        view["predictions"] = chosen.predictions
    return view | ({"shadow": True} if active.setting.shadow else {})


def _game_view(active: ActiveGame) -> dict[str, object]:
    game, (_, team, name) = active.game, active.place
    return {
        "team": team,
        "game": name,
        "seed": str(active.stored.seed),
        "created_at": active.stored.created_at,
        "imported": active.stored.origin is not None,
        "ranks": ranks_of_game(game),
        "open": sorted(t for t in game.open if t != game.round),
        "next": _choice_view(active, game.round, game.newest),
    }


def _history(active: ActiveGame, entries: Sequence[StoredEntry], after: int, limit: int) -> dict[str, object]:
    game, default = active.game, active.setting.default
    overdue = game.overdue(now_ms())
    by_round: dict[int, list[StoredEntry]] = defaultdict(list)
    for stored in entries:
        by_round[stored.entry.round].append(stored)
    rounds = []
    for t in sorted(by_round):
        row = _history_row(t, by_round[t], game.open.get(t))
        missing = row["action"] is not None and "reward" not in row
        if default is not None and missing and (t in overdue or t not in game.open):
            row |= {"reward": default.reward, "default": True}
        rounds.append(row)
    more = len(by_round) == limit and max(by_round) < game.round
    return {"rounds": rounds, "more": more, "next": _choice_view(active, game.round, game.newest)}


def _history_row(t: int, entries: Sequence[StoredEntry], opened: OpenRound | None) -> dict[str, object]:
    row: JsonObject = {"round": t, "arm": None, "action": None}
    if opened is not None:
        row |= {"arm": opened.arm, "predictions": {str(seat): arm for seat, arm in opened.predictions.items()}}
    for stored in entries:
        entry = stored.entry
        if entry.event is not None:
            row["event"] = entry.event
        if entry.arm >= 0:
            row |= {"arm": entry.arm, "predictions": stored.predictions}
        if entry.action is not None:
            row |= {"action": list(entry.action), "at": entry.at}
        if entry.kind in ("reward", "round"):
            row |= {"reward": entry.reward, "reward_at": entry.at}
    return row


def checked_name(what: str, name: str) -> str:
    """Return the name of a team or game, which is part of addresses."""
    if (
        not name
        or len(name) > 100
        or name in (".", "..")  # clients and proxies remove these from addresses
        or not all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in name)
    ):
        raise InvalidInput(
            f"{what} must be 1 to 100 letters, digits, dots, dashes and underscores, other than '.' and '..', "
            f"got {name!r:.60}."
        )
    return name
