"""One episode of a study: an append-only list of rounds, played by a person and the library's own agent.

The AI's move of a round is decided as soon as the round before is over, so it cannot depend on what the participant
then picks. Everything else is in the plan, so the log of the participant's arms is enough to bring an episode back to
any point. Each round carries the SHA-256 of its contents and of the round before; the first hangs on the plan.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cobandit.base.checks import MOST, Check, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.records import fingerprint, optional
from cobandit.engine.partner import Partner
from cobandit.engine.trajectory import Trajectory
from cobandit.studies.plan import AI, PARTICIPANT, EpisodePlan


class OutOfOrder(InvalidInput):
    """A move for a round that is not the next one."""


class AlreadyPlayed(InvalidInput):
    """Another arm for a round that has been played."""


class EpisodeOver(InvalidInput):
    """A move for a round that the episode does not have."""


class BrokenLog(InvalidInput):
    """Stored rounds that this episode cannot have had."""


@dataclass(frozen=True)
class Round:
    """One round as it is stored; the names are the columns of a simulated trajectory.

    ``t`` counts from 1 (the warm start ends with round 0), arms are as labelled in the episode, ``reward`` is r*,
    ``seen_1`` what the AI saw of it (None: it knows it saw nothing) and ``predicted_1_0`` the participant's arm that
    the AI foresaw.
    """

    t: int
    arm_0: int
    arm_1: int
    reward: float
    seen_0: float | None
    seen_1: float | None
    predicted_1_0: int | None
    previous: str
    hash: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The round as plain data."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Round:
        """From plain data, as `to_dict` gives it or a database keeps it."""
        known = [spec.name for spec in fields(cls)]
        for key in data:
            if key not in known:
                raise UnknownName("column of a round called", key, known)
        for key in known:
            if key not in data:
                raise InvalidInput(f"The round has no {key}; it is needed.")
        numbers = {key: _NUMBERS[key](key, data[key]) for key in known[:-2]}
        return cls(**numbers, previous=str(data["previous"]), hash=str(data["hash"]))

    @property
    def own_hash(self) -> str:
        """The hash that the contents and the round before ask for."""
        contents = self.to_dict()
        del contents["hash"]
        return fingerprint(contents)

    @property
    def sealed(self) -> Round:
        """The same round with its hash."""
        return Round(**(vars(self) | {"hash": self.own_hash}))


_integer, _finite = whole(-MOST, MOST), real(-math.inf)
_NUMBERS: dict[str, Check] = {
    "t": _integer,
    "arm_0": _integer,
    "arm_1": _integer,
    "reward": _finite,
    "seen_0": optional(_finite),
    "seen_1": optional(_finite),
    "predicted_1_0": optional(_integer),
}


class Episode:
    """An episode under way. It grows by `play` alone."""

    def __init__(self, plan: EpisodePlan) -> None:
        """Opened, with the warm start played."""
        self.plan = plan
        self._rounds: list[Round] = []
        self._warm: list[Round] = []
        self._arms = plan.design.arms
        self._total, self._before = plan.rounds, plan.warm_rounds
        self._observation = plan.design.problem.observation
        self._luck = plan.luck().tobytes()  # a byte a cell: a server keeps many episodes, and lists would burden it
        self._observers = plan.observers()
        self._head = plan.start
        self._good = np.zeros(self._arms, dtype=np.int64)
        self._bad = np.zeros(self._arms, dtype=np.int64)
        self._ai = Partner.around(plan.ready_ai())
        self._decide()
        warm_partner = plan.ready_warm_partner()
        if warm_partner is not None:
            self._warm_up(Partner.around(warm_partner))

    @classmethod
    def open(cls, plan: EpisodePlan) -> Episode:
        """A new episode, its warm start played."""
        return cls(plan)

    @classmethod
    def rebuild(cls, plan: EpisodePlan, rounds: Iterable[Round]) -> Episode:
        """The episode as it was after these rounds: the AI will go on as if nothing had happened.

        Every round is played again from the participant's arm; one that comes out otherwise than stored is refused.
        """
        episode = cls(plan)
        for stored in rounds:
            expected = len(episode._rounds) + 1
            if stored.t != expected:
                raise BrokenLog(f"The log of episode {plan.index} has round {stored.t} where round {expected} belongs.")
            made = episode.play(stored.t, stored.arm_0)
            if made != stored:
                name = next(s.name for s in fields(Round) if getattr(made, s.name) != getattr(stored, s.name))
                raise BrokenLog(
                    f"Round {stored.t} of episode {plan.index} is stored "
                    f"with {name} = {short_repr(getattr(stored, name))}; "
                    f"played again it has {short_repr(getattr(made, name))}. Verify the study to see every difference."
                )
        return episode

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds played so far, the warm start left out."""
        return tuple(self._rounds)

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
    def head(self) -> str:
        """The hash of the latest round: it vouches for all of them."""
        return self._head

    def play(self, t: int, arm: int) -> Round:
        """Play round ``t`` with the participant's ``arm``; the same move again gives the same round again."""
        arm = whole(0, self._arms[PARTICIPANT] - 1)("arm", arm)
        t = whole(1)("t", t)
        if t <= len(self._rounds):
            stored = self._rounds[t - 1]
            if stored.arm_0 != arm:
                raise AlreadyPlayed(f"Round {t} was played with arm {stored.arm_0}; arm {arm} comes too late.")
            return stored
        if t > self._total:
            raise EpisodeOver(f"There is no round {t}: the episode has {self._total} rounds.")
        if t != len(self._rounds) + 1:
            raise OutOfOrder(f"Round {t} cannot be played yet: round {len(self._rounds) + 1} comes next.")
        made = self._step(t, arm)
        self._rounds.append(made)
        if made.seen_0 is not None:
            (self._good if made.seen_0 else self._bad)[made.arm_0, made.arm_1] += 1
        return made

    def trajectory(self, run: int = 0) -> Trajectory:
        """The rounds so far, as a simulation would have kept them."""
        kept = Trajectory.empty(run, self.plan.means, self.plan.design.problem.known_ranks(), len(self._rounds))
        for i, r in enumerate(self._rounds):
            kept.actions[i] = r.arm_0, r.arm_1
            kept.rewards[i] = r.reward
            kept.seen[i] = [math.nan if seen is None else seen for seen in (r.seen_0, r.seen_1)]
            if r.predicted_1_0 is not None:
                kept.predictions[i, AI, PARTICIPANT] = r.predicted_1_0
        return kept

    def counts(self) -> tuple[list[list[int]], list[list[int]]]:
        """Good and bad outcomes of each team action, as the participant saw them."""
        return self._good.tolist(), self._bad.tolist()

    def _warm_up(self, partner: Partner) -> None:
        for t in range(1 - self._before, 1):
            made = self._step(t, partner.choose())
            self._warm.append(made)
            partner.observe((made.arm_0, made.arm_1), made.seen_0)

    def _decide(self) -> None:
        """The AI's move of the next round, before anybody knows the participant's."""
        self._pending = self._ai.choose(), self._ai.predictions.get(PARTICIPANT)

    def _step(self, t: int, arm: int) -> Round:
        partner_arm, predicted = self._pending
        own, others = self._arms
        reward = float(self._luck[((t - 1 + self._before) * own + arm) * others + partner_arm])
        nth = t + self._before  # a model counts all rounds from 1: sight does not start anew after the warm start
        seen = [self._observation.see(nth, place, reward, rng) for place, rng in enumerate(self._observers)]
        made = Round(t, arm, partner_arm, reward, seen[PARTICIPANT], seen[AI], predicted, self._head).sealed
        self._head = made.hash
        self._ai.observe((arm, partner_arm), seen[AI])
        if t < self._total:
            self._decide()
        return made

    def __repr__(self) -> str:
        return f"<Episode {self.plan.index} ({self.plan.condition}): {self.played} of {self._total} rounds>"


def participant_view(episode: Episode, language: str | None = None) -> dict[str, Any]:
    """What the page may show: good and bad outcomes per configuration, progress, and the latest round.

    It is made of played rounds alone, so it cannot tell the means, the condition, the AI's next move or luck to come.
    """
    plan = episode.plan
    texts = plan.design.texts(language)
    good, bad = episode.counts()

    def labels(first: int, second: int) -> list[str]:
        return [texts[f"task.arms.0.{first}"], texts[f"task.arms.1.{second}"]]

    latest = None
    if episode.played:
        last = episode._rounds[-1]
        outcome = None if last.seen_0 is None else bool(last.seen_0)
        latest = {
            "t": last.t,
            "arms": [last.arm_0, last.arm_1],
            "labels": labels(last.arm_0, last.arm_1),
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
            {"arms": [i, j], "labels": labels(i, j), "good": good[i][j], "bad": bad[i][j]}
            for i in range(plan.design.arms[0])
            for j in range(plan.design.arms[1])
        ],
        "good": sum(map(sum, good)),
        "bad": sum(map(sum, bad)),
        "latest": latest,
    }
