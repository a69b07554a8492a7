"""Whole studies with simulated participants, compiled: the very rounds that `studies.rehearse` plays, in bulk.

Everything a participant meets follows from two numbers, as in ``studies/plan.py``: the *key* (of the design and the
participant's seed) for means, luck, sight and the AI's draws, and the *seed* for the participant's own draws.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.base.streams import FIRST_OBSERVATION, REWARDS, SETUP
from cobandit.engine.fast.blocks import block_size, run_blocks
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.models import sight_kind
from cobandit.engine.fast.players import Seat, Squads, briefings_of, compiled_player, make_squads, make_stage
from cobandit.engine.fast.seeds import seed_words, stream_states
from cobandit.engine.fast.study_loop import NO_RECORD, StudyRecord, play_participants
from cobandit.engine.fast.world import World, make_world
from cobandit.problem import Problem

ROUNDS_PER_BLOCK = 200_000
"""Long enough to hide the cost of a call, short enough for progress and Ctrl-C."""

KEY_WORDS = 8
"""A key has 256 bits."""


class Purposes(NamedTuple):
    """The first words of the addresses of a participant's streams; the last one is spawned from the seed."""

    means: int
    luck: int
    sight: int
    choices: int
    warm: int
    person: int


@dataclass(frozen=True)
class CompiledStudy:
    """A study as the compiled loop needs it.

    ``participant`` is the participant's seat; in every other one sits an agent of the condition. In a design for teams
    of people, ``members`` are the seats of all of them; they play together in the conditions of ``together``, and in
    the others ``participant`` plays alone.
    ``sequences[order, set]`` is the condition that an order has in a set; ``means`` holds a tensor for each episode, or
    is empty where each participant's are drawn from ``mean_range``.
    """

    problem: Problem
    participant: int
    rounds: int
    warm_rounds: int
    episodes: int
    practices: int
    swapped: bool
    shared: bool
    sequences: NDArray[np.int64]
    means: NDArray[np.float64]
    mean_range: tuple[float, float]
    partners: tuple[Agent, ...]
    warm_partner: Agent | None
    people: tuple[Agent, ...]
    purposes: Purposes
    members: tuple[int, ...] = ()
    together: tuple[bool, ...] = ()

    @property
    def person_seats(self) -> tuple[int, ...]:
        """The seats in which people may play."""
        return self.members or (self.participant,)

    @property
    def total(self) -> int:
        """The rounds of an episode, the warm start's among them."""
        return self.warm_rounds + self.rounds

    @cached_property
    def players(self) -> list[Any]:
        """The compiled forms of people, partners by condition and seat, the warm start's partner; or `NotCompiled`."""
        seats = briefings_of(self.problem, self.total)
        first = FIRST_OBSERVATION + self.problem.agents

        def at(agent: Agent, seat: int, horizon: int, stream: int) -> Any:
            return compiled_player(agent, Seat(replace(seats[seat], horizon=horizon), stream))

        here = self.participant
        players = [at(person, i, self.rounds, first + i) for i in self.person_seats for person in self.people]
        players += [at(partner, i, self.total, first + i) for partner in self.partners for i in self.agent_seats]
        if self.warm_partner is not None:
            players.append(at(self.warm_partner, here, self.warm_rounds, first + self.problem.agents))
        return players

    @property
    def agent_seats(self) -> tuple[int, ...]:
        """Every seat but the participant's."""
        return tuple(i for i in range(self.problem.agents) if i != self.participant)

    @cached_property
    def squads(self) -> Squads:
        """The players by kind."""
        return make_squads(self.players)

    @cached_property
    def world(self) -> World:
        """The world before any episode; the warm start's partner has a stream of its own, the last."""
        windows = max(int(getattr(player, "window", 1)) for player in self.players)
        streams = FIRST_OBSERVATION + 2 * self.problem.agents + 1
        return make_world(self.problem.arms, self.problem.known_ranks(), windows, self.total, streams)


