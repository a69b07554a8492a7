"""Whole studies with simulated participants, compiled: the very rounds that `studies.rehearse` plays, in bulk.

Everything a participant meets follows from two numbers, as in ``studies/plan.py``: the *key* (of the design and the
participant's seed) for means, luck, sight and the AI's draws, and the *seed* for the participant's own draws.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent, Team
from cobandit.engine.fast import codes
from cobandit.engine.fast.blocks import run_blocks
from cobandit.engine.fast.encode import SIGHTS, encode
from cobandit.engine.fast.people import (
    AI,
    COLUMNS,
    FORESEEN,
    HORIZON,
    NOTES,
    OTHER_ARMS,
    OWN_ARMS,
    PARTICIPANT,
    PLACE,
    RANK,
    SEATS,
    TABLE,
    UNKNOWN,
    WARM,
    choose,
    forget,
    learn,
)
from cobandit.engine.fast.random import POOL, compiled, seed_streams, uniform
from cobandit.problem import Problem

ROUNDS_PER_BLOCK = 200_000
"""Long enough to hide the cost of a call, short enough for progress and Ctrl-C."""

BLOCKS_PER_THREAD = 4
"""So that a thread on a slower core does not leave the others waiting at the end."""

KEY_WORDS = 8
"""A key has 256 bits."""

LONGEST_TABLED_MEMORY = 32
"""Up to here the powers of e that a softmax needs are taken from NumPy, so that not even their last bit can differ."""

PERSONS = {
    "softmax": codes.SOFTMAX,
    "win-stay-lose-shift": codes.STAY_OR_SHIFT,
    "epsilon-greedy": codes.GREEDY,
}
"""The simulated people by the names they have in ``studies/behaviours.py``."""

# Rows of an episode's streams: two for what is seen, then one for each seat's own draws.
_MEANS, _LUCK, _SIGHT, _OWN = 0, 1, 2, 4


class Person(NamedTuple):
    """A simulated person as plain numbers; ``slip`` is the chance of an arm at random."""

    name: str
    memory: int = 1
    temperature: float = 1.0
    slip: float = 0.0


class Purposes(NamedTuple):
    """The first words of the addresses of a participant's streams; the last one is spawned from the seed."""

    means: int
    luck: int
    sight: int
    choices: int
    warm: int
    person: int


@dataclass(frozen=True)
class Course:
    """A study as the kernels need it.

    ``sequences[order, set]`` is the condition that an order has in a set; ``means`` holds a matrix for each episode, or
    is empty where each participant's are drawn from ``mean_range``.
    """

    problem: Problem
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
    people: tuple[Agent | Person, ...]
    purposes: Purposes

    @property
    def total(self) -> int:
        """The rounds of an episode, the warm start's among them."""
        return self.warm_rounds + self.rounds


class Rounds(NamedTuple):
    """All rounds of one participant by condition and episode, the warm start's first."""

    arms: NDArray[np.int64]
    rewards: NDArray[np.float64]
    seen: NDArray[np.float64]
    predicted: NDArray[np.int64]


