"""What one participant will meet, all of it derived from the design, the participant's seed and the order.

Nothing random is stored: a plan is a few numbers, and its means, its luck and its streams are computed when asked for.
The streams are SFC64 generators of ``SeedSequence(key, spawn_key=(purpose, kind, number, part))``, where ``key`` is the
SHA-256 of design digest and seed, ``number`` counts the episodes of a set and ``part`` tells conditions apart where
they must not share. Means that everybody shares hang on the design and on ``secret``, which a server keeps to itself:
whoever has the design must not be able to work them out. Neither luck nor means depend on the order, so both orders
lead through the same world.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import Agent, Briefing
from cobandit.base.checks import whole
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import StudyStream, checked_seed, generator
from cobandit.problem.means import Tensor
from cobandit.studies.design import AgentChoice, StudyDesign
from cobandit.studies.rounds import seal

S = TypeVar("S", bound=np.generic)

PRACTICE = "practice"
"""Stands where a condition would, in episodes that do not count."""


def person_key(*parts: object) -> int:
    """What the streams of a participant hang on: the SHA-256 of design digest and seed."""
    return int.from_bytes(hashlib.sha256(":".join(map(str, parts)).encode("ascii")).digest(), "big")


def partner_orders(design: StudyDesign) -> tuple[tuple[int, ...], ...]:
    """Every way in which the partners' identities may appear, set by set; one empty way, where the design has none."""
    return tuple(itertools.permutations(range(len(design.partners))))


@lru_cache(maxsize=8192)
def _drawn_partners(digest: str, seed: int, ways: int) -> int:
    return int(generator(person_key(digest, seed), StudyStream.PARTNERS).random() * ways)


def partner_order(design: StudyDesign, seed: int) -> tuple[int, ...]:
    """Which of the design's partners a participant of this seed meets, set by set: a draw, whatever the order."""
    ways = partner_orders(design)
    return ways[_drawn_partners(design.digest, seed, len(ways))]


@dataclass(frozen=True)
class EpisodePlan:
    """One episode of one participant: ``index`` is its place in everything the participant plays."""

    design: StudyDesign = field(repr=False)
    seed: int
    order: int
    index: int
    secret: str = field(default="", repr=False)

    @property
    def _practices(self) -> int:
        return 0 if self.design.practice is None else self.design.practice.episodes

    @property
    def practice(self) -> bool:
        """Whether the episode is there to get used to the task, and does not count."""
        return self.index < self._practices

    @property
    def set(self) -> int:
        """Which set (one per condition) the episode belongs to, from 0; -1 for practice."""
        return -1 if self.practice else (self.index - self._practices) // self.design.episodes

    @property
    def number(self) -> int:
        """The episode's place in its set (or among the practice episodes), from 0."""
        return self.index if self.practice else (self.index - self._practices) % self.design.episodes

    @property
    def siblings(self) -> int:
        """How many episodes its set (or the practice) has."""
        return self._practices if self.practice else self.design.episodes

    @property
    def condition(self) -> str:
        """The name of the condition, or "practice"."""
        return PRACTICE if self.practice else self.design.orders[self.order][self.set]

    @property
    def partner(self) -> AgentChoice:
        """The AI of this episode."""
        if self.design.practice is not None and self.practice:
            return self.design.practice
        return self.design.condition(self.condition)

    @property
    def identity(self) -> int | None:
        """Which of the design's partners the participant is told to play with; None in practice, or without any."""
        if self.practice or not self.design.partners:
            return None
        return partner_order(self.design, self.seed)[self.set]

    @property
    def rounds(self) -> int:
        """How many rounds the participant plays."""
        if self.design.practice is not None and self.practice:
            return self.design.practice.rounds
        return self.design.rounds

    @property
    def warm_rounds(self) -> int:
        """How many rounds the AI has played with the simulated partner before."""
        return 0 if self.design.warm_start is None or self.practice else self.design.warm_start.rounds

    @property
    def swapped(self) -> bool:
        """Whether all arms are reversed: in every second set, where the design says so."""
        return self.design.swap_labels and self.set % 2 == 1

    def start(self, version: int) -> str:
        """What the hash chain of the episode hangs on: the fingerprint of who plays what."""
        identity = {"design": self.design.digest, "seed": self.seed, "order": self.order, "episode": self.index}
        return seal(identity, version)

    @property
    def unswapped_means(self) -> Tensor:
        """mu before any swap: the same for the k-th episodes of all sets."""
        rule, arms = self.design.means, self.design.arms
        if rule.draw == "fixed" and not self.practice:
            return rule.values[self.number % len(rule.values)].draw(1, None, self._stream(StudyStream.MEANS))
        shared = (self.design.digest, "study", *((self.secret,) if self.secret else ()))
        key = self._person if rule.per == "participant" else person_key(*shared)
        draws = generator(key, StudyStream.MEANS, int(not self.practice), self.number, 0).random(arms)
        return rule.low + (rule.high - rule.low) * draws

    @property
    def means(self) -> Tensor:
        """mu over the team actions as they are labelled in this episode."""
        return self._shown(self.unswapped_means, 0)

    def luck(self) -> NDArray[np.int8]:
        """r*_t(a) for every round, the warm start's first, and every team action as labelled in this episode.

        One uniform draw per round and cell, compared with the mean of the unswapped cell.
        """
        rounds = self.warm_rounds + self.rounds
        draws = self._stream(StudyStream.LUCK, self._shared_part).random((rounds, *self.design.arms))
        return self._shown((draws < self.unswapped_means).astype(np.int8), 1)

    def observers(self) -> tuple[np.random.Generator, ...]:
        """Fresh streams for what each seat sees of the rewards: one draw a round each."""
        seats = len(self.design.seating)
        return tuple(self._stream(StudyStream.SIGHT, seats * self._shared_part + seat) for seat in range(seats))

    def ready_agents(self) -> dict[int, Agent]:
        """The AIs by seat, briefed and before their first round: the library's own agents."""
        agents = {}
        for place, seat in enumerate(self.design.agent_seats):
            agent = self.partner.make()
            # The first AI has the address of the only one; each further AI adds its place to it.
            rng = self._stream(StudyStream.CHOICES, self._own_part, *((place,) if place else ()))
            agent.reset(self.briefing(agent, seat, self.warm_rounds + self.rounds), rng)
            agents[seat] = agent
        return agents

    def ready_warm_partner(self) -> Agent | None:
        """The simulated partner of the warm start, briefed; None where there is no warm start."""
        if self.design.warm_start is None or self.practice:
            return None
        agent = self.design.warm_start.make()
        agent.reset(
            self.briefing(agent, self.design.participant_seat, self.warm_rounds),
            self._stream(StudyStream.WARM_START, self._own_part),
        )
        return agent

    def briefing(self, agent: Agent, seat: int, horizon: int) -> Briefing:
        """What an agent in a seat is told; the better observer leads, the earlier seat where two see alike."""
        problem = self.design.problem
        return Briefing(
            seat,
            problem.arms,
            problem.known_ranks(),
            horizon,
            binary=problem.binary,
            observation=problem.observation.name,
            means=self.means if agent.oracle else None,
        )

    @cached_property
    def _person(self) -> int:
        return person_key(self.design.digest, self.seed)

    @property
    def _own_part(self) -> int:
        """Tells the conditions apart whatever their order."""
        return 0 if self.practice else 1 + self.design.orders[0].index(self.condition)

    @property
    def _shared_part(self) -> int:
        return 0 if self.design.shared_luck else self._own_part

    def _stream(self, purpose: int, part: int = 0, *further: int) -> np.random.Generator:
        return generator(self._person, purpose, int(not self.practice), self.number, part, *further)

    def _shown(self, values: NDArray[S], first: int) -> NDArray[S]:
        """The values with all arms reversed where the episode is swapped; ``first`` is the axis of seat 0."""
        axes = tuple(range(first, values.ndim))
        return np.ascontiguousarray(np.flip(values, axis=axes)) if self.swapped else values


