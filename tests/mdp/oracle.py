"""The algorithms once more, from their formulas alone: slow, over lists of past steps, with nothing of the package.

The oracle does not play. It reads what was played, and says which arm every agent must have chosen: of those with the
highest index, to within rounding, the first. Every agent has the companion index and c = .025.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

C = 0.025
UNTRIED = 1e-6
NEAR = 1e-9

Index = dict[tuple[int, ...], float]
"""Q_h(s, .) by team action."""


class Past(NamedTuple):
    """A step that was made."""

    step: int
    state: int
    arms: tuple[int, ...]
    seen: tuple[float, ...]
    next_state: int


def plan(
    past: Sequence[Past],
    sizes: tuple[int, int],
    actions: Sequence[tuple[int, ...]],
    look: Callable[[Past], tuple[tuple[int, ...], float]],
    backup: Callable[[int, int, Index], float],
) -> list[list[Index]]:
    """Q of every step and state, planned behind these steps; ``look`` is the action and the reward that one saw."""
    states, steps = sizes
    met: dict[tuple[int, tuple[int, ...]], list[tuple[float, int]]] = {}
    for event in past:
        action, seen = look(event)
        met.setdefault((event.state, action), []).append((seen, event.next_state))
    bonus = 2.0 * C * math.log(len(past)) if past else 0.0
    q: list[list[Index]] = [[{} for _ in range(states)] for _ in range(steps)]
    later = [0.0] * states
    for h in reversed(range(steps)):
        left = steps - 1 - h
        for s in range(states):
            for action in actions:
                events = met.get((s, action), [])
                n = len(events)
                if n == 0:
                    q[h][s][action] = 0.5 + left + math.sqrt(bonus / UNTRIED)
                    continue
                values = [later[z] for _, z in events]
                mean = math.fsum(values) / n
                variance = math.fsum((value - mean) ** 2 for value in values) / n
                estimate = (1.0 + sum(seen for seen, _ in events)) / (2.0 + n)
                q[h][s][action] = estimate + mean + math.sqrt(bonus * (1.0 + variance + left**2 / n) / n)
        later = [min(steps - h, backup(h, s, q[h][s])) for s in range(states)]
    return q


def hope(h: int, s: int, index: Index) -> float:
    """As if everybody would do what is best."""
    return max(index.values())


def seen_by(agent: int, alone: bool) -> Callable[[Past], tuple[tuple[int, ...], float]]:
    """What an agent looks at: team actions, or its own arms ``alone``, and its own seen reward."""

    def look(event: Past) -> tuple[tuple[int, ...], float]:
        return (event.arms[agent],) if alone else event.arms, event.seen[agent]

    return look


def first_best(values: dict[Any, float]) -> Any:
    """The first whose value is the highest, but for rounding."""
    top = max(values.values())
    return next(key for key, value in values.items() if value >= top - NEAR * max(1.0, abs(top)))


@dataclass
class Oracle:
    """What each member of a team plays; ``algorithm`` is one of the words below, agents are ranked by number."""

    algorithm: str
    arms: tuple[int, ...]
    states: int
    steps: int
    episodes: int
    past: list[Past] = field(default_factory=list)
    plans: list[Any] = field(default_factory=list)

    @property
    def actions(self) -> list[tuple[int, ...]]:
        """All team actions."""
        return list(itertools.product(*map(range, self.arms)))

    def leaders_past(self, h: int, s: int, agent: int) -> list[int]:
        """Every arm of an agent at a step and state."""
        return [event.arms[agent] for event in self.past if (event.step, event.state) == (h, s)]

    def expected(self, agent: int) -> Callable[[int, int, Index], float]:
        """The backup of a follower: over the last arms of the higher-ranked, or all arms where none was seen."""

        def backup(h: int, s: int, index: Index) -> float:
            foreseen = []
            for other in range(agent):
                arms = self.leaders_past(h, s, other)
                foreseen.append(arms[-1:] or range(self.arms[other]))
            values = [
                min(self.steps - h, max(value for action, value in index.items() if action[:agent] == rows))
                for rows in itertools.product(*foreseen)
            ]
            return sum(values) / len(values)

        return backup

    def begin_episode(self) -> None:
        """Plan for every agent anew."""
        self.plans = []
        for agent in range(len(self.arms)):
            own = [(arm,) for arm in range(self.arms[agent])]
            alone = self.algorithm == "very naive"
            backup = self.expected(agent) if self.algorithm == "partner-aware" and agent > 0 else hope
            sizes = self.states, self.steps
            self.plans.append(plan(self.past, sizes, own if alone else self.actions, seen_by(agent, alone), backup))

    def arm(self, agent: int, h: int, s: int, foreseen: dict[int, int]) -> int:
        """What the agent plays now; ``foreseen`` are the arms that it drew for the higher-ranked."""
        index = self.plans[agent][h][s]
        if self.algorithm == "steered":
            return self.steered(agent, h, s, index)
        if self.algorithm == "very naive":
            return int(first_best(index)[0])
        if self.algorithm == "naive":
            return int(first_best(index)[agent])
        for other in range(agent):
            arms = self.leaders_past(h, s, other)
            assert not arms or foreseen[other] == arms[-1], "W = 1 foresees the last arm"
        rows = tuple(foreseen[other] for other in range(agent))
        return int(first_best({a: v for a, v in index.items() if a[:agent] == rows})[agent])

    def steered(self, agent: int, h: int, s: int, index: Index) -> int:
        """Two agents: every second visit the follower moves as the leader has just moved."""
        rows, columns = self.arms
        column = last = 0
        past = self.leaders_past(h, s, 0)
        for visit, row in enumerate(past):
            if visit % 2 == 1:
                column = (column + row - last) % columns
            last = row
        if agent == 1:
            return column
        row, at = first_best(index)
        if at == column and (len(past) % 2 == 0 or row == last):
            return int(row)
        left = self.episodes - len(self.past) // self.steps
        rest = max(min(4.0 + math.sqrt(len(past)), left) - 3.0, 1.0)
        ways: dict[tuple[int, ...], float] = {}
        for way in itertools.product(range(rows), repeat=3):
            total, j, before = 0.0, column, last
            for k, i in enumerate(way):
                total += index[i, j]
                if (len(past) + k) % 2 == 1:
                    j = (j + i - before) % columns
                before = i
            ways[way] = total + rest * max(index[i, j] for i in range(rows))
        return int(first_best(ways)[0])


def regret_of(transitions: Any, means: Any, steps: int) -> Callable[[int, int, int], float]:
    """V*_h(s) - Q*_h(s, a) by plain recursion."""
    states, actions = range(len(means)), range(len(means[0]))

    def worth(h: int, s: int, a: int) -> float:
        chances = zip(states, transitions[s][a], strict=True)
        return means[s][a] + math.fsum(chance * best(h + 1, z) for z, chance in chances)

    @cache
    def best(h: int, s: int) -> float:
        return 0.0 if h == steps else max(worth(h, s, a) for a in actions)

    return lambda h, s, a: best(h, s) - worth(h, s, a)
