"""Teams, games, histories and states of the partner service; ``plays`` answers choose and observe."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import AfterValidator

from cobandit.web import pages
from cobandit.web.routes.bodies import LARGEST, DoneBody, storable
from cobandit.web.routes.partner.bodies import (
    ChoiceView,
    ChooseBody,
    GameBody,
    GamesView,
    GameView,
    HistoryView,
    ObserveBody,
    ObservedView,
    StateView,
    TeamBody,
    TeamsView,
    TeamView,
)
from cobandit.web.routes.partner.plays import CHOOSE, OBSERVE
from cobandit.web.routes.state import of_app
from cobandit.web.services.partner.games import Games, Place
from cobandit.web.services.partner.keys import Keys
from cobandit.web.services.partner.teams import Teams

LARGEST_PAGE = 1000

router = APIRouter(prefix="/v1")


def _scope(scope: str) -> object:
    async def tenant(request: Request) -> str:
        keys: Keys = request.app.state.keys
        header = request.headers.get("authorization", "").encode("latin-1")
        return (await keys.require(header, scope)).tenant

    return Depends(tenant)


Reader = Annotated[str, _scope("read")]
Player = Annotated[str, _scope("play")]
Admin = Annotated[str, _scope("admin")]
"""The tenant of a key that has the scope."""

Slug = Path(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$")
TeamName = Annotated[str, Slug]
GameName = Annotated[str, Slug]
After = Annotated[str, Query(max_length=100, description="Names after this one"), AfterValidator(storable)]
Limit = Annotated[int, Query(ge=1, le=LARGEST_PAGE, description="How many at most")]


TeamsService = Annotated[Teams, of_app("teams")]
GamesService = Annotated[Games, of_app("games")]


@router.post("/teams", response_model=TeamView, responses={201: {"model": TeamView}})
async def create_team(body: TeamBody, tenant: Admin, teams: TeamsService, response: Response) -> Any:
    """Create a team (scope admin); 200: it was there already, with the same setting."""
    team, new = await teams.create(tenant, body.team, body.setting())
    response.status_code = 201 if new else 200
    return team


@router.get("/teams", response_model=TeamsView)
async def list_teams(tenant: Reader, teams: TeamsService, after: After = "", limit: Limit = 100) -> Any:
    """Return the teams of the key's tenant, by name (scope read)."""
    return await teams.list(tenant, after, limit)


@router.get("/teams/{team}", response_model=TeamView)
async def read_team(team: TeamName, tenant: Reader, teams: TeamsService) -> Any:
    """Return a team (scope read)."""
    return await teams.find(tenant, team)


@router.delete("/teams/{team}", response_model=DoneBody)
async def delete_team(team: TeamName, tenant: Admin, teams: TeamsService) -> DoneBody:
    """Delete a team with all its games (scope admin)."""
    await teams.delete(tenant, team)
    return DoneBody()


@router.post(
    "/teams/{team}/games",
    response_model=GameView,
    response_model_exclude_none=True,
    responses={201: {"model": GameView}},
)
async def create_game(team: TeamName, body: GameBody, tenant: Player, teams: TeamsService, response: Response) -> Any:
    """Begin a game, or import one (scope play); 200: it was there already."""
    game, new = await teams.create_game((tenant, team, body.game), body.seed, body.state)
    response.status_code = 201 if new else 200
    return game


@router.get("/teams/{team}/games", response_model=GamesView)
async def list_games(team: TeamName, tenant: Reader, teams: TeamsService, after: After = "", limit: Limit = 100) -> Any:
    """Return the games of a team, by name (scope read)."""
    return await teams.list_games(tenant, team, after, limit)


@router.get("/teams/{team}/games/{game}", response_model=GameView, response_model_exclude_none=True)
async def read_game(team: TeamName, game: GameName, tenant: Reader, games: GamesService) -> Any:
    """Return where a game is (scope read)."""
    return await games.view((tenant, team, game))


@router.delete("/teams/{team}/games/{game}", response_model=DoneBody)
async def delete_game(team: TeamName, game: GameName, tenant: Admin, teams: TeamsService) -> DoneBody:
    """Delete a game with its history (scope admin)."""
    place: Place = (tenant, team, game)
    await teams.delete_game(place)
    return DoneBody()


@router.post(CHOOSE, response_model=ChoiceView)
async def choose(team: TeamName, game: GameName, tenant: Player, body: ChooseBody | None = None) -> NoReturn:
    """Return the partner's arm (scope play): fixed once requested, the same for every later request.

    Without a round or an event it is the choice of the current round. An event that is new opens a round, also while
    earlier rounds wait for their team action.
    """
    raise AssertionError("PartnerEndpoint answers these requests.")


@router.post(OBSERVE, response_model=ObservedView)
async def observe(team: TeamName, game: GameName, body: ObserveBody, tenant: Player) -> NoReturn:
    """Report the team action, the reward that the partner's seat saw, or both (scope play).

    Each counts once, any number of rounds later and in any order. The team action of the newest round ends it. The
    same report again changes nothing and is answered with `duplicate`; another report of the same round is refused.
    """
    raise AssertionError("PartnerEndpoint answers these requests.")


@router.get("/teams/{team}/games/{game}/rounds", response_model=HistoryView, response_model_exclude_unset=True)
async def history(
    team: TeamName,
    game: GameName,
    tenant: Reader,
    games: GamesService,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="Rounds after this one")] = 0,
    limit: Limit = 100,
) -> Any:
    """Return the rounds of a game in order (scope read)."""
    return await games.history((tenant, team, game), after, limit)


@router.get("/teams/{team}/games/{game}/state", response_model=StateView)
async def export_game(team: TeamName, game: GameName, tenant: Player, games: GamesService) -> Any:
    """Return the whole state of a game, for another game or another server (scope play)."""
    return await games.export((tenant, team, game))


@router.get("/client.js", include_in_schema=False)
async def client() -> Response:
    """Return the client for JavaScript: an ES module."""
    path = str(pages.PACKAGE.joinpath("static", "partner", "client.js"))
    return FileResponse(path, media_type="text/javascript; charset=utf-8", headers={"cache-control": "no-cache"})
