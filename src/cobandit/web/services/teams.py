"""Teams that play together: their games in memory, the moves of all seats, and the takeover of absent members' seats.

The database is authoritative. A game in memory is used only as far as the transaction that writes a move finds the same
moves in the database; otherwise nothing is written, the game is read again and the move is tried once more. Views are
made of sealed rounds only, so no member can see a move before the round is complete. Neither reading nor refusing waits
for the team's turn, which another member's move may hold, so that not even the time of an answer depends on that move.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cobandit.studies import Choice, Episode
from cobandit.studies.rounds import hash_version
from cobandit.web.refusals import Refused, busy, conflict
from cobandit.web.services.games import Game, leaving_seats, new_move, team_plan, timed_out
from cobandit.web.services.people import ActiveParticipant, Turn, Turns, episode_of
from cobandit.web.services.streams import Hub
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.participants import Stale
from cobandit.web.storage.rounds import Move
from cobandit.web.storage.studies import Study, study_by_id
from cobandit.web.storage.team_moves import (
    Position,
    SeatMove,
    TeamEpisode,
    load_team_episode,
    open_episode,
    position_of,
    running_episode,
    team_rounds,
)
from cobandit.web.storage.team_writes import StoreTeamMoves
from cobandit.web.storage.teams import Team, mark_arrived, mark_left, stop_meeting, team_by_id
from cobandit.web.storage.values import now_ms

log = logging.getLogger("cobandit.web")

TRIES = 8
MOST_GAMES = 2000
RESEARCHER = "researcher"
"""Why a seat was taken over: a researcher has ended the team or replaced the member."""

Then = Callable[[Connection, Team, Sequence[int]], None]
"""What is written together with a takeover for good, with the team before it and the seats that are taken over."""


class Teams:
    """The games of teams in one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._games: OrderedDict[tuple[int, int], Game] = OrderedDict()
        self._turns = Turns()
        self.hub = Hub()

    def turn(self, team: int) -> Turn:
        """Return a context in which nothing else is written to a team by this process."""
        return Turn(self._turns, str(team))

    # Games

    def has_begun(self, team: int, number: int) -> bool:
        """Return whether memory knows that an episode has begun."""
        known = self._games.get((team, number))
        return known is not None and known.stored is not None

    async def game(self, team: int, number: int) -> Game:
        """Return an episode of a team; if all have moved and the round is being stored, after that."""
        known = self._games.get((team, number))
        if known is not None and known.episode.played == known.played:
            return known
        async with self.turn(team):
            return await self._game(team, number)

    async def current(self, team: int, number: int, seat: int) -> tuple[Game, Position]:
        """Return an episode with every round that is sealed at this moment, and where the person in a seat is.

        The queries and their order depend on sealed rounds and on the own move alone.
        """
        position = await self._database.ask(lambda connection: position_of(connection, team, number, seat))
        game = await self.game(team, number)
        if game.team.revision < position.revision:
            async with self.turn(team):
                game = await self._game(team, number)
                if game.team.revision < position.revision:
                    game = await self._game(team, number, fresh=True)
        return game, position

    async def _game(self, team: int, number: int, *, fresh: bool = False) -> Game:
        known = self._games.get((team, number))
        if known is None or fresh:
            self._games.pop(
                (team, number), None
            )  # its episode is brought up to date in a thread, so no reader may have it
            known = await self._database.ask(lambda connection: _load(connection, team, number, known))
            self._games[team, number] = known
            while len(self._games) > MOST_GAMES:
                self._games.popitem(last=False)
        self._games.move_to_end((team, number))
        return known

    def behind(self, teams: Sequence[int], revisions: Mapping[int, int]) -> list[int]:
        """Return which teams have games in memory that are older than their revisions, or are not there any more."""
        wanted = set(teams)
        return sorted(
            {
                team
                for (team, _), game in self._games.items()
                if team in wanted and (team not in revisions or game.team.revision < revisions[team])
            }
        )

    async def catch_up(self, team: int, revisions: Mapping[int, int]) -> None:
        """Read the games of a team again where another process has written to it, and wake its streams."""
        async with self.turn(team):  # what this process has just written is in memory then
            if not self.behind([team], revisions):
                return
            for key in [key for key in self._games if key[0] == team]:
                if team in revisions:
                    await self._game(*key, fresh=True)
                else:
                    del self._games[key]
        self.hub.publish(team)

    def forget(self, team: int) -> None:
        """Take the games of a team out of memory."""
        for key in [key for key in self._games if key[0] == team]:
            del self._games[key]

    # Beginning

    async def arrive(self, person: ActiveParticipant, number: int) -> Game:
        """Record that a member has reached an episode. It begins when all members who have not left are present."""
        team = person.team
        assert team is not None
        known = self._games.get((team.id, number))
        if known is not None and known.has_arrived(team.seat_of(person.record.id)):
            return known
        async with self.turn(team.id):
            game = await self._game(team.id, number)
            seat = team.seat_of(person.record.id)
            if game.has_arrived(seat):
                return game
            group = game.plan.design.group
            wait = 0 if group is None else 1000 * group.lobby_seconds

            def job(connection: Connection) -> None:
                current, now = team_by_id(connection, team.id, lock=True), now_ms()
                if current is None or current.members[seat].arrived >= number:
                    return
                there = {other for other, member in current.members.items() if member.arrived >= number} | {seat}
                if there | current.gone >= set(current.members):
                    mark_arrived(connection, team.id, seat, number, None)
                    _begin(connection, game, current, now)
                else:
                    mark_arrived(connection, team.id, seat, number, current.meet_by or now + wait)

            return await self._write(game, job)

    async def meeting_is_over(self, team: int) -> None:
        """Mark members who are late for an episode as gone; the others begin, or continue with the survey."""
        async with self.turn(team):
            study, current = await self._database.ask(lambda connection: _team_and_study(connection, team))
            if current is None or study is None or current.meet_by is None:
                return
            number = max(member.arrived for member in current.members.values())
            game = await self._game(team, number, fresh=True)

            def job(connection: Connection) -> None:
                locked, now = team_by_id(connection, team, lock=True), now_ms()
                if locked is None or locked.meet_by is None or locked.meet_by > now:
                    return
                late = [
                    seat
                    for seat, member in locked.members.items()
                    if member.left_at is None and member.arrived < number
                ]
                left = leaving_seats(game, late, "absent", locked.gone)
                for reason, seats in left.items():
                    mark_left(connection, team, seats, number, reason, now)
                stop_meeting(connection, team)
                gone = locked.gone | {seat for seats in left.values() for seat in seats}
                if not set(locked.members) <= gone:
                    _begin(connection, game, replace(locked, members=locked.members), now, gone)

            await self._write(game, job)

    async def _write(self, game: Game, job: Any) -> Game:
        """Run a job that changes more than a move, and read the game again."""
        key = game.team.id, game.plan.index
        try:
            await self._database.commit(job)
        finally:
            self._games.pop(key, None)
        renewed = await self._game(*key)
        self.hub.publish(game.team.id)
        return renewed

    # Researchers

    async def release(self, number: int, seats: Mapping[int, str], then: Then) -> Game | None:
        """Take over seats of people for good, each for a reason; without anybody left, the team ends.

        It takes the transaction of a takeover, so a move at the same time is stored before it or refused after it.
        ``then`` writes in that transaction. Return the game under way.
        """
        for _ in range(TRIES):
            async with self.turn(number):
                team, running = await self._database.ask(lambda connection: _standing(connection, number))
                leaving = {seat: seats[seat] for seat in team.members if seat not in team.gone and seat in seats}
                if not leaving:
                    raise conflict("left", "The members of the team whom this is for have left already.")
                try:
                    if running is None:
                        return await self._release_between(team, leaving, then)
                    return await self._release_playing(team, running, leaving, then)
                except Stale:
                    continue
        raise busy()

    async def _release_playing(self, team: Team, number: int, leaving: Mapping[int, str], then: Then) -> Game:
        """Take over seats in the round under way: an agent moves for people who have not, unless all of them leave."""
        game = await self._game(team.id, number, fresh=True)
        if game.stored is None or game.finished:
            raise Stale
        ends = team.gone.union(leaving) >= set(team.members)
        missing = [] if ends else [seat for seat in leaving if seat not in game.pending]
        new = [SeatMove(seat, game.episode.takeover(seat), "takeover") for seat in missing]
        left: dict[str, list[int]] = {}
        for seat, reason in leaving.items():
            left.setdefault(reason, []).append(seat)
        await self._submit(game, new, left=left, then=lambda connection: then(connection, team, list(leaving)))
        return await self._game(team.id, number)

    async def _release_between(self, team: Team, leaving: Mapping[int, str], then: Then) -> Game | None:
        """Take over seats while no episode of the team is under way; others may be waiting for its beginning."""
        number = max(member.arrived for member in team.members.values())
        game = None if team.meet_by is None else await self._game(team.id, number, fresh=True)
        gone = team.gone.union(leaving)

        def job(connection: Connection) -> None:
            locked, now = team_by_id(connection, team.id, lock=True), now_ms()
            if locked is None or locked.members != team.members or running_episode(connection, team.id) is not None:
                raise Stale
            for seat, reason in leaving.items():
                member = locked.members[seat]
                episode = (
                    max(member.arrived, 0) if member.participant is None else episode_of(connection, member.participant)
                )
                mark_left(connection, team.id, [seat], episode, reason, now)
            here = [seat for seat in locked.members if seat not in gone and locked.members[seat].arrived >= number]
            late = [seat for seat in locked.members if seat not in gone and locked.members[seat].arrived < number]
            if not here or not late:
                stop_meeting(connection, team.id)
            if game is not None and here and not late:
                _begin(connection, game, locked, now, gone)
            then(connection, locked, list(leaving))

        if game is not None:
            return await self._write(game, job)
        await self._database.commit(job)
        self.forget(team.id)
        return None

    # Moving

    async def play(self, person: ActiveParticipant, number: int, moves: Sequence[Move]) -> Game:
        """Take the moves of a member; those stored under the same keys change nothing."""
        team, seat = person.team, person.seat
        assert team is not None
        checked, changes, new = await self._check(team.id, number, seat, moves)
        for _ in range(TRIES):
            async with self.turn(team.id):
                game = await self._game(team.id, number)
                try:
                    if game is not checked or game.changes != changes:
                        new = new_move(game, seat, moves)
                    if new is not None:
                        await self._submit(game, [new], seen=person.record.id)
                    elif game.played < moves[-1].t:
                        # A retry: another process may have sealed the round meanwhile.
                        game = await self._game(team.id, number, fresh=True)
                    return game
                except Stale:
                    await self._game(team.id, number, fresh=True)
        raise busy()

    async def _check(
        self, team: int, number: int, seat: int, moves: Sequence[Move]
    ) -> tuple[Game, int, SeatMove | None]:
        """Refuse moves that do not fit the game; return it, its number of changes, and the move that is new in it.

        Memory may be behind what another process has written, so it refuses only what the database refuses, too.
        """
        game = self._games.get((team, number)) or await self.game(team, number)
        try:
            return game, game.changes, new_move(game, seat, moves)
        except Refused:
            game, position = await self.current(team, number, seat)
            if position.moved and position.played == game.played and seat not in game.pending:
                async with self.turn(team):  # the own move came to another process
                    game = await self._game(team, number, fresh=True)
            return game, game.changes, new_move(game, seat, moves)

    async def round_is_late(self, team: int, number: int) -> None:
        """Let agents move for all members whose time is over."""
        for _ in range(TRIES):
            async with self.turn(team):
                game = await self._game(team, number, fresh=True)
                if game.stored is None or game.finished:
                    return
                now, gone = now_ms(), game.team.gone
                missing = [s for s in game.plan.free_seats if s not in gone and s not in game.pending]
                late = [
                    seat
                    for seat in missing
                    if (limit := game.seconds_for(seat, gone)) is not None
                    and now - game.stored.round_at >= 1000 * limit
                ]
                new = [SeatMove(seat, game.episode.takeover(seat), "takeover") for seat in late]
                try:
                    await self._submit(game, new)
                    return
                except Stale:
                    continue

    async def add_move(self, team: int, number: int, t: int, move: SeatMove) -> bool:
        """Insert the move of a service; return False where the round has passed or the seat has moved."""
        for _ in range(TRIES):
            async with self.turn(team):
                game = await self._game(team, number)
                if game.stored is None or game.played + 1 != t or move.seat in game.pending:
                    return False
                try:
                    await self._submit(game, [move])
                    return True
                except Stale:
                    await self._game(team, number, fresh=True)
        raise busy()

    async def _submit(
        self,
        game: Game,
        new: Sequence[SeatMove],
        seen: int | None = None,
        left: Mapping[str, Sequence[int]] | None = None,
        then: Callable[[Connection], None] | None = None,
    ) -> None:
        """Store moves, and the round where they complete it; the caller has the team's turn.

        ``left`` are seats to take over for good; None: those with too many time-outs.
        """
        stored, episode, team = game.stored, game.episode, game.team
        assert stored is not None
        t, head, now, gone = episode.played + 1, episode.head, max(now_ms(), stored.round_at), team.gone
        chosen = game.pending | {move.seat: move for move in new}
        if left is None:
            left = leaving_seats(game, timed_out(game, new), "timeout", gone)
        leaving = {seat for seats in left.values() for seat in seats}
        sealed, inserted = None, list(new)
        free = episode.plan.free_seats
        if all(seat in chosen or seat in gone for seat in free):
            for seat in free:
                if seat not in chosen:
                    chosen[seat] = SeatMove(seat, episode.takeover(seat), "takeover")
                    inserted.append(chosen[seat])
            sealed = episode.play(t, {s: Choice(move.arm, move.by, move.evidence) for s, move in chosen.items()})
        start, moved = (now, ()) if sealed is not None else (stored.round_at, tuple(chosen))
        job = StoreTeamMoves(
            team=team.id,
            number=episode.plan.index,
            episode_id=stored.id,
            t=t,
            head=head,
            pending=len(game.pending),
            gone=len(gone),
            new=inserted,
            now=now,
            deadline=game.deadline(start, now, gone | leaving, moved),
            seen=seen,
            sealed=sealed,
            finished=episode.finished,
            left=left,
            then=then,
        )
        try:
            await self._database.commit(job)
        except BaseException:
            self._games.pop((team.id, episode.plan.index), None)
            raise
        game.changes += 1
        game.moves[t] = chosen
        for move in inserted:
            game.keys[move.seat, move.key] = t
        game.pending = {} if sealed is not None else chosen
        if leaving:
            await self._game(team.id, episode.plan.index, fresh=True)
        elif sealed is not None:
            game.stored = stored.after(t, episode.head, now)
            game.team = team.bumped()
        if sealed is not None or leaving:
            mover = new[0].seat if seen is not None else None
            self.hub.publish(team.id, None if leaving else mover)