@dataclass(frozen=True)
class ParticipantPlan:
    """Everything one participant will play, practice first, then one set per condition in the given order.

    ``secret`` (ASCII) goes into the means that all participants of a study share; empty, they follow from the design.
    """

    design: StudyDesign = field(repr=False)
    seed: int
    order: int
    secret: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.seed is None:
            raise InvalidInput("seed is None; the seed of a participant must be a stored whole number.")
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if not isinstance(self.secret, str) or not self.secret.isascii():
            raise InvalidInput("The secret of a study is wrong; a text of ASCII letters is needed, or an empty one.")
        object.__setattr__(self, "order", whole(0, len(self.design.orders) - 1)("order", self.order))

    def __len__(self) -> int:
        practices = 0 if self.design.practice is None else self.design.practice.episodes
        return practices + len(self.design.conditions) * self.design.episodes

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions in the participant's order."""
        return self.design.orders[self.order]

    @property
    def partner_order(self) -> tuple[int, ...]:
        """The places of the design's partners in the participant's sets; empty, where the design names none."""
        return partner_order(self.design, self.seed)

    def episode(self, index: int) -> EpisodePlan:
        """The plan of one episode."""
        number = whole(0, len(self) - 1)("episode", index)
        return EpisodePlan(self.design, self.seed, self.order, number, self.secret)

    @property
    def episodes(self) -> tuple[EpisodePlan, ...]:
        """The plans of all episodes, in the order in which they are played."""
        return tuple(self.episode(index) for index in range(len(self)))

    def survey_order(self, set: int) -> tuple[str, ...]:
        """The ids of the survey items after a set (from 0) as they are shown: drawn, where the design shuffles them."""
        items = [item.id for item in self.design.survey.items]
        place = whole(0, len(self.conditions) - 1)("set", set)
        checks = [check for check in self.design.attention if check.after_set == place + 1]
        items += [check.id for check in checks if not check.apart]
        apart = [check.id for check in checks if check.apart]
        if self.design.survey.shuffled:
            rng = generator(person_key(self.design.digest, self.seed), StudyStream.SURVEY, place)
            items = [items[i] for i in rng.random(len(items)).argsort().tolist()]
        return (*items, *apart)
