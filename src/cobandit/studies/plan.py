"""The plan of one participant: means, outcomes and partners, derived from the design, the seed and the order.

Nothing random is stored: a plan is a few numbers, and its means, its luck and its streams are computed when asked for.
The streams are SFC64 generators of ``SeedSequence(key, spawn_key=(purpose, kind, number, part))``, where ``key`` is the
SHA-256 of design digest and seed, ``number`` counts the episodes of a set and ``part`` tells conditions apart where
they must not share. Means that all participants share depend on the design and on ``secret``, which the server does
not publish: a participant who has the design must not be able to compute them. Neither luck nor means depend on the
order, so participants of both orders play the same episodes.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
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
from cobandit.studies.design import AgentChoice, MeansRule, StudyDesign
from cobandit.studies.group_checks import players_of, service_options
from cobandit.studies.lines import line_regret
from cobandit.studies.questionnaire_answers import item_order
from cobandit.studies.rounds import HASH_VERSION, TEAM_HASH_VERSION, seal
from cobandit.studies.scores import drawn_scores, means_by_round

S = TypeVar("S", bound=np.generic)

PRACTICE = "practice"
"""Stands where a condition would, in episodes that do not count."""


def person_key(*parts: object) -> int:
    """Return the key of a participant's random streams: the SHA-256 of design digest and seed."""
    return int.from_bytes(hashlib.sha256(":".join(map(str, parts)).encode("ascii")).digest(), "big")


def partner_orders(design: StudyDesign) -> tuple[tuple[int, ...], ...]:
    """Return every order in which the partners' identities can appear; one empty order if the design has none."""
    return tuple(itertools.permutations(range(len(design.partners))))


@lru_cache(maxsize=8192)
def _drawn_partners(digest: str, seed: int, ways: int) -> int:
    return int(generator(person_key(digest, seed), StudyStream.PARTNERS).random() * ways)


def partner_order(design: StudyDesign, seed: int) -> tuple[int, ...]:
    """Return which of the design's partners appears in each set for this seed, independently of the order."""
    ways = partner_orders(design)
    return ways[_drawn_partners(design.digest, seed, len(ways))]


@dataclass(frozen=True)
class TeamPlace:
    """A participant's seat in a team of several people, and the seed of the team's luck.

    ``roster`` is the SHA-256 over the keyed marks of the members: it binds the log to them without identifying them.
    """

    seed: int
    seat: int
    roster: str = ""