@compiled
def play_participants(
    options: Any,
    numbers: Any,
    scales: Any,
    bonuses: Any,
    roots: Any,
    steps: Any,
    weights: Any,
    own: Any,
    lines: Any,
    sight: int,
    levels: Any,
    rounds: int,
    warm_rounds: int,
    practices: int,
    swaps: bool,
    shared: bool,
    sequences: Any,
    given_means: Any,
    mean_range: Any,
    purposes: Any,
    first_partner: int,
    warm_partner: int,
    keys: Any,
    key_sizes: Any,
    seeds: Any,
    orders: Any,
    people: Any,
    checkpoints: Any,
    regrets: Any,
    good: Any,
    record: bool,
    kept_arms: Any,
    kept_rewards: Any,
    kept_seen: Any,
    kept_predicted: Any,
) -> None:
    """Play every participant through every episode that counts, into the rows of ``regrets`` and ``good``.

    ``record`` keeps the rounds of the last one.
    """
    of_means, of_luck, of_sight, of_choices, of_warm, of_person = purposes
    cells = own.shape[1]
    columns = own[1, cells - 1] + 1
    episodes = good.shape[2]
    counts = np.zeros((SEATS, cells), dtype=np.int64)
    sums = np.zeros((SEATS, cells))
    kept = np.zeros((SEATS, cells))
    active = np.zeros((SEATS, cells), dtype=np.uint8)
    notes = np.zeros((SEATS, NOTES), dtype=np.int64)
    past = np.zeros((SEATS, warm_rounds + rounds), dtype=np.int64)
    trail = np.zeros((SEATS, warm_rounds + rounds), dtype=np.int64)
    values = np.zeros(cells)
    streams = np.zeros((_OWN + SEATS, 4), dtype=np.uint64)
    words = np.zeros(KEY_WORDS + 2, dtype=np.uint32)
    means = np.zeros(cells)
    seats = np.array([PARTICIPANT, AI])
    players, rounds_of, arms = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    seen = np.zeros(2)
    otherwise = 0.0 if sight == codes.MISSED else 1.0 if sight == codes.FLIPPED else math.nan
    for p in range(orders.shape[0]):
        size = key_sizes[p]
        words[:size] = keys[p, :size]
        words[size + 1] = 1
        address = words[: size + 2]
        for which in range(sequences.shape[1]):
            condition = sequences[orders[p], which]
            turned = swaps and which % 2 == 1
            own_part = 1 + condition
            part = 0 if shared else own_part
            for number in range(episodes):
                words[size] = of_luck
                seed_streams(address, number, streams[_LUCK : _LUCK + 1], part)
                words[size] = of_sight
                seed_streams(address, number, streams[_SIGHT : _SIGHT + 2], 2 * part)
                words[size] = of_choices
                seed_streams(address, number, streams[_OWN + AI : _OWN + AI + 1], own_part)
                if warm_rounds > 0:
                    words[size] = of_warm
                    seed_streams(address, number, streams[_OWN + WARM : _OWN + WARM + 1], own_part)
                index = practices + which * episodes + number
                seed_streams(seeds[p], of_person, streams[_OWN + PARTICIPANT : _OWN + PARTICIPANT + 1], index)
                # The means before any swap; a swap of both agents' arms turns the row-major order round.
                if given_means.shape[0] > 0:
                    means[:] = given_means[number]
                else:
                    words[size] = of_means
                    seed_streams(address, number, streams[_MEANS : _MEANS + 1], 0)
                    for cell in range(cells):
                        means[cell] = mean_range[0] + (mean_range[1] - mean_range[0]) * uniform(streams, _MEANS)
                best_cell = 0
                for cell in range(cells):
                    here = cells - 1 - cell if turned else cell
                    there = cells - 1 - best_cell if turned else best_cell
                    if means[here] > means[there]:
                        best_cell = cell
                best_mean = means[cells - 1 - best_cell if turned else best_cell]

                forget(counts, sums, kept, active, notes)
                regret, successes, at = 0.0, 0, 0
                for k in range(warm_rounds + rounds):
                    warm = k < warm_rounds
                    seats[0], players[0] = (WARM, warm_partner) if warm else (PARTICIPANT, people[p])
                    rounds_of[0], rounds_of[1] = k + 1 if warm else k + 1 - warm_rounds, k + 1
                    players[1] = first_partner + condition
                    for i in range(2):
                        arms[i] = choose(
                            options,
                            numbers,
                            scales,
                            roots,
                            steps,
                            weights,
                            own,
                            lines,
                            counts,
                            sums,
                            kept,
                            active,
                            notes,
                            past,
                            values,
                            players[i],
                            seats[i],
                            rounds_of[i],
                            best_cell,
                            streams,
                            _OWN + seats[i],
                        )
                    played = arms[0] * columns + arms[1]
                    world = cells - 1 - played if turned else played
                    reward = 0.0
                    for cell in range(cells):
                        draw = uniform(streams, _LUCK)
                        if cell == world and draw < means[world]:
                            reward = 1.0
                    for i in range(2):
                        seen[i] = reward if uniform(streams, _SIGHT + i) < levels[i] else otherwise
                        learn(
                            options,
                            bonuses,
                            own,
                            counts,
                            sums,
                            kept,
                            active,
                            notes,
                            past,
                            trail,
                            players[i],
                            seats[i],
                            rounds_of[i],
                            played,
                            seen[i],
                        )
                    if record:
                        kept_arms[condition, number, k] = arms
                        kept_rewards[condition, number, k] = reward
                        kept_seen[condition, number, k] = seen
                        kept_predicted[condition, number, k] = notes[AI, FORESEEN]
                    if not warm:
                        regret += best_mean - means[world]
                        successes += int(reward)
                        if rounds_of[0] == checkpoints[at]:
                            regrets[p, condition, number, at] = regret
                            at = min(at + 1, checkpoints.shape[0] - 1)
                good[p, condition, number] = successes


