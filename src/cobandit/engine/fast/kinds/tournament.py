"""UCB with the paper's index over many team actions: a tournament instead of a scan.

With delta fixed a round changes one index, so the best one is kept up to date by replaying the matches of one cell.
The leaves are ordered by the agents' coordinates, the leader's foremost: the block that foresight leaves is a subtree,
and its best cell is the winner at that node.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.engine.fast.arrays import Arm, Cells, Floats, Ints
from cobandit.engine.fast.kinds.foresight import foresee, foresight_of, keeps_arm
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import compiled, inlined
from cobandit.engine.fast.world import World, aim_at, own_arm, root

NO_CELL = np.int32(2147483647)
"""The winner where no cell stands."""


class TournamentUCB(NamedTuple):
    """Node 1 is the root; ``leaf_of`` is a cell's leaf, ``shift`` the position of an agent's coordinate in a leaf.

    ``level[0]`` is the number of levels from the leaves to the agent's own block, ``level[1]`` the last node of that
    level; winners above it are never used.
    """

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    scale: float
    first_leaf: int
    counts: Ints
    sums: Floats
    level: Ints
    shift: Ints
    leaf_of: Ints
    tops: Floats
    winners: Cells

    def begin(self, world: World) -> None:
        """Start with untried cells: all indices are infinite, so the first cell of equals wins."""
        init_tournament(self, world)

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the winner of the block."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, block_winner(self, world, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        replay(self, world, played, seen)


@compiled
def init_tournament(me: Any, world: World) -> None:
    """Lay out the leaves by rank and play all matches."""
    bits = 0
    for rank in range(world.agents - 1, -1, -1):
        j = world.order[rank]
        me.shift[j] = bits
        while (1 << (bits - me.shift[j])) < world.arms[j]:
            bits += 1
    below = bits
    if me.foresees == 1 and world.ranks[me.seat] > 0:
        below = me.shift[world.order[world.ranks[me.seat] - 1]]
    me.level[0] = below
    me.level[1] = (2 << (bits - below)) - 1
    first = me.first_leaf
    for node in range(first, 2 * first):
        me.tops[node] = -math.inf
        me.winners[node] = NO_CELL
    for cell in range(world.cells):
        leaf = 0
        for j in range(world.agents):
            leaf |= own_arm(world, j, cell) << me.shift[j]
        me.leaf_of[cell] = leaf
        me.tops[first + leaf] = math.inf
        me.winners[first + leaf] = cell
    for node in range(first - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        wins = me.tops[left] > me.tops[right] or (
            me.tops[left] == me.tops[right] and me.winners[left] < me.winners[right]
        )
        me.tops[node] = me.tops[left] if wins else me.tops[right]
        me.winners[node] = me.winners[left] if wins else me.winners[right]


@inlined
def block_winner(me: Any, world: World, t: int) -> Any:
    """Return the winner of the subtree that the foreseen arms of all higher-ranked agents leave."""
    leaf = me.leaf_of[foresee(me, world, t)]
    return np.int64(me.winners[(me.first_leaf + leaf) >> me.level[0]])


@inlined
def replay(me: Any, world: World, cell: int, seen: float) -> None:
    """Count a seen reward and replay the cell's matches; one that ends as before leaves all above it as it was."""
    if seen == seen:
        n = me.counts[cell] + 1
        s = me.sums[cell] + seen
        me.counts[cell] = n
        me.sums[cell] = s
        top = s / n + me.scale * root(world, n)
        winner = np.int32(cell)
        last = me.level[1]
        node = me.first_leaf + me.leaf_of[cell]
        me.tops[node] = top
        while node > last:
            rival = me.tops[node ^ 1]
            if rival > top or (rival == top and me.winners[node ^ 1] < winner):
                top = rival
                winner = me.winners[node ^ 1]
            node >>= 1
            if me.winners[node] == winner and me.tops[node] == top:
                break
            me.tops[node] = top
            me.winners[node] = winner


def padded_cells(arms: tuple[int, ...]) -> int:
    """Return the number of team actions with every agent's arms padded to a power of two."""
    return 1 << sum((size - 1).bit_length() for size in arms)


def tournament(agent: Any, seat: Seat) -> TournamentUCB:
    """Return the compiled form of an agent with the paper's index and first-index ties."""
    horizon = seat.briefing.horizon
    leaves = padded_cells(seat.briefing.arms)
    return TournamentUCB(
        seat.number,
        seat.stream,
        *foresight_of(agent, seat),
        agent.scale(horizon, horizon),
        leaves,
        seat.zeros(np.int64),
        seat.zeros(),
        np.zeros(2, dtype=np.int64),
        np.zeros(len(seat.briefing.arms), dtype=np.int64),
        seat.zeros(np.int64),
        np.zeros(2 * leaves),
        np.zeros(2 * leaves, dtype=np.int32),
    )