@dataclass(frozen=True)
class EpisodePlan:
    """One episode of one participant: ``index`` is its place in everything the participant plays.

    In a design for several people, ``seed`` is the team's, ``seat`` the participant's and ``roster`` that of
    `TeamPlace`.
    """

    design: StudyDesign = field(repr=False)
    seed: int
    order: int
    index: int
    secret: str = field(default="", repr=False)
    seat: int | None = None
    roster: str = field(default="", repr=False)

    @property
    def _practices(self) -> int:
        return 0 if self.design.practice is None else self.design.practice.episodes

    @property
    def practice(self) -> bool:
        """Whether the episode is practice and does not count."""
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

    def agent_of(self, seat: int) -> AgentChoice:
        """Return the AI of a seat: that of the condition, unless it names another one for the seat."""
        if self.practice:
            return self.partner
        return self.design.condition(self.condition).agent_of(self.design.seating[seat].name)

    @property
    def own_seat(self) -> int:
        """The seat of the participant."""
        return self.design.participant_seat if self.seat is None else self.seat

    @property
    def together(self) -> bool:
        """Whether several people play the episode together."""
        return sum(player == "participant" for player in self.players) > 1

    @cached_property
    def players(self) -> tuple[str, ...]:
        """Who plays in each seat: "participant", "service" or "agent"."""
        design = self.design
        if self.practice:
            return tuple("participant" if seat == self.own_seat else "agent" for seat in range(len(design.seating)))
        known = players_of(design, self.condition)
        if not design.condition(self.condition).alone:
            return known
        return tuple(
            "agent" if player == "participant" and seat != self.own_seat else player
            for seat, player in enumerate(known)
        )

    @cached_property
    def free_seats(self) -> tuple[int, ...]:
        """The seats whose moves are recorded: those of people and services."""
        return tuple(seat for seat, player in enumerate(self.players) if player != "agent")

    @property
    def recorded(self) -> bool:
        """Whether the moves of several seats are recorded: of people who play together, or of services."""
        return len(self.free_seats) > 1

    @property
    def agent_seats(self) -> tuple[int, ...]:
        """The seats that the AI of the episode plays."""
        return tuple(seat for seat, player in enumerate(self.players) if player == "agent")

    @property
    def version(self) -> int:
        """The version of the hashes of the episode, where it is opened now."""
        return TEAM_HASH_VERSION if len(self.free_seats) > 1 else HASH_VERSION

    def service(self, seat: int) -> dict[str, object]:
        """Return the table of the service in a seat."""
        return service_options(self.design, self.condition, seat)

    @property
    def identity(self) -> int | None:
        """The index of the partner that the participant is shown; None in practice, or if the design has none."""
        if self.practice or not self.design.partners:
            return None
        return partner_order(self.design, self.seed)[self.set]

    @property
    def rounds(self) -> int:
        """How many rounds the participant plays."""
        if self.design.practice is not None and self.practice:
            return self.design.practice.rounds
        return self.design.rounds_of(self.condition)

    @property
    def delay(self) -> int:
        """After how many further rounds the members learn the team action and the outcome of a round."""
        return self.design.problem_of(self.condition).delay

    @property
    def hides_choices(self) -> bool:
        """Whether people and AIs never learn the choices of others."""
        return self.design.problem_of(self.condition).hides_actions

    def known_arms(self, arms: Sequence[int], seat: int) -> list[int | None]:
        """Return the arms of a round as a seat learns them; None: hidden."""
        hides = self.hides_choices
        return [None if hides and place != seat else arm for place, arm in enumerate(arms)]

    @property
    def warm_rounds(self) -> int:
        """How many rounds the AI has played with the simulated partner before."""
        return 0 if self.design.warm_start is None or self.practice else self.design.warm_start.rounds

    @property
    def swapped(self) -> bool:
        """Whether all arms are reversed: in every second set, where the design says so."""
        return self.design.swap_labels and self.set % 2 == 1

    def start(self, version: int) -> str:
        """Return the start of the episode's hash chain: a fingerprint of the participant and the episode."""
        identity: dict[str, object] = {"design": self.design.digest, "seed": self.seed, "order": self.order}
        identity["episode"] = self.index
        if len(self.free_seats) > 1:
            identity["roster"] = self.roster
        elif len(self.design.participant_seats) > 1:
            identity["seat"] = self.own_seat  # members who play alone share seed and order
        return seal(identity, version)

    @property
    def layers(self) -> int:
        """How many rounds make one configuration: the layers of a burger at a line, else 1."""
        return self.design.task.steps

    @property
    def means_rule(self) -> MeansRule:
        """Where the means of the episode come from: the design's rule, or that of the condition."""
        return self.design.means_of(self.condition)

    @property
    def unswapped_means(self) -> Tensor:
        """mu before any swap: the same for the k-th episodes of all sets; at a line, an axis per seat and layer."""
        rule, arms = self.means_rule, self.design.arms * self.layers
        if rule.draw == "fixed" and not self.practice:
            return rule.values[self.number % len(rule.values)].draw(1, None, self._stream(StudyStream.MEANS))
        draws = generator(self._means_key, StudyStream.MEANS, int(not self.practice), self.number, 0).random(arms)
        return rule.low + (rule.high - rule.low) * draws

    @property
    def _means_key(self) -> int:
        """The key of the streams of the means: the participant's, or that of the whole study."""
        shared = (self.design.digest, "study", *((self.secret,) if self.secret else ()))
        return self._person if self.means_rule.per == "participant" else person_key(*shared)

    @property
    def means(self) -> Tensor:
        """mu over the team actions as they are labelled in this episode; of its beginning, where they drift."""
        return self._shown(self.unswapped_means, 0)

    @cached_property
    def _path(self) -> NDArray[np.float64]:
        """The unswapped means of every round, the warm start's first."""
        first, rule, rounds = self.unswapped_means, self.means_rule, self.warm_rounds + self.rounds
        rng = generator(self._means_key, StudyStream.DRIFT, int(not self.practice), self.number, 0)
        return means_by_round(rule, first, (self.warm_rounds, rounds), rng, given=not self.practice)

    def round_means(self) -> NDArray[np.float64]:
        """Return mu of every round, the warm start left out, over the team actions as labelled in this episode."""
        return self._shown(self._path[self.warm_rounds :], 1)

    def round_regret(self, arms: NDArray[np.int64], t: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return mu_* - mu_a of rounds, whose arms are rounds x seats: 1, 2, ..., or the rounds ``t``.

        At a line it is V* - Q*, and the first round must begin a burger.
        """
        if self.layers > 1:
            return line_regret(self.means, np.asarray(arms), self.layers)
        cells = tuple(np.asarray(arms).T)
        if not self.means_rule.drifts:
            means = self.means
            return np.asarray(means.max() - means[cells])
        rows = np.arange(len(arms)) if t is None else np.asarray(t) - 1
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.rounds:
            raise InvalidInput(f"t must be rounds from 1 to {self.rounds}; verify the study, its log is damaged.")
        by_round = self.round_means()[rows]
        best = by_round.reshape(len(rows), -1).max(axis=1)
        return np.asarray(best - by_round[(np.arange(len(rows)), *cells)])

    def luck(self) -> NDArray[np.int8] | NDArray[np.float64]:
        """r*_t(a) for every round, the warm start's first, and every team action as labelled in this episode.

        Good or bad: one uniform draw per round and cell, compared with the mean of the unswapped cell. At a line, there
        is a row for each burger.
        """
        rounds = self.warm_rounds + self.rounds
        stream = self._stream(StudyStream.LUCK, self._shared_part)
        rewards = self.design.rewards_of(self.condition)
        if rewards.graded:
            return self._shown(drawn_scores(rewards, self._path, stream), 1)
        draws = stream.random((rounds // self.layers, *self.design.arms * self.layers))
        means = self._path if self.means_rule.drifts else self.unswapped_means
        return self._shown((draws < means).astype(np.int8), 1)

    def observers(self) -> tuple[np.random.Generator, ...]:
        """Fresh streams for what each seat sees of the rewards: one draw a round each."""
        seats = len(self.design.seating)
        return tuple(self._stream(StudyStream.SIGHT, seats * self._shared_part + seat) for seat in range(seats))

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each seat, 0 for the leader; drawn ones are the same in the k-th episodes of all such sets."""
        problem = self.design.problem_of(self.condition)
        if not problem.draws_roles:
            return problem.known_ranks()
        return problem.draw_ranks(self._stream(StudyStream.ROLES, self._shared_part))

    def ready_agents(self) -> dict[int, Agent]:
        """Return the AIs by seat, briefed and before their first round: agents of the library."""
        agents, grouped = {}, len(self.design.participant_seats) > 1
        for place, seat in enumerate(self.agent_seats):
            agent = self.agent_of(seat).make(self.layers)
            # The first AI has the address of the only one; each further AI adds its place to it. In a group an AI plays
            # another seat for each member, so the address is that of the seat.
            further = (1 + seat,) if grouped else (place,) if place else ()
            rng = self._stream(StudyStream.CHOICES, self._own_part, *further)
            agent.reset(self.briefing(agent, seat, self.warm_rounds + self.rounds), rng)
            agents[seat] = agent
        return agents

    def ready_takeover(self, seat: int) -> Agent:
        """Return the agent that takes over a recorded seat, briefed and before its first round."""
        choice = self.design.seating[seat].takeover or self.agent_of(seat)
        agent = choice.make()
        rng = self._stream(StudyStream.TAKEOVER, self._own_part, seat)
        agent.reset(self.briefing(agent, seat, self.warm_rounds + self.rounds), rng)
        return agent

    def ready_warm_partner(self) -> Agent | None:
        """Return the simulated partner of the warm start, briefed; None if there is no warm start."""
        if self.design.warm_start is None or self.practice:
            return None
        agent = self.design.warm_start.make()
        agent.reset(
            self.briefing(agent, self.design.participant_seat, self.warm_rounds),
            self._stream(StudyStream.WARM_START, self._own_part),
        )
        return agent

    def briefing(self, agent: Agent, seat: int, horizon: int) -> Briefing:
        """Return the briefing of an agent in a seat."""
        problem = self.design.problem_of(self.condition)
        return Briefing(
            seat,
            problem.arms,
            self.ranks,
            horizon,
            binary=problem.binary,
            observation=problem.observation.name,
            means=self.means if agent.oracle else None,
            actions=problem.actions,
        )

    @cached_property
    def _person(self) -> int:
        return person_key(self.design.digest, self.seed)

    @property
    def _own_part(self) -> int:
        """A number of the condition that is independent of the order in which participants play the conditions."""
        return 0 if self.practice else 1 + [entry.name for entry in self.design.conditions].index(self.condition)

    @property
    def _shared_part(self) -> int:
        # With shared luck the k-th episodes of all conditions use the same stream: conditions are compared on the same
        # outcomes (common random numbers), which removes the luck of the draw from their difference.
        return 0 if self.design.shared_luck else self._own_part

    def _stream(self, purpose: int, part: int = 0, *further: int) -> np.random.Generator:
        return generator(self._person, purpose, int(not self.practice), self.number, part, *further)

    def _shown(self, values: NDArray[S], first: int) -> NDArray[S]:
        """Return the values with all arms reversed if the episode is swapped; ``first`` is the axis of seat 0."""
        axes = tuple(range(first, values.ndim))
        return np.ascontiguousarray(np.flip(values, axis=axes)) if self.swapped else values


@dataclass(frozen=True)
class ParticipantPlan:
    """Everything one participant will play, practice first, then one set per condition in the given order.

    ``secret`` (ASCII) goes into the means that all participants of a study share; empty, they follow from the design.
    ``team`` is the participant's place in a team of several people, whose seed the episodes come from; ``seed`` then
    decides the order of survey items alone.
    """

    design: StudyDesign = field(repr=False)
    seed: int
    order: int
    secret: str = field(default="", repr=False)
    team: TeamPlace | None = None

    def __post_init__(self) -> None:
        if self.seed is None:
            raise InvalidInput("seed is None; the seed of a participant must be a stored whole number.")
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if not isinstance(self.secret, str) or not self.secret.isascii():
            raise InvalidInput("The secret of a study is wrong; a text of ASCII letters is needed, or an empty one.")
        object.__setattr__(self, "order", whole(0, len(self.design.orders) - 1)("order", self.order))

    def __len__(self) -> int:
        practices = 0 if self.design.practice is None else self.design.practice.episodes
        return practices + self.design.sets * self.design.episodes

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions in the participant's order."""
        return self.design.orders[self.order]

    @property
    def partner_order(self) -> tuple[int, ...]:
        """The places of the design's partners in the participant's sets; empty, where the design names none."""
        return partner_order(self.design, self.seed)

    def episode(self, index: int) -> EpisodePlan:
        """Return the plan of one episode."""
        number = whole(0, len(self) - 1)("episode", index)
        if self.team is None:
            return EpisodePlan(self.design, self.seed, self.order, number, self.secret)
        team = self.team
        return EpisodePlan(self.design, team.seed, self.order, number, self.secret, team.seat, team.roster)

    @property
    def episodes(self) -> tuple[EpisodePlan, ...]:
        """The plans of all episodes, in the order in which they are played."""
        return tuple(self.episode(index) for index in range(len(self)))

    def survey_order(self, set: int) -> tuple[str, ...]:
        """Return the ids of the survey items after a set (from 0), in the participant's order if they are shuffled."""
        items = [item.id for item in self.design.survey.items]
        place = whole(0, len(self.conditions) - 1)("set", set)
        checks = [check for check in self.design.attention if check.after_set == place + 1]
        items += [check.id for check in checks if not check.apart]
        apart = [check.id for check in checks if check.apart]
        if self.design.survey.shuffled:
            rng = generator(person_key(self.design.digest, self.seed), StudyStream.SURVEY, place)
            items = [items[i] for i in rng.random(len(items)).argsort().tolist()]
        return (*items, *apart)

    def questionnaire_order(self, id: str, set: int | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the items of a questionnaire in the order of this participant's page, each with its rows.

        ``set`` is the set after which it is asked, from 1; None for questionnaires that are asked once.
        """
        questionnaire = self.design.questionnaire(id)
        place = self.design.questionnaires.index(questionnaire)
        key = person_key(self.design.digest, self.seed)
        return item_order(questionnaire, generator(key, StudyStream.QUESTIONS, place, set or 0))
