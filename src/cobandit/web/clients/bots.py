"""Many simulated participants over HTTP, with the same interface as the pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

import httpx

from cobandit.agents import Agent
from cobandit.base.checks import MOST, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies import ParticipantPlan, StudyDesign, make_behaviour
from cobandit.web.clients.bot import Acknowledged, Bot, BotOptions, BotResult, Watch
from cobandit.web.clients.http import (
    LoginRefused,
    NoSuchStudy,
    ServerUnreachable,
    address,
    answer_body,
    client_options,
    sentence,
    unreachable,
)

__all__ = ["Acknowledged", "BotOptions", "BotResult", "Watch", "play_study", "play_study_async"]

P = ParamSpec("P")
T = TypeVar("T")

_TIMEOUT = 30.0


async def play_study_async(
    url: str, study: str, participants: int, behaviours: str | Agent | Sequence[str | Agent], **options: Any
) -> list[BotResult]:
    """Play bots through a study, each to its completion code; return the results in the order of arrival.

    Bot i behaves as the i-th of ``behaviours``, cyclically. They arrive one after another, so that seed and order of
    each are always the same, and then play several at a time. The options are those of `BotOptions`. The same call
    again continues with the same bots.
    """
    count = whole(1, MOST)("participants", participants)
    chosen = BotOptions(**options)
    agents = _agents(behaviours)
    if chosen.kind == "rehearsal" and chosen.login is None:
        raise LoginRefused("Rehearsals need the researcher's login; give the password of the server.")
    _refuse_too_many_calls(agents, count, chosen.design)
    async with _client(url, chosen) as client:
        about = await _describe(client, study)
        bots = [Bot(client, study, about, agents[i % len(agents)], i, chosen) for i in range(count)]
        for bot in bots:
            await bot.arrive()
        # Members of a team wait for each other, so a whole team must be able to play at the same time.
        size = 1 if chosen.design is None else len(chosen.design.participant_seats)
        await _play_all(bots, max(chosen.concurrency, size))
    return [bot.result for bot in bots]


def _agents(behaviours: str | Agent | Sequence[str | Agent]) -> list[Agent]:
    given = [behaviours] if isinstance(behaviours, (str, Agent)) else list(behaviours)
    if not given:
        raise InvalidInput("There are no behaviours; at least one is needed.")
    agents = [make_behaviour(behaviour) for behaviour in given]
    for agent in agents:
        if agent.oracle:
            raise InvalidInput(
                f"{agent.name!r} needs the arms' means, which participants do not know; choose another behaviour."
            )
    return agents


def _refuse_too_many_calls(agents: Sequence[Agent], count: int, design: StudyDesign | None) -> None:
    """Raise before the first call if a language model may not play the design's number of rounds, if it is known."""
    if design is None:
        return
    rounds = len(ParticipantPlan(design, 0, 0)) * design.most_rounds
    for place, agent in enumerate(agents):
        people = len(range(place, count, len(agents)))
        if agent.waits and people:
            agent.before_runs(design.arms, rounds * people, 1)


async def _play_all(bots: Sequence[Bot], concurrency: int) -> None:
    places = asyncio.Semaphore(concurrency)

    async def play(bot: Bot) -> None:
        async with places:
            await bot.play()

    tasks = [asyncio.create_task(play(bot)) for bot in bots]
    try:
        await asyncio.gather(*tasks)
    finally:  # the first that fails stops all
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _synchronous(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return asyncio.run(work(*args, **kwargs))

    return run


play_study = _synchronous(play_study_async)


def _client(url: str, options: BotOptions) -> httpx.AsyncClient:
    connections = max(options.concurrency, 1 if options.design is None else len(options.design.participant_seats))
    return httpx.AsyncClient(
        **client_options(url, options.login),
        timeout=_TIMEOUT,
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
    )


async def _describe(client: httpx.AsyncClient, study: str) -> JsonObject:
    """Return the server's description of a study; requested first, so that a mistyped address is an immediate error."""
    try:
        response = await client.get(f"/api/studies/{quote(study, safe='')}")
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise unreachable(client, error) from error
    about = answer_body(response)
    if response.status_code == 404 and about.get("error") == "not-found":
        raise NoSuchStudy(f"The server at {address(client)} has no study {study!r}.")
    if response.status_code != 200 or "consent" not in about:
        why = sentence(about, response.status_code)
        raise ServerUnreachable(f"{address(client)} does not answer as a server of studies: {why}")
    return about
