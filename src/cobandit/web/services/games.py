"""The game of a team in memory: an episode, the moves that are stored of it, and which moves fit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies import Episode, EpisodePlan
from cobandit.studies.plan import ParticipantPlan, TeamPlace
from cobandit.web.refusals import conflict
from cobandit.web.storage.rounds import Move
from cobandit.web.storage.studies import Study
from cobandit.web.storage.team_moves import Position, SeatMove, TeamEpisode
from cobandit.web.storage.teams import Team


@dataclass
class Game:
    """One episode of a team in memory; ``stored`` is None until it has begun.

    ``episode`` is ahead of ``stored`` while a round is being written. ``keys`` says in which round a seat used a key.
    """

    team: Team
    study: Study
    episode: Episode
    stored: TeamEpisode | None = None
    pending: dict[int, SeatMove] = field(default_factory=dict)
    moves: dict[int, dict[int, SeatMove]] = field(default_factory=dict)
    keys: dict[tuple[int, str | None], int] = field(default_factory=dict)
    views: dict[tuple[int, str], JsonObject] = field(default_factory=dict)
    """What the page shows of the team and only changes with it, by seat and language; for begun episodes."""
    changes: int = 0
    """How often moves were stored since the game was read."""
    limits: dict[frozenset[int], dict[int, int]] = field(default_factory=dict)
    """The limits of moves in seconds, by the seats that were taken over for good and by seat."""

    @property
    def plan(self) -> EpisodePlan:
        """The plan of the episode."""
        return self.episode.plan

    @cached_property
    def has_services(self) -> bool:
        """Whether a service plays in some seat."""
        return "service" in self.plan.players

    @property
    def played(self) -> int:
        """How many rounds are stored."""
        return 0 if self.stored is None else self.stored.played

    @property
    def finished(self) -> bool:
        """Whether all rounds are stored."""
        return self.played >= self.plan.rounds

    def has_arrived(self, seat: int) -> bool:
        """Return whether a member has reached the episode, or it has begun."""
        return self.stored is not None or self.team.members[seat].arrived >= self.plan.index

    def has_moved(self, seat: int, position: Position | None = None) -> bool:
        """Return whether a seat has moved in the round under way, in any process where ``position`` is current."""
        known = seat in self.pending
        return known or (position is not None and position.played == self.played and position.moved)

    def seconds_for(self, seat: int, gone: frozenset[int]) -> int | None:
        """Return the limit for the move of a seat: a person has one while another person waits."""
        return self._limits(gone).get(seat)

    def deadline(self, start: int, after: int, gone: frozenset[int], moved: Sequence[int] = ()) -> int | None:
        """Return when the next seat is late in a round that began at ``start``, later than ``after``."""
        if self.team.members.keys() <= gone:
            return None  # all members have left
        limits = self._limits(gone).items()
        due = [start + 1000 * seconds for seat, seconds in limits if seat not in gone and seat not in moved]
        return min([time for time in due if time > after], default=None)

    def _limits(self, gone: frozenset[int]) -> dict[int, int]:
        """Return the limits of all seats that have one."""
        if (known := self.limits.get(gone)) is None:
            players, free = self.plan.players, self.plan.free_seats
            waiting = {seat for seat in free if players[seat] == "participant" and seat not in gone}
            known = self.limits[gone] = {
                seat: seconds
                for seat in free
                if (seconds := self.plan.design.seating[seat].timeout_seconds)
                and (players[seat] == "service" or waiting - {seat})
            }
        return known


def team_plan(study: Study, team: Team, number: int) -> EpisodePlan:
    """Return the plan of an episode that a team plays together."""
    place = TeamPlace(team.seed, study.design.participant_seat, team.roster)
    secret = study.secret_for(team.kind)
    return ParticipantPlan(study.design, team.seed, team.order_index, secret, place).episode(number)


def leaving_seats(game: Game, seats: Sequence[int], reason: str, gone: frozenset[int]) -> dict[str, list[int]]:
    """Return the seats that leave for good, by reason: after the first, the others may continue with the survey."""
    if not seats:
        return {}
    left = {reason: list(seats)}
    group = game.plan.design.group
    if group is not None and group.when_left == "end":
        others = [seat for seat in game.team.members if seat not in gone and seat not in seats]
        left |= {"partner": others} if others else {}
    return left


def timed_out(game: Game, new: Sequence[SeatMove]) -> list[int]:
    """Return the people whose time-out is one too many in a row."""
    group = game.plan.design.group
    if group is None or all(move.by != "takeover" for move in new):
        return []
    rounds = game.episode.rounds
    last = rounds[len(rounds) - group.timeouts + 1 :] if group.timeouts > 1 else ()
    missed = len(last) == group.timeouts - 1
    return [
        move.seat
        for move in new
        if move.by == "takeover"
        and move.seat in game.team.members
        and missed
        and all(played.by[move.seat] == "takeover" for played in last)
    ]


def new_move(game: Game, seat: int, moves: Sequence[Move]) -> SeatMove | None:
    """Return the move that is not stored yet, after a check of all of them that changes nothing."""
    if seat in game.team.gone:
        raise conflict("left", "An AI plays in this seat now, because no move came for too long.")
    played, rounds, arms = game.played, game.plan.rounds, game.plan.design.arms[seat]
    new: SeatMove | None = None
    for move in moves:
        if not 0 <= move.arm < arms:
            raise InvalidInput(f"The arm of round {move.t} is {move.arm}; arms go from 0 to {arms - 1}.")
        if move.t > rounds:
            raise conflict("episode-over", f"There is no round {move.t}: the episode has {rounds} rounds.")
        if move.t > played + 1 or game.stored is None:
            raise conflict("out-of-order", f"Round {move.t} cannot be played yet: round {played + 1} is next.")
        known = game.moves.get(move.t, {}).get(seat)
        if known is None:
            if new is not None and new.key != move.key:
                raise conflict("already-played", f"Round {move.t} is in the request twice, with different keys.")
            if (earlier := game.keys.get((seat, move.key))) is not None:
                raise conflict("already-played", f"The key of round {move.t} came before, with round {earlier}.")
            new = SeatMove(seat, move.arm, "person", move.key, move.ms)
        elif known.key != move.key:
            raise conflict("already-played", f"Round {move.t} has been played already, with another choice.")
        elif known.arm != move.arm:
            raise conflict("already-played", f"Round {move.t} was sent with this key and another arm before.")
    return new
