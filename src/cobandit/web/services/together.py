"""What the pages of people in one team ask for: the lobby, the state of the team, moves, and the stream of events."""

from __future__ import annotations

import asyncio
import functools
import logging
import re
import secrets
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

from cobandit.base.json_types import JsonObject
from cobandit.studies import Episode, Round, StudyDesign
from cobandit.web.refusals import Refused, conflict
from cobandit.web.services.games import Game
from cobandit.web.services.lobby import end_wait, form_teams, lobby_view, store_team, visit
from cobandit.web.services.lobby_streams import LobbyStreams
from cobandit.web.services.messages import MessageBoard
from cobandit.web.services.people import ActiveParticipant, People
from cobandit.web.services.service_seats import ServiceSeats
from cobandit.web.services.streams import KEEP_ALIVE, KEEP_ALIVE_SECONDS, event_bytes
from cobandit.web.services.teams import Teams
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import participants_by_ids
from cobandit.web.storage.rounds import Move
from cobandit.web.storage.settings import lease_setting
from cobandit.web.storage.studies import locked_study, study_by_id
from cobandit.web.storage.team_moves import Position
from cobandit.web.storage.teams import (
    due_lobby,
    due_meetings,
    due_rounds,
    team_of,
    team_revisions,
    waiting_people,
)
from cobandit.web.storage.values import now_ms

log = logging.getLogger("cobandit.web")

SCHEDULE_SECONDS = 0.5
LEASE_MS = 3000
WATCH_SECONDS = {True: 0.5, False: 0.05}
"""How often a process looks for what other processes have written: SQLite seldom has any, PostgreSQL has workers."""


def answer_view(episode: Episode, t: int, seat: int) -> JsonObject:
    """Return the answer to the choice of round ``t``: the round itself, or, where feedback is delayed, what it reveals.

    ``known`` then holds the rounds that the participant learns after this one.
    """
    plan = episode.plan

    def view(played: Round) -> JsonObject:
        own = round_view(played, seat, graded=plan.design.rewards.graded, layers=plan.layers)
        return own | {"arms": plan.known_arms(played.arms, seat)}

    if not plan.delay:
        return view(episode.round(t))
    arms = [arm if place == seat else None for place, arm in enumerate(episode.round(t).arms)]
    known = [view(past) for past in episode.known_after(t)]
    return {"t": t, "arms": arms, "good": None, "known": known} | (
        {"score": None} if plan.design.rewards.graded else {}
    )


def round_view(played: Round, seat: int, *, graded: bool = False, layers: int = 1) -> JsonObject:
    """Return a round as the participant, in a seat, may see it; ``graded``: its outcome is a score.

    ``layers`` is how many rounds make one outcome.
    """
    seen = played.seen[seat]
    if graded:
        return {"t": played.t, "arms": list(played.arms), "good": None, "score": seen}
    served = seen is not None and played.t % layers == 0  # a burger is tasted after its last layer
    return {"t": played.t, "arms": list(played.arms), "good": bool(seen) if served else None}