def run_participants(
    course: Course,
    keys: NDArray[np.uint32],
    seeds: NDArray[np.uint64],
    orders: NDArray[np.int64],
    people: NDArray[np.int64],
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Task regret (participants x conditions x episodes x checkpoints) and good outcomes (the same but for the last).

    Participant i has the key of row ``keys[i]`` (little-endian words), ``seeds[i]``, the order ``orders[i]`` and plays
    as ``course.people[people[i]]``. Blocks of participants are spread over threads that hold no lock.
    """
    count, conditions = len(orders), len(course.partners)
    regrets = np.zeros((count, conditions, course.episodes, len(checkpoints)))
    good = np.zeros((count, conditions, course.episodes), dtype=np.int64)
    fixed = _arguments(course)
    each = _participants(keys, seeds, orders, people)
    rounds = conditions * course.episodes * course.total
    size = max(1, min(ROUNDS_PER_BLOCK // rounds, -(-count // (threads * BLOCKS_PER_THREAD))))
    starts = range(0, count, size)
    nothing = _room(course, 0)

    def block(start: int) -> int:
        part = slice(start, start + size)
        play_participants(
            *fixed, *(rows[part] for rows in each), checkpoints, regrets[part], good[part], False, *nothing
        )
        return len(good[part])

    run_blocks(block, starts, threads, done)
    return regrets, good


def run_rounds(course: Course, key: NDArray[np.uint32], seed: int, order: int, person: int) -> Rounds:
    """Every round of one participant, to be read and compared."""
    kept = _room(course, course.total)
    play_participants(
        *_arguments(course),
        *_participants(key[np.newaxis], np.array([seed], dtype=np.uint64), np.array([order]), np.array([person])),
        np.array([course.rounds]),
        np.zeros((1, len(course.partners), course.episodes, 1)),
        np.zeros((1, len(course.partners), course.episodes), dtype=np.int64),
        True,
        *kept,
    )
    return kept


def _room(course: Course, rounds: int) -> Rounds:
    shape = (len(course.partners), course.episodes, rounds)
    return Rounds(
        np.zeros((*shape, 2), dtype=np.int64),
        np.zeros(shape),
        np.zeros((*shape, 2)),
        np.zeros(shape, dtype=np.int64),
    )


def _participants(
    keys: NDArray[np.uint32], seeds: NDArray[np.uint64], orders: NDArray[np.int64], people: NDArray[np.int64]
) -> tuple[NDArray[Any], ...]:
    """Keys with the number of words SeedSequence gives them, seeds as words, orders and people."""
    used = KEY_WORDS - (keys[:, ::-1] != 0).argmax(axis=1)
    sizes = np.where((keys != 0).any(axis=1), np.maximum(used, POOL), POOL)
    words = np.zeros((len(seeds), POOL), dtype=np.uint32)
    words[:, 0] = seeds & np.uint64(0xFFFFFFFF)
    words[:, 1] = seeds >> np.uint64(32)
    return np.ascontiguousarray(keys), sizes.astype(np.int64), words, orders.astype(np.int64), people.astype(np.int64)


def _arguments(course: Course) -> tuple[Any, ...]:
    """In the order of `play_participants`, up to ``warm_partner``."""
    problem = course.problem
    players = [(person, 0, course.rounds) for person in course.people]
    players += [(partner, 1, course.total) for partner in course.partners]
    if course.warm_partner is not None:
        players.append((course.warm_partner, 0, course.warm_rounds))
    return (
        *_tables(problem, players),
        SIGHTS[problem.observation.name],
        np.array(problem.observation.levels, dtype=np.float64),
        course.rounds,
        course.warm_rounds,
        course.practices,
        course.swapped,
        course.shared,
        course.sequences,
        course.means.reshape(-1, problem.cells),
        np.array(course.mean_range, dtype=np.float64),
        tuple(course.purposes),
        len(course.people),
        len(players) - 1,
    )


def _tables(problem: Problem, players: Sequence[tuple[Agent | Person, int, int]]) -> tuple[NDArray[Any], ...]:
    """What the kernel's first arguments are: a row for each player, its place and the horizon it is told given."""
    count, longest = len(players), max(horizon for _, _, horizon in players)
    ranks = problem.known_ranks()
    options = np.zeros((count, COLUMNS), dtype=np.int64)
    numbers = np.zeros((count, codes.FLOATS))
    scales, bonuses = np.zeros((count, longest + 1)), np.zeros((count, longest + 1))
    roots, steps = np.zeros(longest + 1), np.zeros(longest + 2)
    weights = [np.zeros(0)]
    for i, (player, place, horizon) in enumerate(players):
        if isinstance(player, Person):
            options[i, codes.KIND] = PERSONS[player.name]
            options[i, codes.MEMORY] = memory = min(player.memory, horizon)
            options[i, TABLE] = -1
            numbers[i, [codes.TEMPERATURE, codes.SLIP]] = player.temperature, player.slip
            if player.name == "softmax" and memory <= LONGEST_TABLED_MEMORY:
                options[i, TABLE] = sum(map(len, weights))
                weights.append(_softmax_weights(memory, player.temperature))
        else:
            encoded = encode(problem, Team([player, player]), horizon)
            options[i, : codes.INTS], numbers[i] = encoded.options[0], encoded.numbers[0]
            for table, row in (
                (scales[i], encoded.scales[0]),
                (bonuses[i], encoded.bonuses[0]),
                (roots, encoded.roots),  # this and the next are the same for all, longer for a longer horizon
                (steps, encoded.steps),
            ):
                table[: len(row)] = row
        arms = problem.arms[place], problem.arms[1 - place]
        options[i, [PLACE, OWN_ARMS, OTHER_ARMS, RANK, HORIZON]] = place, *arms, ranks[place], horizon
    rows, columns = problem.arms
    cells = np.arange(problem.cells, dtype=np.int64)
    own = np.stack([cells // columns, cells % columns])
    lines = np.zeros((3, problem.cells), dtype=np.int64)
    lines[0, :rows], lines[1, :columns], lines[2] = cells[:rows] * columns, cells[:columns], cells
    return options, numbers, scales, bonuses, roots, steps, np.concatenate(weights), own, lines


def _softmax_weights(memory: int, temperature: float) -> NDArray[np.float64]:
    """exp(value - top) for every pair of states of the top and of another configuration, as `Softmax` computes it."""
    counts = np.repeat(np.arange(memory + 1), np.arange(memory + 1) + 1)
    sums = np.concatenate([np.arange(n + 1) for n in range(memory + 1)])
    values = (UNKNOWN + sums) / (1.0 + counts) / temperature
    return np.asarray(np.exp(np.minimum(values - values[:, np.newaxis], 0.0)).ravel())
