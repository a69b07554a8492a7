"""A crowd of simulated participants: whole studies in bulk, for power analysis.

Participant i of a crowd is a seed, an order and a behaviour, and meets exactly what `rehearse` would lead it through;
only the outcomes of each episode are kept. Paper: Experiments; Online Casino Study (Dependent Measures).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.base.checks import MOST, is_list, real, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.machine import available_cores, physical_memory
from cobandit.base.streams import CrowdStream, StudyStream, bit_generator, checked_seed, generator
from cobandit.engine.choice import Engine, NotCompiled, engine_for
from cobandit.engine.simulation import Progress, checked_checkpoints
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.cells import order_cycle
from cobandit.studies.design import StudyDesign, load_design
from cobandit.studies.group_checks import players_of
from cobandit.studies.plan import ParticipantPlan, person_key
from cobandit.studies.rehearse import rehearse_team

if TYPE_CHECKING:
    from cobandit.engine.fast.studies import CompiledStudy

Mixture = str | Agent | Sequence[tuple[str | Agent, float]]


@dataclass(frozen=True, eq=False)
class Crowd:
    """The results of every simulated participant in every episode that counts.

    Participant i has ``seeds[i]``, ``orders[i]`` and plays as ``behaviours[kinds[i]]``. In a design for teams of
    k people, each k participants in a row are a team with one seed and one order, in the order of their seats.
    ``regret_curves`` is participants x conditions x episodes x checkpoints, the conditions in the design's own order;
    it is task regret summed over the counted rounds, and stays after the end of a shorter episode. ``good`` counts the
    rounds with r* = 1, whether seen or not; where rewards are scores, it is their sum.
    In conditions that a participant does not play, regret is NaN and ``good`` is 0.
    """

    design: StudyDesign
    behaviours: tuple[Agent, ...]
    seed: int
    engine: str
    engine_reason: str
    seconds: float
    seeds: NDArray[np.uint64]
    orders: NDArray[np.int64]
    kinds: NDArray[np.int64]
    checkpoints: NDArray[np.int64]
    regret_curves: NDArray[np.float64]
    good: NDArray[np.int64] | NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The names of the conditions, in the order of the second axis."""
        return tuple(condition.name for condition in self.design.conditions)

    @property
    def task_regret(self) -> NDArray[np.float64]:
        """Task regret of each participant, condition and episode over all counted rounds."""
        return self.regret_curves[..., -1]

    @cached_property
    def team_regret(self) -> NDArray[np.float64]:
        """The paper's R(T) of each participant, condition and episode."""
        factors = np.array([*self.design.team_factors.values()])[:, np.newaxis]
        return np.asarray(self.task_regret * factors, dtype=np.float64)

    @property
    def team_size(self) -> int:
        """How many participants in a row are a team; 1 in a design for one person."""
        return len(self.design.participant_seats)

    @cached_property
    def played(self) -> NDArray[np.bool_]:
        """Which conditions each participant plays, participants x conditions."""
        plays = [[name in order for name in self.conditions] for order in self.design.orders]
        return np.array(plays, dtype=np.bool_)[self.orders]

    def __repr__(self) -> str:
        names = ", ".join(behaviour.title for behaviour in self.behaviours)
        return f"<Crowd of {len(self):,} ({names}) in {self.design.name!r}: seed {self.seed}, {self.engine} engine>"