def _standing(connection: Connection, number: int) -> tuple[Team, int | None]:
    """Return a team, and the episode that it plays at this moment."""
    team = team_by_id(connection, number)
    if team is None:
        raise conflict("left", "This team is not there any more.")
    return team, running_episode(connection, number)


def _team_and_study(connection: Connection, number: int) -> tuple[Study | None, Team | None]:
    team = team_by_id(connection, number)
    return (None, None) if team is None else (study_by_id(connection, team.study_id), team)


def _load(connection: Connection, number: int, index: int, known: Game | None) -> Game:
    """Read a game; rounds that memory has already are not played again."""
    study, team = _team_and_study(connection, number)
    if study is None or team is None:
        raise conflict("wrong-step", "This team is not there any more.")
    stored = load_team_episode(connection, number, index)
    episode = None if known is None else known.episode
    if episode is None or (stored is not None and not _continues(connection, stored, episode)):
        version = None if stored is None else hash_version(stored.head)
        episode = Episode.open(team_plan(study, team, index), version)
    if stored is None:
        return Game(team, study, episode)
    moves = dict(known.moves) if known is not None and known.episode is episode else {}
    sealed, later = team_rounds(connection, stored.id, len(study.design.seating), episode.played, episode.head)
    episode.replay(sealed)
    moves |= later
    keys = {(seat, move.key): t for t, chosen in moves.items() for seat, move in chosen.items()}
    return Game(team, study, episode, stored, dict(stored.pending), moves, keys)


def _continues(connection: Connection, stored: TeamEpisode, episode: Episode) -> bool:
    """Return whether the stored rounds continue the episode in memory."""
    if episode.played > stored.played:
        return False
    if episode.played == stored.played:
        return episode.head == stored.head
    return True


def _begin(
    connection: Connection, game: Game, team: Team, now: int, gone: frozenset[int] | set[int] | None = None
) -> None:
    absent = frozenset(team.gone if gone is None else gone)
    begun = replace(game, team=team)
    open_episode(connection, team.id, game.episode, now, begun.deadline(now, now, absent))
