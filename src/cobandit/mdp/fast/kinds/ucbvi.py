"""Partner-aware, naive and centralised UCBVI of `mdp.agents`, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.beliefs import LINES
from cobandit.agents.partner_aware import role_exploration
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm, Cells, Floats, Ints
from cobandit.engine.fast.kinds.search import tied
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.world import own_arm
from cobandit.mdp.agents.foresight import DECAYS, PRIOR
from cobandit.mdp.agents.partner_aware import PartnerAwareUCBVI
from cobandit.mdp.fast.foresight import chance, foreseen_arm, remember_arms
from cobandit.mdp.fast.planning import COMPANION, hopeful_value, joint_max_plan, scale_at, step_indices
from cobandit.mdp.fast.world import EPISODE, PLACE, STATE, MarkovWorld


class Optimism(NamedTuple):
    """The options with which every optimistic planner begins."""

    seat: int
    stream: int
    random_ties: int
    index: Any
    exploration: float
    horizon: int
    ceiling: float
    ones: float
    weight: float
    noise: float


class Plan(NamedTuple):
    """What a planner has seen of every state and action, its Q and its values."""

    counts: Ints
    sums: Floats
    q: Floats
    v: Floats


class NaivePlanner(joined_tuple(Optimism, ("observer",), Plan)):  # type: ignore[misc]
    """Plans for the whole team, as if all agents played the best team action."""

    def plan_episode(self, world: MarkovWorld, t: int) -> None:
        """Compute the indices of the next episode."""
        if self.index != COMPANION or world.here[EPISODE] > 0:
            joint_max_plan(self, world, world.states, world.cells, world.steps, scale_at(self, t, self.exploration))

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the own part of the best team action."""
        if self.index == COMPANION and world.here[EPISODE] == 0:
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        return own_arm(world, self.seat, best_in_block(self, world, 0, world.agents))

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record_reward(self, world.here[STATE] * world.cells + played, seen)


class JointPlanner(NaivePlanner):
    """The same for all."""

    joint = True

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the best team action."""
        if self.index == COMPANION and world.here[EPISODE] == 0:
            cell = 0
            for j in range(world.agents):
                cell += np.int64(uniform(world.streams, self.stream) * world.arms[j]) * world.strides[j]
            return cell
        return best_in_block(self, world, 0, world.agents)

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Store the combined observation of all agents, or that of the best observer."""
        look = seen if self.observer < 0 else world.seen[self.observer]
        record_reward(self, world.here[STATE] * world.cells + played, look)


class Foresight(NamedTuple):
    """How a planner foresees the higher-ranked, and what it remembers of them."""

    follower_exploration: float
    window: int
    repeat: int
    hopes: int
    bank: int
    staleness: float
    restart: int
    all_arms: int
    offsets: Ints
    bases: Ints
    ring: Cells
    histogram: Ints
    weights: Floats
    bins: Floats
    arms_kept: Ints
    latest: Ints
    notes: Ints


class PartnerAwarePlanner(joined_tuple(Optimism, Plan, Foresight)):  # type: ignore[misc]
    """Plans over what it foresees of the higher-ranked."""

    def begin(self, world: MarkovWorld) -> None:
        """Compute the first cell of each block of the higher-ranked agents' arms, in row-major order."""
        count = 0
        for cell in range(world.cells):
            first = True
            for rank in range(world.ranks[self.seat], world.agents):
                if world.own[world.order[rank] * world.cells + cell] != 0:
                    first = False
            if first:
                self.bases[count] = cell
                count += 1
        self.notes[0] = count

    def plan_episode(self, world: MarkovWorld, t: int) -> None:
        """Compute the indices of the next episode."""
        if self.index == COMPANION and world.here[EPISODE] == 0:
            return
        leads = world.ranks[self.seat] == 0
        scale = scale_at(self, t, self.exploration if leads else self.follower_exploration)
        if leads or self.hopes == 1:
            joint_max_plan(self, world, world.states, world.cells, world.steps, scale)
            return
        if self.restart > 0 and world.here[EPISODE] >= self.restart:
            begun = self.restart
            while begun * 2 <= world.here[EPISODE]:
                begun *= 2
            self.notes[1] = begun
        for step in range(world.steps - 1, -1, -1):
            most = self.ceiling * (world.steps - 1 - step)
            step_indices(self, world, world.states, world.cells, step, scale, most)
            if step > 0:
                for state in range(world.states):
                    place = step * world.states + state
                    self.v[place] = predicted_value(self, world, place, self.ceiling * (world.steps - step))

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the own part of the best that is left (`PartnerAwareUCBVI.choose`)."""
        place = world.here[PLACE]
        leads = world.ranks[self.seat] == 0
        if leads and world.place_visits[place] % self.repeat != 0:
            return self.arms_kept[place]
        if self.index == COMPANION and world.here[EPISODE] == 0:
            arm = np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        else:
            base = 0
            for rank in range(world.ranks[self.seat]):
                agent = world.order[rank]
                foreseen = foreseen_arm(self, world, place, agent)
                world.predictions[self.seat * world.agents + agent] = foreseen
                base += foreseen * world.strides[agent]
            arm = own_arm(world, self.seat, best_in_block(self, world, base, self.seat))
        self.arms_kept[place] = arm
        return arm

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Take in one seen reward, and the arms of the higher-ranked."""
        record_reward(self, world.here[STATE] * world.cells + played, seen)
        remember_arms(self, world, world.here[PLACE])
        self.latest[world.here[PLACE]] = world.here[EPISODE]