def simulate_participants(
    design: StudyDesign | str,
    behaviours: Mixture,
    participants: int,
    seed: int | None = 0,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    checkpoints: int | Sequence[int] | None = 1,
    progress: Progress | None = None,
    alike: float = 0.0,
) -> Crowd:
    """Lead ``participants`` simulated participants through the whole study, practice left out.

    ``behaviours`` is a name, an agent, or a mixture: a list of (name or agent, weight), from which each participant's
    is drawn. Orders alternate where the design counterbalances them, else they are drawn. Participant i is the
    same whatever the number of participants, the engine and the threads, and plays the rounds of ``rehearse(design,
    behaviour, seeds[i], orders[i])``. ``engine="auto"`` takes the fast one where numba is installed and every
    behaviour and every AI has a compiled form, else plays one round at a time; the crowd says which and why.
    ``checkpoints`` as for `cobandit.simulate`,
    but regret is kept after the last round alone unless asked for. ``progress(done, participants)`` is called now and
    then.

    In a design for teams, ``participants`` is a multiple of their size. Members draw their behaviours one by one,
    except that a team is of one kind with probability ``alike``; orders are those of teams, and the rounds those of
    `rehearse_team`.
    """
    study = load_design(design) if isinstance(design, str) else design
    if not isinstance(study, StudyDesign):
        raise InvalidInput(f"design must be a StudyDesign or the name of one, got {short_repr(design)}.")
    members, shares = checked_mixture(behaviours)
    count = whole(1, MOST)("participants", participants)
    number = checked_seed(seed)
    size = len(study.participant_seats)
    if count % size:
        raise InvalidInput(f"participants must be a multiple of {size}, the people of a team, got {count}.")
    points = checked_checkpoints(checkpoints, study.most_rounds)
    workers = whole(1, 4096)("threads", available_cores() if threads is None else threads)
    warm_rounds = 0 if study.warm_start is None else study.warm_start.rounds
    rounds = study.sets * study.episodes * (warm_rounds + study.most_rounds)
    agent_rounds = len(study.arms) * rounds * count
    choice = engine_for(
        engine,
        lambda: _prepared(study, members),
        agent_rounds,
        math.prod(study.arms),
        lambda compiled: _readiness(study, compiled, points),
    )
    chosen, reason, compiled = choice
    _refuse_what_cannot_fit(study, count, len(points))

    teams = count // size
    seeds = np.asarray(bit_generator(number, CrowdStream.PEOPLE).random_raw(teams), dtype=np.uint64)
    steps = np.cumsum(shares)
    kinds = np.searchsorted(steps / steps[-1], _draws(number, CrowdStream.BEHAVIOURS, count), side="right").astype(
        np.int64
    )
    kinds = _alike(kinds.reshape(teams, size), alike, number)
    orders = _orders(study, number, teams)
    finished = 0

    def done(more: int) -> None:
        nonlocal finished
        finished += more
        if progress is not None:
            progress(finished, count)

    start = time.perf_counter()
    good: NDArray[np.int64] | NDArray[np.float64]
    if compiled is not None:
        regrets, good = _compiled_run(compiled, study, members, (seeds, orders, kinds), points, workers, done)
    else:
        regrets, good = _rehearsed(study, members, seeds, orders, kinds, points, done)
    seconds = time.perf_counter() - start
    if len(study.cells) > 1:
        plays = [[condition.name in order for condition in study.conditions] for order in study.orders]
        regrets[~np.array(plays)[orders]] = np.nan
    of_people = np.repeat(seeds, size), np.repeat(orders, size), kinds.ravel()
    return Crowd(study, members, number, chosen, reason, seconds, *of_people, points, regrets, good)


def _orders(design: StudyDesign, seed: int, count: int) -> NDArray[np.int64]:
    """Return the orders of people who arrive one after another; cells are filled evenly, or as their quotas say."""
    cycle = np.array(order_cycle(design), dtype=np.int64)
    turns = cycle[np.arange(count) % len(cycle)]
    if design.order == "counterbalanced":
        return turns
    draws, each = _draws(seed, CrowdStream.ORDERS, count), math.factorial(design.sets)
    return np.asarray(turns // each * each + (draws * each).astype(np.int64))


def _compiled_run(
    compiled: CompiledStudy,
    design: StudyDesign,
    behaviours: Sequence[Agent],
    teams: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]],
    points: NDArray[np.int64],
    workers: int,
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the results of the fast engine, seat by seat, since members of a team also play alone.

    ``teams`` are seeds, orders and kinds.
    """
    from cobandit.engine.fast.studies import run_participants

    keys, parts = participant_keys(design, teams[0]), []
    if any(condition.observability for condition in design.conditions):
        return _run_by_problem(compiled, design, keys, teams, points, workers, done)
    for seat in design.participant_seats:
        own = compiled if seat == design.participant_seat else compiled_study(design, behaviours, seat)
        parts.append(run_participants(own, keys, *teams, points, workers, done))
    regrets, good = (np.stack(arrays, axis=1) for arrays in zip(*parts, strict=True))
    return regrets.reshape(-1, *regrets.shape[2:]), good.reshape(-1, *good.shape[2:])


def _run_by_problem(
    compiled: CompiledStudy,
    design: StudyDesign,
    keys: NDArray[np.uint32],
    teams: tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]],
    points: NDArray[np.int64],
    workers: int,
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the results of the fast engine where cells differ in observability: cell by cell."""
    from cobandit.engine.fast.studies import run_participants

    shape = (len(keys), len(design.conditions), design.episodes)
    regrets, good = np.zeros((*shape, len(points))), np.zeros(shape, dtype=np.int64)
    cells = [design.cell_of(order) for order in range(len(design.orders))]
    for cell, names in design.cells.items():
        mine = np.flatnonzero(np.array([name == cell for name in cells])[teams[1]])
        own = replace(compiled, problem=design.problem_of(names[0]))
        seeds, orders, kinds = teams[0][mine], teams[1][mine], teams[2][mine]
        regrets[mine], good[mine] = run_participants(own, keys[mine], seeds, orders, kinds, points, workers, done)
    return regrets, good