class Rounds(NamedTuple):
    """All rounds of one participant by condition and episode, the warm start's first."""

    arms: NDArray[np.int64]
    rewards: NDArray[np.float64]
    seen: NDArray[np.float64]
    predictions: NDArray[np.int64]


def run_participants(
    study: CompiledStudy,
    keys: NDArray[np.uint32],
    seeds: NDArray[np.uint64],
    orders: NDArray[np.int64],
    people: NDArray[np.int64],
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return task regret (participants x conditions x episodes x checkpoints) and good outcomes (without checkpoints).

    Participant i has the key of row ``keys[i]`` (little-endian words), ``seeds[i]``, the order ``orders[i]`` and plays
    as ``study.people[people[i]]``; in a team, member m as ``study.people[people[i, m]]``. Blocks of participants are
    distributed over threads that hold no lock.
    """
    count, conditions = len(orders), len(study.partners)
    regrets = np.zeros((count, conditions, study.episodes, len(checkpoints)))
    good = np.zeros((count, conditions, study.episodes), dtype=np.int64)

    def arguments(part: slice) -> tuple[Any, ...]:
        of_part = keys[part], seeds[part], orders[part], people[part]
        return _arguments(study, *of_part, checkpoints, regrets[part], good[part])

    make_ready(play_participants, arguments(slice(0, 0)), "simulated participants")
    size = block_size(count, conditions * study.episodes * study.total, ROUNDS_PER_BLOCK, threads)

    def block(start: int) -> int:
        part = slice(start, start + size)
        play_participants(*arguments(part))
        return len(good[part])

    run_blocks(block, range(0, count, size), threads, done)
    return regrets, good


def run_rounds(study: CompiledStudy, key: NDArray[np.uint32], seed: int, order: int, person: int) -> Rounds:
    """Return every round of one participant, to be read and compared."""
    agents = study.problem.agents
    shape = (len(study.partners), study.episodes, study.total)
    recorded = Rounds(
        np.zeros((*shape, agents), dtype=np.int64),
        np.zeros(shape),
        np.zeros((*shape, agents)),
        np.zeros((*shape, agents, agents), dtype=np.int64),
    )
    flat: list[Any] = [rows.reshape(-1) for rows in recorded]
    record = StudyRecord(1, flat[0], flat[1], flat[2], flat[3], study.total)
    arguments = _arguments(
        study,
        key[np.newaxis],
        np.array([seed], dtype=np.uint64),
        np.array([order]),
        np.array([person]),
        np.array([study.rounds]),
        np.zeros((1, *shape[:2], 1)),
        np.zeros((1, *shape[:2]), dtype=np.int64),
        record,
    )
    make_ready(play_participants, arguments, "a simulated participant")
    play_participants(*arguments)
    return recorded


def _arguments(
    study: CompiledStudy,
    keys: NDArray[np.uint32],
    seeds: NDArray[np.uint64],
    orders: NDArray[np.int64],
    people: NDArray[np.int64],
    checkpoints: NDArray[np.int64],
    regrets: NDArray[np.float64],
    good: NDArray[np.int64],
    record: StudyRecord = NO_RECORD,
) -> tuple[Any, ...]:
    """Return the arguments of `play_participants`, in its order, on a separate stage."""
    numbers = np.array(study.squads.numbers, dtype=np.int64)
    first = len(study.people) * len(study.person_seats)
    occupants = np.full((len(study.partners), study.problem.agents), -1, dtype=np.int64)
    seats = study.agent_seats
    occupants[:, seats] = numbers[first : first + len(study.partners) * len(seats)].reshape(-1, len(seats))
    for condition, shared in enumerate(study.together):
        if shared:
            occupants[condition, study.members] = -1
    everybody = np.full((len(orders), study.problem.agents), -1, dtype=np.int64)
    kinds = people.reshape(len(orders), len(study.person_seats))
    for place, seat in enumerate(study.person_seats):
        everybody[:, seat] = numbers[place * len(study.people) + kinds[:, place]]
    warm = np.full(study.problem.agents, -1, dtype=np.int64)
    if study.warm_partner is not None:
        warm[study.participant] = numbers[-1]
    return (
        *make_stage(study.squads, study.world, sight_kind(study.problem), record),
        occupants,
        warm,
        study.sequences,
        int(study.swapped),
        study.warm_rounds,
        study.rounds,
        study.means.reshape(-1, study.problem.cells),
        np.array(study.mean_range, dtype=np.float64),
        _states(study, keys, seeds, orders),
        orders.astype(np.int64),
        everybody,
        checkpoints,
        regrets,
        good,
    )


def _states(
    study: CompiledStudy, keys: NDArray[np.uint32], seeds: NDArray[np.uint64], orders: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the states of the streams of every participant's episodes: participants x sets x episodes x words."""
    agents, sets, episodes = study.problem.agents, study.sequences.shape[1], study.episodes
    rows = FIRST_OBSERVATION + 2 * agents + 1
    states = np.zeros((len(orders), sets, episodes, rows, 4), dtype=np.uint64)
    p, which, number = (axis.ravel() for axis in np.meshgrid(*map(np.arange, states.shape[:3]), indexing="ij"))
    flat = states.reshape(-1, rows, 4)
    own_part = 1 + study.sequences[orders[p], which]
    part = np.zeros_like(own_part) if study.shared else own_part
    purposes, last = study.purposes, rows - 1
    # A row of the states, a purpose, a part; and what follows these in the addresses of all AIs but the first.
    wanted: list[tuple[int, int, NDArray[np.int64], tuple[int, ...]]] = [(REWARDS, purposes.luck, part, ())]
    for place, seat in enumerate(study.agent_seats):
        which_ai = (1 + seat,) if study.members else (place,) if place else ()
        wanted.append((FIRST_OBSERVATION + agents + seat, purposes.choices, own_part, which_ai))
    wanted += [(FIRST_OBSERVATION + i, purposes.sight, agents * part + i, ()) for i in range(agents)]
    if not len(study.means):
        wanted.append((SETUP, purposes.means, np.zeros_like(part), ()))
    if study.warm_rounds:
        wanted.append((last, purposes.warm, own_part, ()))
    sizes = _key_sizes(keys)
    for size in np.unique(sizes):
        mine = np.flatnonzero(sizes[p] == size)
        words = [keys[p[mine], k] for k in range(size)]
        for row, purpose, entry, further in wanted:
            address = np.uint32(purpose), np.uint32(1), number[mine].astype(np.uint32), entry[mine].astype(np.uint32)
            flat[mine, row] = stream_states(words, *address, *map(np.uint32, further))
    index = study.practices + which * episodes + number
    low, high = (seeds[p] & np.uint64(0xFFFFFFFF)).astype(np.uint32), (seeds[p] >> np.uint64(32)).astype(np.uint32)
    none = seed_words(0)[2:]
    played_together = np.array(study.together or (False,) * len(study.partners), dtype=bool)[own_part - 1]
    for seat in study.person_seats:
        own_seat = (np.uint32(seat),) if seat != study.person_seats[0] else ()
        spawned = stream_states((low, high, *none), np.uint32(purposes.person), index.astype(np.uint32), *own_seat)
        mine = np.ones(len(p), dtype=bool) if seat == study.participant else played_together
        flat[mine, FIRST_OBSERVATION + agents + seat] = spawned[mine]
    return states.reshape(len(orders), sets, episodes, 4 * rows)


def _key_sizes(keys: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the number of words that SeedSequence uses for each key: without leading zeros, but at least four."""
    used = KEY_WORDS - (keys[:, ::-1] != 0).argmax(axis=1)
    least = len(seed_words(0))
    return np.where((keys != 0).any(axis=1), np.maximum(used, least), least)