@inlined
def record_reward(me: Any, pair: int, seen: float) -> None:
    """Count a seen reward; NaN is one that was not seen."""
    if seen == seen:
        me.counts[pair] += 1
        me.sums[pair] += seen


@inlined
def best_in_block(me: Any, world: MarkovWorld, base: int, row: int) -> Any:
    """Return the cell of the best index at the present place among those of a block."""
    start, size, at = row * world.cells, world.block_size[row], world.here[PLACE] * world.cells + base
    best = 0
    top = me.q[at + world.block[start]]
    for k in range(1, size):
        value = me.q[at + world.block[start + k]]
        if value > top:
            top = value
            best = k
    if me.random_ties == 1:
        for k in range(size):
            world.values[k] = me.q[at + world.block[start + k]]
        best = tied(world.values, size, top, world.streams, me.stream)
    return base + world.block[start + best]


@inlined
def predicted_value(me: Any, world: MarkovWorld, place: int, most: float) -> Any:
    """Return the value of a place under the predicted arms of the higher-ranked agents
    (`PartnerAwareUCBVI._backup`).
    """
    start = me.seat * world.cells
    at = place * world.cells
    value = 0.0
    for group in range(me.notes[0]):
        base = me.bases[group]
        share = 1.0
        for rank in range(world.ranks[me.seat]):
            agent = world.order[rank]
            share *= chance(me, world, place, agent, own_arm(world, agent, base))
        top = me.q[at + base + world.block[start]]
        for k in range(1, world.block_size[me.seat]):
            other = me.q[at + base + world.block[start + k]]
            top = other if other > top else top
        value += share * min(top, most)
    hope = 0.0
    if me.staleness > 0.0:
        visits = world.place_visits[place]
        gap = max(world.here[EPISODE] - me.latest[place] - 1.0, 0.0)
        hope = gap / max(gap + me.staleness * visits, 1e-300) if visits > 0 else 1.0
    if me.restart > 0 and me.latest[place] < me.notes[1]:
        hope = 1.0
    if hope > 0.0:
        value = hope * hopeful_value(me, at, world.cells, most) + (1.0 - hope) * value
    return value


def optimism_of(agent: Any, seat: Seat) -> Optimism:
    """Return the options of an optimistic planner."""
    briefing: Any = seat.briefing
    return Optimism(
        seat.number,
        seat.stream,
        int(agent.ties == "random"),
        LINES.index(agent.index),
        float(agent.exploration),
        briefing.horizon,
        float(briefing.ceiling),
        1.0,
        2.0,
        1.0,
    )


def plan_arrays(briefing: Any, actions: int) -> Plan:
    """Return a planner's arrays before the first episode."""
    pairs = briefing.states * actions
    values = np.zeros((briefing.steps + 1) * briefing.states)
    return Plan(np.zeros(pairs, dtype=np.int64), np.zeros(pairs), np.zeros(briefing.steps * pairs), values)


def ucbvi(agent: Any, seat: Seat) -> NaivePlanner | PartnerAwarePlanner:
    """Return the compiled form of a partner-aware or naive agent."""
    briefing: Any = seat.briefing
    arrays = plan_arrays(briefing, seat.cells)
    shared = optimism_of(agent, seat)
    if not isinstance(agent, PartnerAwareUCBVI):
        return NaivePlanner(*shared, -1, *arrays)
    arms, places = briefing.arms, briefing.steps * briefing.states
    window = min(agent.window, briefing.episodes)
    bank = agent.prediction == "bank"
    cells = places * sum(arms)
    foresight = Foresight(
        role_exploration(agent, 1),
        window,
        agent.repeat,
        int(agent.backup == "joint-max"),
        int(bank),
        float(agent.staleness),
        agent.restart,
        sum(arms),
        table(np.array([sum(arms[:i]) for i in range(len(arms))], dtype=np.int64)),
        np.zeros(seat.cells, dtype=np.int64),
        np.zeros(1 if bank else places * len(arms) * window, dtype=np.int32),
        np.zeros(1 if bank else cells, dtype=np.int64),
        np.full(places * len(arms) * len(DECAYS) if bank else 1, 1.0 / len(DECAYS)),
        np.full(cells * len(DECAYS) if bank else 1, PRIOR),
        np.zeros(places, dtype=np.int64),
        np.full(places, -1, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )
    return PartnerAwarePlanner(*shared, *arrays, *foresight)


def centralised_ucbvi(agent: Any, seat: Seat) -> JointPlanner:
    """Return the compiled form of one brain for all."""
    observer = seat.briefing.best_observer if agent.eyes == "best" else -1
    return JointPlanner(*optimism_of(agent, seat), observer, *plan_arrays(seat.briefing, seat.cells))