def _alike(kinds: NDArray[np.int64], share: float, seed: int) -> NDArray[np.int64]:
    """Return the behaviours of teams x members, of which a share of the teams takes that of the first member."""
    chance = real(0.0, 1.0)("alike", share)
    if chance == 0.0 or kinds.shape[1] == 1:
        return kinds
    same = _draws(seed, CrowdStream.ALIKE, len(kinds)) < chance
    return np.where(same[:, np.newaxis], kinds[:, :1], kinds)


def checked_mixture(behaviours: object) -> tuple[tuple[Agent, ...], NDArray[np.float64]]:
    """Return the agents of the behaviours, and their shares, which add up to 1."""
    if isinstance(behaviours, (str, Agent)):
        behaviours = [(behaviours, 1.0)]
    parts = list(behaviours) if is_list(behaviours) else []
    if not parts:
        raise InvalidInput(
            f"behaviours must be a name, an agent, or a list such as [('softmax', 0.7), "
            f"('knowledge-gradient', 0.3)], got {short_repr(behaviours)}."
        )
    members, weights = [], []
    for i, part in enumerate(parts):
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise InvalidInput(f"behaviours[{i}] must be a pair of behaviour and weight, got {short_repr(part)}.")
        members.append(make_behaviour(part[0]))
        weights.append(real(0.0, 1e12)(f"The weight of {members[-1].title}", part[1]))
    if sum(weights) <= 0.0:
        raise InvalidInput("All weights of the behaviours are 0; at least one above 0 is needed.")
    return tuple(members), np.array(weights) / sum(weights)


