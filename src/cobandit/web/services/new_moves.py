"""Which moves of a request are not stored yet."""

from __future__ import annotations

from collections.abc import Sequence

from cobandit.base.errors import InvalidInput
from cobandit.studies import Episode
from cobandit.web.refusals import conflict
from cobandit.web.storage.rounds import Move


def new_moves(episode: Episode, keys: Sequence[str], moves: Sequence[Move]) -> list[Move]:
    """Return the moves that are not stored yet, after a check of all of them that changes nothing."""
    design, rounds, played = episode.plan.design, episode.plan.rounds, episode.played
    seat = episode.plan.own_seat
    arms = design.arms[seat]
    new: list[Move] = []
    for before, move in zip([None, *moves], moves, strict=False):
        if not 0 <= move.arm < arms:
            raise InvalidInput(f"The arm of round {move.t} is {move.arm}; arms go from 0 to {arms - 1}.")
        if before is not None and move.t != before.t + 1:
            raise InvalidInput(f"Round {move.t} follows round {before.t}; the rounds of a request must be in a row.")
        if move.t <= played:
            if keys[move.t - 1] != move.key:
                raise conflict("already-played", f"Round {move.t} has been played already, with another choice.")
            if episode.round(move.t).arms[seat] != move.arm:
                raise conflict("already-played", f"Round {move.t} was sent with this key and another arm before.")
        elif move.t > rounds:
            raise conflict("episode-over", f"There is no round {move.t}: the episode has {rounds} rounds.")
        elif move.t != played + len(new) + 1:
            raise conflict("out-of-order", f"Round {move.t} cannot be played yet: round {played + 1} is next.")
        else:
            new.append(move)
    return new
