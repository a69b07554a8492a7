"""A crowd of simulated participants: whole studies in bulk, for power analysis.

Participant i of a crowd is a seed, an order and a behaviour, and meets exactly what `rehearse` would lead it through;
only the outcomes of each episode are kept. Paper: Experiments; Online Casino Study (Dependent Measures).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent
from cobandit.base.checks import MOST, is_list, real, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.machine import available_cores, physical_memory
from cobandit.base.streams import CrowdStream, StudyStream, bit_generator, checked_seed, generator
from cobandit.engine.choice import Engine, engine_for
from cobandit.engine.simulation import Progress, checked_checkpoints
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.design import StudyDesign, load_design
from cobandit.studies.plan import ParticipantPlan, person_key
from cobandit.studies.rehearse import rehearse

if TYPE_CHECKING:
    from cobandit.engine.fast.studies import CompiledStudy

Mixture = str | Agent | Sequence[tuple[str | Agent, float]]


@dataclass(frozen=True, eq=False)
class Crowd:
    """What every simulated participant achieved in every episode that counts.

    Participant i has ``seeds[i]``, ``orders[i]`` and plays as ``behaviours[kinds[i]]``. ``regret_curves`` is
    participants x conditions x episodes x checkpoints, the conditions in the design's own order; it is task regret
    summed over the counted rounds. ``good`` counts the rounds with r* = 1, whoever saw it.
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
    good: NDArray[np.int64]

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
        return self.task_regret * self.design.problem.team_factor

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
    """
    study = load_design(design) if isinstance(design, str) else design
    if not isinstance(study, StudyDesign):
        raise InvalidInput(f"design is {short_repr(design)}; a StudyDesign or the name of one is needed.")
    members, shares = checked_mixture(behaviours)
    count = whole(1, MOST)("participants", participants)
    number = checked_seed(seed)
    points = checked_checkpoints(checkpoints, study.rounds)
    workers = whole(1, 4096)("threads", available_cores() if threads is None else threads)
    warm_rounds = 0 if study.warm_start is None else study.warm_start.rounds
    rounds = len(study.conditions) * study.episodes * (warm_rounds + study.rounds)
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

    seeds = np.asarray(bit_generator(number, CrowdStream.PEOPLE).random_raw(count), dtype=np.uint64)
    steps = np.cumsum(shares)
    kinds = np.searchsorted(steps / steps[-1], _draws(number, CrowdStream.BEHAVIOURS, count), side="right").astype(
        np.int64
    )
    if study.order == "counterbalanced":
        orders = np.arange(count, dtype=np.int64) % len(study.orders)
    else:
        orders = (_draws(number, CrowdStream.ORDERS, count) * len(study.orders)).astype(np.int64)
    finished = 0

    def done(more: int) -> None:
        nonlocal finished
        finished += more
        if progress is not None:
            progress(finished, count)

    start = time.perf_counter()
    if compiled is not None:
        from cobandit.engine.fast.studies import run_participants

        keys = participant_keys(study, seeds)
        regrets, good = run_participants(compiled, keys, seeds, orders, kinds, points, workers, done)
    else:
        regrets, good = _rehearsed(study, members, seeds, orders, kinds, points, done)
    seconds = time.perf_counter() - start
    return Crowd(study, members, number, chosen, reason, seconds, seeds, orders, kinds, points, regrets, good)


def checked_mixture(behaviours: object) -> tuple[tuple[Agent, ...], NDArray[np.float64]]:
    """The behaviours, made, and their shares, which add up to 1."""
    if isinstance(behaviours, (str, Agent)):
        behaviours = [(behaviours, 1.0)]
    parts = list(behaviours) if is_list(behaviours) else []
    if not parts:
        raise InvalidInput(
            f"behaviours is {short_repr(behaviours)}; a name, an agent, or a list such as "
            "[('softmax', 0.7), ('knowledge-gradient', 0.3)] is needed."
        )
    members, weights = [], []
    for i, part in enumerate(parts):
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise InvalidInput(f"behaviours[{i}] is {short_repr(part)}; a pair of behaviour and weight is needed.")
        members.append(make_behaviour(part[0]))
        weights.append(real(0.0, 1e12)(f"The weight of {members[-1].title}", part[1]))
    if sum(weights) <= 0.0:
        raise InvalidInput("All weights of the behaviours are 0; at least one above 0 is needed.")
    return tuple(members), np.array(weights) / sum(weights)


def participant_keys(design: StudyDesign, seeds: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The keys of the participants' streams as little-endian 32-bit words, a row each."""
    key_bytes = b"".join(person_key(design.digest, seed).to_bytes(32, "little") for seed in seeds.tolist())
    return np.frombuffer(key_bytes, dtype="<u4").reshape(-1, 8).astype(np.uint32)