def participant_keys(design: StudyDesign, seeds: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the keys of the participants' random streams as little-endian 32-bit words, one row per participant."""
    key_bytes = b"".join(person_key(design.digest, seed).to_bytes(32, "little") for seed in seeds.tolist())
    return np.frombuffer(key_bytes, dtype="<u4").reshape(-1, 8).astype(np.uint32)


def compiled_study(design: StudyDesign, behaviours: Sequence[Agent], seat: int | None = None) -> CompiledStudy:
    """Return the study in the form that the compiled kernels take; in a design for teams, as the member in ``seat``
    plays it.
    """
    from cobandit.engine.fast.studies import CompiledStudy, Purposes

    practices = 0 if design.practice is None else design.practice.episodes
    means: list[NDArray[np.float64]] = []
    if design.means.draw == "fixed" or design.means.per == "study":
        anybody = ParticipantPlan(design, 0, 0)
        means = [anybody.episode(practices + k).unswapped_means for k in range(design.episodes)]
    names = [condition.name for condition in design.conditions]
    return CompiledStudy(
        problem=design.problem,
        participant=design.participant_seat if seat is None else seat,
        rounds=design.rounds,
        warm_rounds=0 if design.warm_start is None else design.warm_start.rounds,
        episodes=design.episodes,
        practices=practices,
        swapped=design.swap_labels,
        shared=design.shared_luck,
        sequences=np.array([[names.index(name) for name in order] for order in design.orders], dtype=np.int64),
        means=np.array(means),
        mean_range=(design.means.low, design.means.high),
        partners=tuple(condition.make() for condition in design.conditions),
        warm_partner=None if design.warm_start is None else design.warm_start.make(),
        people=tuple(behaviours),
        purposes=Purposes(
            StudyStream.MEANS,
            StudyStream.LUCK,
            StudyStream.SIGHT,
            StudyStream.CHOICES,
            StudyStream.WARM_START,
            StudyStream.BEHAVIOUR,
        ),
        members=() if design.group is None else design.participant_seats,
        together=() if design.group is None else tuple(not condition.alone for condition in design.conditions),
    )


def _prepared(design: StudyDesign, behaviours: Sequence[Agent]) -> CompiledStudy:
    """Return the study for the compiled loop, or raise `engine.choice.NotCompiled` if a player has none."""
    for what, present in _not_compiled(design).items():
        if present:
            raise NotCompiled(f"{what} are simulated one round at a time")
    study = compiled_study(design, behaviours)
    _ = study.players
    return study


def _not_compiled(design: StudyDesign) -> dict[str, bool]:
    """Return what the compiled loop does not know, and whether the design has it."""
    entries = design.conditions
    sights = [{design.observability_of(name) for name in names} for names in design.cells.values()]
    return {
        "designs with services": any("service" in players_of(design, entry.name) for entry in entries),
        "designs with rewards or observation by condition": any(
            entry.observation is not None or entry.rewards is not None for entry in entries
        ),
        "conditions of one participant that differ in observability": any(len(seen) > 1 for seen in sights),
        "teams of people with observability by condition": design.group is not None
        and any(entry.observability for entry in entries),
        "designs with scores or drifting means": design.rewards.graded or design.means.drifts,
        "tasks with states": bool(design.task.layers),
        "designs with means by condition": any(entry.means is not None for entry in entries),
        "designs with rounds by condition": not design.even_rounds or design.rounds != design.most_rounds,
        "designs with hidden choices": design.hides_choices,
        "designs with an agent of its own in a seat": any(entry.agents for entry in entries),
        "designs with roles that are drawn or differ": design.draws_roles or any(entry.roles for entry in entries),
        "designs with a feedback delay": any(design.problem_of(entry.name).delay for entry in entries),
    }


def _rehearsed(
    design: StudyDesign,
    behaviours: Sequence[Agent],
    seeds: NDArray[np.uint64],
    orders: NDArray[np.int64],
    kinds: NDArray[np.int64],
    points: NDArray[np.int64],
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], NDArray[np.int64] | NDArray[np.float64]]:
    """Return the results of the reference engine: every participant, or every team, rehearses."""
    names = [condition.name for condition in design.conditions]
    size = len(design.participant_seats)
    shape = (size * len(seeds), len(names), design.episodes)
    regrets = np.zeros((*shape, len(points)))
    good = np.zeros(shape) if design.rewards.graded else np.zeros(shape, dtype=np.int64)
    for i, (seed, order, team) in enumerate(zip(seeds.tolist(), orders.tolist(), kinds.tolist(), strict=True)):
        everybody = rehearse_team(design, [behaviours[kind] for kind in team], seed, order)
        for place, episodes in enumerate(everybody):
            for episode in episodes:
                plan = episode.plan
                if not plan.practice:
                    where = size * i + place, names.index(plan.condition), plan.number
                    rounds = episode.trajectory()
                    regrets[where] = rounds.task_regret[np.minimum(points, len(rounds.task_regret)) - 1]
                    good[where] = rounds.rewards.sum()
        done(size)
    return regrets, good


def _draws(seed: int, purpose: int, count: int) -> NDArray[np.float64]:
    return generator(seed, purpose).random(count)


def _readiness(study: StudyDesign, compiled: CompiledStudy, points: NDArray[np.int64]) -> tuple[str, object]:
    """Return where the code of the study loop is, and its key."""
    from cobandit.engine.fast.caching import readiness
    from cobandit.engine.fast.studies import run_participants

    seeds, first = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64)
    keys = participant_keys(study, seeds)
    kinds = np.zeros((1, len(compiled.person_seats)), dtype=np.int64)
    return readiness(lambda: run_participants(compiled, keys, seeds, first, kinds, points, 1, lambda more: None))


def _refuse_what_cannot_fit(design: StudyDesign, participants: int, points: int) -> None:
    """Refuse a size that does not fit into memory before any work starts."""
    cells = participants * len(design.conditions) * design.episodes
    needed = 8 * cells * (points + 2) + 200 * participants
    memory = physical_memory()
    if memory is not None and needed > memory:
        raise TooLarge(
            f"{participants:,} participants x {cells // participants:,} episodes x {points:,} checkpoints need about "
            f"{needed / 2**30:,.1f} GiB; this machine has {memory / 2**30:,.1f} GiB. Ask for fewer of them."
        )