class Together:
    """Everything that people who play together ask for."""

    def __init__(self, database: Database, people: People) -> None:
        self._database, self._people = database, people
        self.teams = Teams(database)
        self.lobbies = LobbyStreams(database)
        self.services = ServiceSeats(self.teams, database)
        self.messages = MessageBoard(database, self._wake_streams)
        self._owner = secrets.token_hex(8)

    # The lobby

    async def lobby(self, token: str, *, ready: bool) -> JsonObject | None:
        """Join the lobby, or confirm the participant's presence; return its view, or None if the wait is over."""
        async with self._people.person(token, fresh=True) as person:
            if person.step.kind != "lobby":
                return None
            record, study = person.record, person.study
            await self._database.commit(lambda connection: visit(connection, study, record, ready, now_ms()))
            self.lobbies.publish(study.id, record.kind)
            return await self.lobby_view(person)

    async def lobby_view(self, person: ActiveParticipant) -> JsonObject | None:
        """Return what the page shows of the lobby; None where a team was formed."""
        record, design = person.record, person.study.design
        group, size = design.group, len(design.participant_seats)
        assert group is not None

        def ask(connection: Connection) -> JsonObject | None:
            team = team_of(connection, record.id)
            waiting = waiting_people(connection, record.study_id, record.kind)
            return None if team is not None else lobby_view(waiting, record.id, group, size, now_ms())

        return await self._database.ask(ask)

    # Where a team is

    async def game(self, person: ActiveParticipant, number: int) -> Game:
        """Return the game of an episode with several recorded seats; the person arrives there."""
        if person.team is None:
            await self._people.write(person, lambda connection: _team_of_one(connection, person))
            await self._people.refresh(person)
        game = await self.teams.arrive(person, number)
        self.services.ask(game)
        return game

    async def current(self, person: ActiveParticipant, number: int) -> tuple[Game, Position]:
        """Return the game as it is stored at this moment, and where the person is in it."""
        await self.game(person, number)
        assert person.team is not None
        return await self.teams.current(person.team.id, number, person.seat)

    def state(
        self, game: Game, person: ActiveParticipant, language: str, position: Position | None = None
    ) -> JsonObject:
        """Return what the page shows of the team: made of sealed rounds, and of the own move alone."""
        team, seat, now = game.team, person.seat, now_ms()
        view = self._lasting_view(game, seat, language).copy()
        if game.stored is None:
            there = [place for place, member in team.members.items() if member.arrived >= game.plan.index]
            left = None if team.meet_by is None else max(0, team.meet_by - now) // 1000
            present = [place for place in team.members if place not in team.gone]
            view["meeting"] = {"here": len(there), "needed": len(present), "seconds_left": left}
        view["moved"] = moved = game.has_moved(seat, position)
        limit = game.seconds_for(seat, team.gone)
        if game.stored is not None and limit is not None and not moved:
            view["seconds_left"] = max(0, limit - (now - game.stored.round_at) // 1000)
        return view

    def _lasting_view(self, game: Game, seat: int, language: str) -> dict[str, object]:
        """Return the part of the state that changes with the members alone; it is needed for every sealed round."""
        if (known := game.views.get((seat, language))) is not None:
            return known
        design, gone = game.plan.design, game.team.gone
        # The lobby has said that an AI plays the seat of a person who does not come.
        left_people = [place for place in gone if place != seat and game.team.members[place].left_reason != "short"]
        view = game.views[seat, language] = {
            "seat": seat,
            "seats": [
                {"seat": place, "player": player, "you": place == seat, "left": place in gone}
                for place, player in enumerate(game.plan.players)
            ],
            "meeting": None,
            "moved": False,
            "seconds_left": None,
            "notice": design.texts(language)["group.left"] if left_people and design.group is not None else None,
        }
        return view

    # Playing

    async def play(
        self, person: ActiveParticipant, number: int, moves: Sequence[Move], language: str | None
    ) -> JsonObject:
        """Take the moves of a member; the answer has the rounds that are sealed."""
        if person.team is None or not self.teams.has_begun(person.team.id, number):
            await self.game(person, number)
        game = await self.teams.play(person, number, moves)
        self.services.ask(game)
        answer = self._since(game, person, min([move.t for move in moves]) - 1, moves[-1].t)
        if game.finished:
            await self._people.refresh(person)
        if game.played < moves[-1].t:
            answer["waiting"] = True
        return answer

    async def team(self, token: str, number: int, after: int, language: str | None) -> JsonObject:
        """Return the rounds that were sealed after a round, and the state of the team: for pages without a stream."""
        async with self._people.person(token, fresh=True) as person:
            step = person.step
            begun = number in person.stored.episodes
            if person.team is None or (not begun and (step.kind, step.number) != ("episode", number)):
                raise conflict("wrong-step", f"Episode {number} is not being played; the current step is {step.id!r}.")
            game, position = await self.current(person, number)
            chosen = self._language(person.study.design, language or person.record.language)
            return self._since(game, person, after, None) | {"team": self.state(game, person, chosen, position)}

    def _since(self, game: Game, person: ActiveParticipant, after: int, until: int | None) -> JsonObject:
        episode, seat, played = game.episode, person.seat, game.played
        last = played if until is None else min(until, played)
        graded = game.plan.design.rewards.graded
        return {
            "episode": game.plan.index,
            "rounds": [round_view(episode.round(t), seat, graded=graded) for t in range(after + 1, last + 1)],
            "played": played,
            "left": game.plan.rounds - played,
            "finished": game.finished,
        }

    def _language(self, design: StudyDesign, wanted: str | None) -> str:
        return wanted if wanted is not None and wanted in design.languages else design.languages[0]

    # Streams

    async def stream(self, token: str, language: str | None, last: str = "") -> AsyncIterator[bytes] | None:
        """Return the event stream of a participant's current step; None if there is nothing to wait for.

        ``last`` is the id of the last event that the page has had.
        """
        async with self._people.person(token, fresh=True) as person:
            step = person.step
            if step.kind == "lobby":
                news = _MessageEvents(self.messages, token)
                return self.lobbies.events(person.study, person.record.kind, person.record.id, news.new)
            if step.kind != "episode" or step.number is None or not person.is_recorded(step.number):
                return None
            game, _ = await self.current(person, step.number)
            return self._team_stream(person, game, self._language(person.study.design, language), last)

    async def _team_stream(
        self, person: ActiveParticipant, game: Game, language: str, last: str
    ) -> AsyncIterator[bytes]:
        """Yield sealed rounds and changes of the team.

        The first event has the rounds since ``last``, else the latest one: a page that was away may have missed them.
        """
        team, number, seat = game.team.id, game.plan.index, person.seat
        had = re.fullmatch(r"(\d{1,9})-(\d{1,9})", last)
        sent = int(had[2]) if had is not None and int(had[1]) == number else max(0, game.played - 1)
        shown: tuple[object, ...] | None = None
        messages = _MessageEvents(self.messages, person.token)
        with self.teams.hub.listening(team, seat) as event:
            event.set()
            while True:
                await event.wait()
                if self.teams.hub.closing.is_set():
                    return
                event.clear()
                game = await self.teams.game(team, number)
                view, news = self.state(game, person, language), []
                if sent < game.played:
                    sealed = self._since(game, person, sent, None)
                    sent = game.played
                    sealed["team"] = view
                    news.append(event_bytes("sealed", sealed, f"{number}-{sent}"))
                    shown = shown and _lasting(view)
                if game.finished or seat in game.team.gone:
                    yield b"".join([*news, event_bytes("step", {})])
                    return
                if (lasting := _lasting(view)) != shown:
                    shown = lasting
                    news.append(event_bytes("team", view))
                yield b"".join([*news, *messages.new()]) or KEEP_ALIVE

    def _wake_streams(self) -> None:
        self.teams.hub.publish_all()
        self.lobbies.wake()

    def close_streams(self) -> None:
        """End all streams: the server stops."""
        self.teams.hub.close()
        self.lobbies.close()

    # In the background

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """Return what runs as long as the server does."""
        return [self.keep_alive(), self.watch(), self.schedule(), self.messages.watch()]

    async def keep_alive(self) -> None:
        """Let every stream of a team say something now and then, so that no proxy closes it."""
        while True:
            await asyncio.sleep(KEEP_ALIVE_SECONDS)
            self.teams.hub.publish_all()

    async def watch(self) -> None:
        """Wake streams when another process has written to their team."""
        while True:
            await asyncio.sleep(WATCH_SECONDS[self._database.sqlite])
            teams = self.teams.hub.teams
            if not teams:
                continue
            try:
                revisions = await self._database.ask(functools.partial(team_revisions, numbers=teams))
            except Refused:
                continue
            behind = self.teams.behind(teams, revisions)
            await asyncio.gather(*(self.teams.catch_up(team, revisions) for team in behind), return_exceptions=True)

    async def schedule(self) -> None:
        """Do what is due by the clock: time-outs, late members, long waits. One process at a time has the lease."""
        while True:
            await asyncio.sleep(SCHEDULE_SECONDS)
            try:
                await self.run_due()
            except Refused:
                continue
            except Exception:
                log.exception("What was due for a team could not be done; it will be tried again.")

    async def run_due(self) -> None:
        """Do everything that is due now."""

        def ask(connection: Connection) -> tuple[list[int], list[int], list[tuple[int, int]]]:
            now = now_ms()
            return due_lobby(connection, now), due_meetings(connection, now), due_rounds(connection, now)

        waits, meetings, rounds = await self._database.ask(ask)
        if not (waits or meetings or rounds):
            return
        owner, now = self._owner, now_ms()
        if not await self._database.commit(
            lambda connection: lease_setting(connection, "team-scheduler", owner, now, LEASE_MS)
        ):
            return
        for person in waits:
            await self._database.commit(functools.partial(_end_wait, number=person))
        for team in meetings:
            await self.teams.meeting_is_over(team)
        for team, number in rounds:
            await self.teams.round_is_late(team, number)
            self.services.ask(await self.teams.game(team, number))


class _MessageEvents:
    """The messages that one stream has not sent yet."""

    def __init__(self, board: MessageBoard, token: str) -> None:
        self._board, self._token, self._sent = board, token, set[str]()

    def new(self) -> list[bytes]:
        """Return the events of messages that have come since the last call."""
        if not (waiting := self._board.of(self._token)):
            return []
        new = [message for message in waiting if message["key"] not in self._sent]
        self._sent |= {message["key"] for message in new}
        return [event_bytes("message", message) for message in new]


def _end_wait(connection: Connection, number: int) -> None:
    person = participants_by_ids(connection, [number]).get(number)
    study = None if person is None else study_by_id(connection, person.study_id)
    if person is None or study is None:
        return
    locked_study(connection, study.id)
    form_teams(connection, study, person.kind, now_ms())  # another participant may have arrived just now
    end_wait(connection, study, person, now_ms())


def _team_of_one(connection: Connection, person: ActiveParticipant) -> None:
    """Store the team of a person who plays with services alone."""
    record, plan = person.record, person.plan
    locked_study(connection, record.study_id)
    if plan is None or team_of(connection, record.id) is not None:
        return
    seats: dict[int, int | None] = {plan.design.participant_seat: record.id}
    store_team(connection, person.study, record.kind, seats, now_ms(), seed=plan.seed, order=plan.order)


def _lasting(view: JsonObject) -> tuple[object, ...]:
    """Return the part of a view that does not change by the clock, nor by the own move."""
    meeting = view["meeting"] and (view["meeting"]["here"], view["meeting"]["needed"])
    return view["seats"], view["notice"], meeting