def compiled_study(design: StudyDesign, behaviours: Sequence[Agent]) -> CompiledStudy:
    """The study as the compiled kernels take it."""
    from cobandit.engine.fast.studies import CompiledStudy, Purposes

    practices = 0 if design.practice is None else design.practice.episodes
    means: list[NDArray[np.float64]] = []
    if design.means.draw == "fixed" or design.means.per == "study":
        anybody = ParticipantPlan(design, 0, 0)
        means = [anybody.episode(practices + k).unswapped_means for k in range(design.episodes)]
    names = [condition.name for condition in design.conditions]
    return CompiledStudy(
        problem=design.problem,
        participant=design.participant_seat,
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
    )


def _prepared(design: StudyDesign, behaviours: Sequence[Agent]) -> CompiledStudy:
    """Return the study for the compiled loop, or raise `engine.choice.NotCompiled` if a player has none."""
    study = compiled_study(design, behaviours)
    _ = study.players
    return study


def _rehearsed(
    design: StudyDesign,
    behaviours: Sequence[Agent],
    seeds: NDArray[np.uint64],
    orders: NDArray[np.int64],
    kinds: NDArray[np.int64],
    points: NDArray[np.int64],
    done: Callable[[int], None],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The plain way: every participant rehearses."""
    names = [condition.name for condition in design.conditions]
    shape = (len(seeds), len(names), design.episodes)
    regrets, good = np.zeros((*shape, len(points))), np.zeros(shape, dtype=np.int64)
    for i, (seed, order, kind) in enumerate(zip(seeds.tolist(), orders.tolist(), kinds.tolist(), strict=True)):
        for episode in rehearse(design, behaviours[kind], seed, order):
            plan = episode.plan
            if not plan.practice:
                where = i, names.index(plan.condition), plan.number
                rounds = episode.trajectory()
                regrets[where] = rounds.task_regret[points - 1]
                good[where] = int(rounds.rewards.sum())
        done(1)
    return regrets, good


def _draws(seed: int, purpose: int, count: int) -> NDArray[np.float64]:
    return generator(seed, purpose).random(count)


def _readiness(study: StudyDesign, compiled: CompiledStudy, points: NDArray[np.int64]) -> tuple[str, object]:
    """Return where the code of the study loop is, and its key."""
    from cobandit.engine.fast.caching import readiness
    from cobandit.engine.fast.studies import run_participants

    seeds, first = np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.int64)
    keys = participant_keys(study, seeds)
    return readiness(lambda: run_participants(compiled, keys, seeds, first, first, points, 1, lambda more: None))


def _refuse_what_cannot_fit(design: StudyDesign, participants: int, points: int) -> None:
    """A size that cannot fit is refused before any work starts."""
    cells = participants * len(design.conditions) * design.episodes
    needed = 8 * cells * (points + 2) + 200 * participants
    memory = physical_memory()
    if memory is not None and needed > memory:
        raise TooLarge(
            f"{participants:,} participants x {cells // participants:,} episodes x {points:,} checkpoints need about "
            f"{needed / 2**30:,.1f} GiB; this machine has {memory / 2**30:,.1f} GiB. Ask for fewer of them."
        )
