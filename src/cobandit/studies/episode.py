"""One episode of a study: an append-only list of rounds, played by a person and the library's own agents.

The AIs' moves of a round are decided as soon as the round before is over, so they cannot depend on what the participant
then picks. Everything else is in the plan, so the log of the participant's arms is enough to bring an episode back to
any point. Each round carries the SHA-256 of its contents and of the round before; the first hangs on the plan.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.engine.partner import Partner
from cobandit.engine.trajectory import Trajectory
from cobandit.studies.plan import EpisodePlan
from cobandit.studies.rounds import HASH_VERSION, Predictions, Round, chain_version


class OutOfOrder(InvalidInput):
    """A move for a round that is not the next one."""


class AlreadyPlayed(InvalidInput):
    """Another arm for a round that has been played."""


class EpisodeOver(InvalidInput):
    """A move for a round that the episode does not have."""


class BrokenLog(InvalidInput):
    """Stored rounds that this episode cannot have had."""


class Episode:
    """An episode under way. It grows by `play` alone."""

    def __init__(self, plan: EpisodePlan, version: int = HASH_VERSION) -> None:
        """Opened, with the warm start played; ``version`` is that of its hashes."""
        self.plan = plan
        self._version = version
        self._seat = plan.design.participant_seat
        self._rounds: list[Round] = []
        self._warm: list[Round] = []
        self._arms = plan.design.arms
        self._total, self._before = plan.rounds, plan.warm_rounds
        self._observation = plan.design.problem.observation
        self._luck = plan.luck().tobytes()  # a byte a cell: a server keeps many episodes, and lists would burden it
        self._observers = plan.observers()
        self._head = plan.start(version)
        self._strides = tuple(math.prod(self._arms[i + 1 :]) for i in range(len(self._arms)))
        self._good = np.zeros(self._arms, dtype=np.int64)
        self._bad = np.zeros(self._arms, dtype=np.int64)
        self._agents = {seat: Partner.around(agent) for seat, agent in plan.ready_agents().items()}
        self._decide()
        warm_partner = plan.ready_warm_partner()
        if warm_partner is not None:
            self._warm_up(Partner.around(warm_partner))

    @classmethod
    def open(cls, plan: EpisodePlan, version: int = HASH_VERSION) -> Episode:
        """A new episode, its warm start played."""
        return cls(plan, version)

    @classmethod
    def rebuild(cls, plan: EpisodePlan, rounds: Iterable[Round], head: str | None = None) -> Episode:
        """The episode as it was after these rounds: the AIs will go on as if nothing had happened.

        ``head`` is the latest hash as it was kept apart, which tells the version where there is no round yet.
        """
        log = list(rounds)
        episode = cls(plan, chain_version(log, head))
        episode.replay(log)
        return episode

    def replay(self, rounds: Iterable[Round]) -> None:
        """Play stored rounds again from the participant's arms; one that comes out otherwise than stored is refused."""
        plan = self.plan
        for stored in rounds:
            expected = len(self._rounds) + 1
            if stored.t != expected:
                raise BrokenLog(f"The log of episode {plan.index} has round {stored.t} where round {expected} belongs.")
            if len(stored.arms) != len(self._arms):
                raise BrokenLog(
                    f"Round {stored.t} of episode {plan.index} is stored for {len(stored.arms)} seats; the design has "
                    f"{len(self._arms)}."
                )
            replayed = self.play(stored.t, stored.arms[self._seat])
            if replayed != stored:
                old, new = stored.columns(), replayed.columns()
                name = next(key for key in new if old.get(key) != new[key])
                raise BrokenLog(
                    f"Round {stored.t} of episode {plan.index} is stored with {name} = {short_repr(old.get(name))}; "
                    f"played again it has {short_repr(new[name])}. Verify the study to see every difference."
                )

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds played so far, the warm start left out."""
        return tuple(self._rounds)

    def round(self, t: int) -> Round:
        """Round ``t``, which must have been played."""
        if not 1 <= t <= len(self._rounds):
            raise OutOfOrder(f"Round {t} has not been played; {len(self._rounds)} rounds have.")
        return self._rounds[t - 1]

    @property
    def warm_start(self) -> tuple[Round, ...]:
        """The rounds of the warm start, which end with t = 0; they neither count nor show."""
        return tuple(self._warm)

    @property
    def played(self) -> int:
        """How many rounds have been played."""
        return len(self._rounds)

    @property
    def left(self) -> int:
        """How many rounds are still to be played."""
        return self._total - len(self._rounds)

    @property
    def finished(self) -> bool:
        """Whether all rounds have been played."""
        return self.left == 0

    @property
    def own_arms(self) -> int:
        """How many arms the participant has."""
        return self._arms[self._seat]

    @property
    def head(self) -> str:
        """The hash of the latest round: it vouches for all of them."""
        return self._head

    def play(self, t: int, arm: int) -> Round:
        """Play round ``t`` with the participant's ``arm``; the same move again gives the same round again."""
        if type(arm) is not int or not 0 <= arm < self._arms[self._seat]:  # making a check for each round costs more
            arm = whole(0, self._arms[self._seat] - 1)("arm", arm)
        if type(t) is not int or t < 1:
            t = whole(1)("t", t)
        if t <= len(self._rounds):
            stored = self._rounds[t - 1]
            if stored.arms[self._seat] != arm:
                raise AlreadyPlayed(
                    f"Round {t} was played with arm {stored.arms[self._seat]}; arm {arm} comes too late."
                )
            return stored
        if t > self._total:
            raise EpisodeOver(f"There is no round {t}: the episode has {self._total} rounds.")
        if t != len(self._rounds) + 1:
            raise OutOfOrder(f"Round {t} cannot be played yet: round {len(self._rounds) + 1} comes next.")
        played = self._step(t, arm)
        self._rounds.append(played)
        outcome = played.seen[self._seat]
        if outcome is not None:
            (self._good if outcome else self._bad)[played.arms] += 1
        return played

    def trajectory(self, run: int = 0) -> Trajectory:
        """The rounds so far, as a simulation would have kept them."""
        table = Trajectory.empty(run, self.plan.means, self.plan.design.problem.known_ranks(), len(self._rounds))
        for i, played in enumerate(self._rounds):
            table.actions[i] = played.arms
            table.rewards[i] = played.reward
            table.seen[i] = [math.nan if seen is None else seen for seen in played.seen]
            for seat, row in enumerate(played.predictions):
                for other, arm in enumerate(row):
                    if arm is not None:
                        table.predictions[i, seat, other] = arm
        return table

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Good and bad outcomes of each team action, as the participant saw them; an axis per seat."""
        return self._good.copy(), self._bad.copy()

    def _warm_up(self, partner: Partner) -> None:
        for t in range(1 - self._before, 1):
            played = self._step(t, partner.choose())
            self._warm.append(played)
            partner.observe(played.arms, played.seen[self._seat])

    def _decide(self) -> None:
        """The AIs' moves of the next round, before anybody knows the participant's."""
        seats, agents = range(len(self._arms)), self._agents
        self._pending = {seat: agent.choose() for seat, agent in agents.items()}
        nobody = (None,) * len(self._arms)
        self._foreseen: Predictions = tuple(
            [tuple(map(agents[seat].predictions.get, seats)) if seat in agents else nobody for seat in seats]
        )

    def _step(self, t: int, arm: int) -> Round:
        nth = t + self._before  # a model counts all rounds from 1: sight does not start anew after the warm start
        arms = tuple([self._pending.get(seat, arm) for seat in range(len(self._arms))])
        cell = sum(map(operator.mul, arms, self._strides))
        reward = float(self._luck[(nth - 1) * self._good.size + cell])
        see = self._observation.see
        seen = tuple([see(nth, seat, reward, rng) for seat, rng in enumerate(self._observers)])
        played = Round.seal(t, arms, reward, seen, self._foreseen, self._head, self._version)
        self._head = played.hash
        for seat, agent in self._agents.items():
            agent.observe(arms, seen[seat])
        if t < self._total:
            self._decide()
        return played

    def __repr__(self) -> str:
        return f"<Episode {self.plan.index} ({self.plan.condition}): {self.played} of {self._total} rounds>"


def participant_view(episode: Episode, language: str | None = None) -> dict[str, Any]:
    """What the page may show: good and bad outcomes per configuration, progress, and the latest round.

    It is made of played rounds alone, so it cannot tell the means, the condition, the AI's next move or luck to come.
    """
    plan = episode.plan
    texts = plan.design.texts(language)
    good, bad = episode.counts()

    def labels(arms: Iterable[int]) -> list[str]:
        return [texts[f"task.arms.{seat}.{arm}"] for seat, arm in enumerate(arms)]

    latest = None
    if episode.played:
        last = episode._rounds[-1]
        seen = last.seen[plan.design.participant_seat]
        outcome = None if seen is None else bool(seen)
        latest = {
            "t": last.t,
            "arms": list(last.arms),
            "labels": labels(last.arms),
            "good": outcome,
            "outcome": "" if outcome is None else texts["task.good" if outcome else "task.bad"],
        }
    return {
        "practice": plan.practice,
        "set": plan.set + 1,
        "sets": len(plan.design.conditions),
        "episode": plan.number + 1,
        "episodes": plan.siblings,
        "rounds": plan.rounds,
        "played": episode.played,
        "left": episode.left,
        "finished": episode.finished,
        "counts": [
            {"arms": list(arms), "labels": labels(arms), "good": int(good[arms]), "bad": int(bad[arms])}
            for arms in itertools.product(*map(range, plan.design.arms))
        ],
        "good": int(good.sum()),
        "bad": int(bad.sum()),
        "latest": latest,
    }
