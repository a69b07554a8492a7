"""Teams of the partner service, and the beginning and end of games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cobandit.base.json_types import JsonObject
from cobandit.base.streams import checked_seed
from cobandit.web.refusals import busy, conflict, not_found
from cobandit.web.services.partner.games import NO_GAME, NO_TEAM, TRIES, Games, Place, checked_name
from cobandit.web.services.partner.settings import TeamSetting
from cobandit.web.storage import partner_games as storage
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Stale
from cobandit.web.storage.partner_games import StoredTeam
from cobandit.web.storage.values import now_ms

MOST_TEAMS = 1000
"""How many teams a tenant may have; the games of a team are not limited."""


class Teams:
    """Templates of games, by tenant."""

    def __init__(self, database: Database, games: Games) -> None:
        self._database, self._games = database, games

    async def create(self, tenant: str, name: str, setting: TeamSetting) -> tuple[JsonObject, bool]:
        """Store a team; return it, and whether it is new. The same team again is the one that is there."""
        checked_name("team", name)
        setting.check()
        wanted = setting.to_dict()

        def job(connection: Connection) -> tuple[StoredTeam, bool]:
            known = storage.find_team(connection, tenant, name)
            if known is not None:
                return known, False
            if storage.count_teams(connection, tenant) >= MOST_TEAMS:
                raise conflict("too-many-teams", f"A tenant has at most {MOST_TEAMS:,} teams; delete one first.")
            return storage.add_team(connection, tenant, name, wanted, now_ms()), True

        for _ in range(TRIES):
            try:
                stored, new = await self._database.commit(job)
            except Stale:
                continue
            if TeamSetting.from_dict(stored.setting) != setting:
                raise conflict("other-setting", f"There is a team {name!r} with another setting.")
            return _team_view(stored), new
        raise busy()

    async def find(self, tenant: str, name: str) -> JsonObject:
        """Return a team."""
        stored = await self._database.ask(lambda connection: storage.find_team(connection, tenant, name))
        if stored is None:
            raise not_found(NO_TEAM)
        return _team_view(stored)

    async def list(self, tenant: str, after: str, limit: int) -> JsonObject:
        """Return teams of a tenant by name."""
        stored = await self._database.ask(lambda connection: storage.teams_of(connection, tenant, after, limit))
        return {"teams": [_team_view(team) for team in stored]}

    async def delete(self, tenant: str, name: str) -> None:
        """Delete a team with all its games."""
        if not await self._database.commit(lambda connection: storage.delete_team(connection, tenant, name)):
            raise not_found(NO_TEAM)
        self._games.forget((tenant, name, ""))
        await self._database.forget_in_time()

    async def create_game(
        self, place: Place, seed: int | None, state: Mapping[str, Any] | None
    ) -> tuple[JsonObject, bool]:
        """Begin a game, or import one; return it, and whether it is new. The same game again is the one there."""
        _tenant, _team, name = place
        checked_name("game", name)
        pair = await self._database.ask(lambda connection: storage.find_game(connection, *place))
        if pair is None:
            raise not_found(NO_TEAM)
        known, new = pair[1], False
        setting = TeamSetting.from_dict(pair[0].setting)
        if known is None:
            number, origin = checked_seed(seed), None
            if state is not None:
                given = state["state"] if "state" in state and "team" in state else state
                origin = setting.restored_game(given).state()
            team_id = pair[0].id
            try:
                known = await self._database.commit(
                    lambda connection: storage.add_game(connection, team_id, name, number, origin, now_ms())
                )
                new = True
            except Stale:
                again = await self._database.ask(lambda connection: storage.find_game(connection, *place))
                if again is None or again[1] is None:
                    raise not_found(NO_TEAM) from None
                known = again[1]
        if not new and ((seed is not None and seed != known.seed) or (state is not None) != (known.origin is not None)):
            raise conflict("other-game", f"There is a game {name!r} that began otherwise.")
        return await self._games.view(place), new

    async def list_games(self, tenant: str, team: str, after: str, limit: int) -> JsonObject:
        """Return games of a team by name."""

        def question(connection: Connection) -> list[tuple[str, int]] | None:
            stored = storage.find_team(connection, tenant, team)
            return None if stored is None else storage.games_of(connection, stored.id, after, limit)

        listed = await self._database.ask(question)
        if listed is None:
            raise not_found(NO_TEAM)
        return {"games": [{"game": name, "created_at": created} for name, created in listed]}

    async def delete_game(self, place: Place) -> None:
        """Delete a game with its log."""

        def job(connection: Connection) -> bool:
            pair = storage.find_game(connection, *place)
            return pair is not None and pair[1] is not None and storage.delete_game(connection, pair[1].id)

        if not await self._database.commit(job):
            raise not_found(NO_GAME)
        self._games.forget(place)
        await self._database.forget_in_time()


def _team_view(stored: StoredTeam) -> dict[str, object]:
    return {"team": stored.name, "created_at": stored.created_at} | stored.setting
