"""One episode of a study: an append-only list of rounds, played by people, services and the library's own agents.

The AIs' moves of a round are decided as soon as the round before is over, so they cannot depend on what people then
pick. Everything else is in the plan, so the log of the recorded seats' arms is enough to bring an episode back to any
point; the moves of an agent that took over a seat are computed again, too. Each round carries the SHA-256 of its
contents and of the previous round; the first round is chained to the plan's fingerprint.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.engine.partner import Partner
from cobandit.engine.trajectory import Trajectory
from cobandit.studies.lines import Burger
from cobandit.studies.plan import EpisodePlan
from cobandit.studies.rounds import BY, By, Choice, Evidence, Predictions, Round, Seen, chain_version


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

    def __init__(self, plan: EpisodePlan, version: int | None = None) -> None:
        """Opened, with the warm start played; ``version`` is that of its hashes, by default the plan's."""
        self.plan = plan
        self._version = version = plan.version if version is None else version
        self._seat = plan.own_seat
        self._free = plan.free_seats
        self._shadows: dict[int, Partner] = {}
        self._rounds: list[Round] = []
        self._warm: list[Round] = []
        self._arms = plan.design.arms
        self._total, self._before = plan.rounds, plan.warm_rounds
        self._observation = plan.design.problem_of(plan.condition).observation
        # A byte a cell, or 8 for scores: a server keeps many episodes, and lists would burden it.
        luck = plan.luck()
        self._luck = luck.tobytes() if luck.dtype == np.int8 else memoryview(luck.tobytes()).cast("d")
        self._observers = plan.observers()
        self._head = plan.start(version)
        self._layers, self._plate = plan.layers, tuple[int, ...]()
        self._delay, self._known = plan.delay, 0
        self._waiting: deque[tuple[tuple[int, ...], Seen]] = deque()
        axes = self._arms * self._layers
        self._strides = tuple(math.prod(axes[i + 1 :]) for i in range(len(axes)))
        self._cells = math.prod(axes)
        people = [seat for seat, player in enumerate(plan.players) if player == "participant"]
        # Outcomes as each person saw them: bad ones, then good ones, by team action (of all layers).
        self._outcomes = {seat: np.zeros((2, *axes), dtype=np.int64) for seat in people}
        self._graded = plan.design.rewards.graded
        self._scores = {seat: np.zeros(self._arms) for seat in people} if self._graded else {}
        self._agents = {seat: Partner.around(agent) for seat, agent in plan.ready_agents().items()}
        self._decide()
        warm_partner = plan.ready_warm_partner()
        if warm_partner is not None:
            self._warm_up(Partner.around(warm_partner))

    @classmethod
    def open(cls, plan: EpisodePlan, version: int | None = None) -> Episode:
        """Return a new episode, after its warm start."""
        return cls(plan, version)

    @classmethod
    def rebuild(cls, plan: EpisodePlan, rounds: Iterable[Round], head: str | None = None) -> Episode:
        """Return the episode in its state after these rounds: the AIs continue exactly as they would have.

        ``head`` is the latest hash, stored separately; it gives the hash version where there is no round yet.
        """
        log = list(rounds)
        episode = cls(plan, chain_version(log, head, plan.version))
        episode.replay(log)
        return episode

    def replay(self, rounds: Iterable[Round]) -> None:
        """Replay stored rounds from the recorded arms; raise if a replayed round differs from the stored one."""
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
            replayed = self.replay_round(stored)
            if replayed != stored:
                old, new = stored.columns(), replayed.columns()
                name = next(key for key in new if old.get(key) != new[key])
                raise BrokenLog(
                    f"Round {stored.t} of episode {plan.index} is stored with {name} = {short_repr(old.get(name))}; "
                    f"played again it has {short_repr(new[name])}. Verify the study to see every difference."
                )

    def replay_round(self, stored: Round) -> Round:
        """Play the next round with the recorded moves of a stored one; moves by takeover are computed again."""
        if len(self._free) == 1:
            return self.play(stored.t, stored.arms[self._free[0]])
        if len(stored.by) != len(self._arms) or len(stored.evidence) != len(self._arms):
            raise BrokenLog(f"Round {stored.t} of episode {self.plan.index} does not say who made each move.")
        moves = {}
        for seat in self._free:
            by = stored.by[seat]
            arm = self.takeover(seat) if by == "takeover" else stored.arms[seat]
            moves[seat] = Choice(arm, by, stored.evidence[seat])
        return self.play(stored.t, moves)

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
        """The hash of the latest round. It covers all rounds, as each hash includes the one before."""
        return self._head

    def play(self, t: int, moves: int | Mapping[int, Choice]) -> Round:
        """Play round ``t`` with the moves of all recorded seats; the same moves again give the same round again.

        ``moves`` is a choice by seat, or the arm itself where the participant's seat is the only one recorded.
        """
        if len(self._free) > 1:
            return self._play_together(t, moves)
        arm = moves if isinstance(moves, int) else self._only_arm(moves)
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
        self._check_next(t)
        return self._append(self._step(t, self._with_agents({self._seat: arm})))

    def _only_arm(self, moves: Mapping[int, Choice]) -> int:
        if not isinstance(moves, Mapping) or set(moves) != {self._seat} or moves[self._seat].by != "person":
            raise InvalidInput(
                f"moves must be an arm, or the choice of a person in seat {self._seat}, got {short_repr(moves)}."
            )
        return moves[self._seat].arm

    def _play_together(self, t: int, moves: object) -> Round:
        number = t if type(t) is int and t >= 1 else int(whole(1)("t", t))
        if not isinstance(moves, Mapping) or set(moves) != set(self._free):
            raise InvalidInput(
                f"moves must be a choice for each of the recorded seats {self._free}, got {short_repr(moves)}."
            )
        arms = {}
        for seat, choice in moves.items():
            arm = choice.arm
            if type(arm) is not int or not 0 <= arm < self._arms[seat]:  # making a check for each round costs more
                arm = whole(0, self._arms[seat] - 1)(f"The arm of seat {seat}", arm)
            arms[seat] = arm
            if choice.by not in BY[:3]:
                raise InvalidInput(f"by of seat {seat} must be one of {', '.join(BY[:3])}, got {choice.by!r}.")
        seats = range(len(self._arms))
        by: By = tuple([moves[seat].by if seat in moves else "agent" for seat in seats])
        evidence: Evidence = tuple([moves[seat].evidence if seat in moves else None for seat in seats])
        if number <= len(self._rounds):
            stored = self._rounds[number - 1]
            if (stored.by, stored.evidence) != (by, evidence) or any(stored.arms[i] != arm for i, arm in arms.items()):
                raise AlreadyPlayed(f"Round {number} was played with other moves; these come too late.")
            return stored
        self._check_next(number)
        for seat, choice in moves.items():
            if choice.by == "takeover" and choice.arm != self.takeover(seat):
                raise InvalidInput(
                    f"The takeover of seat {seat} plays arm {self.takeover(seat)} in round {number}, got {choice.arm}."
                )
        return self._append(self._step(number, self._with_agents(arms), (by, evidence)))

    def takeover(self, seat: int) -> int:
        """Return the arm that the takeover agent of a recorded seat plays in the next round.

        The agent has seen what the seat saw, and has chosen in every round from the first, so its moves are the same
        whenever it takes over.
        """
        if seat not in self._free:
            raise InvalidInput(f"seat must be one of the recorded seats {self._free}, got {short_repr(seat)}.")
        if self.finished:
            raise EpisodeOver(f"There is no round {self._total + 1}: the episode has {self._total} rounds.")
        if seat not in self._shadows:
            shadow = Partner.around(self.plan.ready_takeover(seat))
            for played in self._rounds:
                shadow.observe(played.arms, played.seen[seat], override=True)
            self._shadows[seat] = shadow
        return self._shadows[seat].choose()

    def _check_next(self, t: int) -> None:
        if t > self._total:
            raise EpisodeOver(f"There is no round {t}: the episode has {self._total} rounds.")
        if t != len(self._rounds) + 1:
            raise OutOfOrder(f"Round {t} cannot be played yet: round {len(self._rounds) + 1} comes next.")

    def _append(self, played: Round) -> Round:
        self._rounds.append(played)
        if not self._delay:  # the usual case, once for every move
            self._count(played)
            self._known = played.t
        for known in self.known_after(played.t) if self._delay else ():
            self._count(known)
            self._known = known.t
        return played

    def known_after(self, t: int) -> tuple[Round, ...]:
        """Return the rounds whose choices and outcomes the members learn after round ``t``.

        This is the round itself, or an earlier one where feedback is delayed; with the last round all others follow.
        """
        if not self._delay:
            return (self._rounds[t - 1],)
        return tuple(self._rounds[max(0, t - self._delay - 1) : t if t == self._total else max(0, t - self._delay)])

    def _count(self, played: Round) -> None:
        """Add a round to the outcomes that people have seen."""
        if played.t % self._layers:
            return  # nothing is served yet
        stack = played.arms if self._layers == 1 else tuple(itertools.chain(*self.latest_burger))
        for seat, outcomes in self._outcomes.items():
            outcome = played.seen[seat]
            if outcome is not None:
                outcomes[(1 if self._graded else int(bool(outcome)), *stack)] += 1
                if self._graded:
                    self._scores[seat][played.arms] += outcome

    @property
    def latest_burger(self) -> Burger:
        """The layers, from below, that the latest round belongs to; without layers, the arms of the round."""
        count = len(self._rounds)
        first = count - 1 - (count - 1) % self._layers if count else 0
        return tuple([played.arms for played in self._rounds[first:]])

    @property
    def plate(self) -> Burger:
        """What lies on the plate before the next round: the state of a task with layers."""
        return () if len(self._rounds) % self._layers == 0 else self.latest_burger

    def trajectory(self, run: int = 0) -> Trajectory:
        """Return the rounds so far, as the trajectory that a simulation returns."""
        plan, drifts = self.plan, self.plan.means_rule.drifts
        changing = drifts or self._layers > 1
        table = Trajectory.empty(run, plan.means, plan.ranks, len(self._rounds), changing=changing)
        for i, played in enumerate(self._rounds):
            table.actions[i] = played.arms
            table.rewards[i] = played.reward
            table.seen[i] = [math.nan if seen is None else seen for seen in played.seen]
            for seat, row in enumerate(played.predictions):
                for other, arm in enumerate(row):
                    if arm is not None:
                        table.predictions[i, seat, other] = arm
        if table.round_regret is not None:
            table.round_regret[:] = plan.round_regret(table.actions)
        return table

    def counts(self, seat: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Good and bad outcomes of each team action, as the participant saw them; an axis per seat (and layer).

        ``seat`` tells several people apart.
        """
        bad, good = self._outcomes[self._seat if seat is None else seat]
        return good.copy(), bad.copy()

    def scores(self, seat: int | None = None) -> NDArray[np.float64]:
        """Return the sum of the scores of each team action as the participant saw them; 0 without scores."""
        return self._scores.get(self._seat if seat is None else seat, np.zeros(self._arms)).copy()

    def _warm_up(self, partner: Partner) -> None:
        for t in range(1 - self._before, 1):
            played = self._step(t, self._with_agents({self._seat: partner.choose()}))
            self._warm.append(played)
            if not self._delay:
                partner.observe(played.arms, played.seen[self._seat])
            elif len(self._warm) > self._delay:
                known = self._warm[-1 - self._delay]
                partner.observe(known.arms, known.seen[self._seat], override=True)
            else:
                partner.pass_round()

    def _decide(self) -> None:
        """Decide the AIs' moves of the next round, before the participant's move is known."""
        seats, agents = range(len(self._arms)), self._agents
        self._pending = {seat: agent.choose() for seat, agent in agents.items()}
        nobody = (None,) * len(self._arms)
        self._foreseen: Predictions = tuple(
            [tuple(map(agents[seat].predictions.get, seats)) if seat in agents else nobody for seat in seats]
        )

    def _with_agents(self, arms: Mapping[int, int]) -> tuple[int, ...]:
        """Return the arms of all seats, given those of the recorded seats."""
        return tuple([arms[seat] if seat in arms else self._pending[seat] for seat in range(len(self._arms))])

    def _step(self, t: int, arms: tuple[int, ...], recorded: tuple[By, Evidence] = ((), ())) -> Round:
        nth = t + self._before  # models count all rounds from 1, so observation does not restart after the warm start
        if self._layers == 1:
            cell = sum(map(operator.mul, arms, self._strides))
            reward = float(self._luck[(nth - 1) * self._cells + cell])
        else:
            reward = self._layer_reward(nth, arms)
        see = self._observation.see
        seen = tuple([see(nth, seat, reward, rng) for seat, rng in enumerate(self._observers)])
        played = Round.seal(t, arms, reward, seen, self._foreseen, self._head, self._version, recorded)
        self._head = played.hash
        if self._delay:
            self._tell_late(arms, seen)
        else:
            for seat, agent in self._agents.items():
                agent.observe(arms, seen[seat])
        for seat, shadow in self._shadows.items():
            shadow.observe(arms, seen[seat], override=True)
        if t < self._total:
            self._decide()
        return played

    def _tell_late(self, arms: tuple[int, ...], seen: Seen) -> None:
        """Tell the AIs of the round before as many rounds as feedback is delayed, if there was one."""
        self._waiting.append((arms, seen))
        if len(self._waiting) <= self._delay:
            for agent in self._agents.values():
                agent.pass_round()
            return
        arms, seen = self._waiting.popleft()
        for seat, agent in self._agents.items():
            agent.observe(arms, seen[seat], override=True)

    def _layer_reward(self, nth: int, arms: tuple[int, ...]) -> float:
        """Put a layer on the plate; return the reward of the burger if it is finished, else 0."""
        self._plate += arms
        if nth % self._layers:
            return 0.0
        cell, self._plate = sum(map(operator.mul, self._plate, self._strides)), ()
        return float(self._luck[(nth // self._layers - 1) * self._cells + cell])

    def __repr__(self) -> str:
        return f"<Episode {self.plan.index} ({self.plan.condition}): {self.played} of {self._total} rounds>"


def participant_view(episode: Episode, language: str | None = None, seat: int | None = None) -> dict[str, Any]:
    """Return what the page may show: good and bad outcomes per configuration, progress, and the latest round.

    Where rewards are scores, ``good`` counts those that were seen, and ``score`` is their sum.

    ``seat`` selects the member of a team: each is shown what their own seat saw. The view contains only rounds that
    were played, and are known where feedback is delayed, so it cannot reveal the means, the condition, the AI's next
    move or future outcomes.
    """
    plan = episode.plan
    texts = plan.design.texts(language)
    own = plan.own_seat if seat is None else seat
    good, bad = episode.counts(own)
    graded, scores = plan.design.rewards.graded, episode.scores(own)

    def labels(arms: Iterable[int | None], layer: int = 0) -> list[str]:
        group = f"layers.{layer - 1}" if layer else "arms"
        return [texts[f"task.{group}.{seat}.{arm}"] for seat, arm in enumerate(arms) if arm is not None]

    def place(arms: Iterable[int | None]) -> tuple[int | slice, ...]:
        return (*here, *(slice(None) if arm is None else arm for arm in arms))

    plate = episode.plate
    here = tuple(arm for arms in plate for arm in arms)
    latest = None
    if episode._known:
        last = episode._rounds[episode._known - 1]
        seen = None if last.t % plan.layers else last.seen[own]
        outcome = None if seen is None or graded else bool(seen)
        latest = {
            "t": last.t,
            "arms": plan.known_arms(last.arms, own),
            "labels": labels(plan.known_arms(last.arms, own), (last.t - 1) % plan.layers),
            "good": outcome,
            "outcome": "" if outcome is None else texts["task.good" if outcome else "task.bad"],
        }
        latest |= {"score": seen} if graded else {}
    each = [(None,) if plan.hides_choices and i != own else range(n) for i, n in enumerate(plan.design.arms)]
    combinations = list(itertools.product(*each))
    view: JsonObject = {
        "practice": plan.practice,
        "set": plan.set + 1,
        "sets": plan.design.sets,
        "episode": plan.number + 1,
        "episodes": plan.siblings,
        "rounds": plan.rounds,
        "played": episode.played,
        "left": episode.left,
        "finished": episode.finished,
        "counts": [
            {"arms": list(arms), "labels": labels(arms, len(plate))}
            | {"good": int(good[place(arms)].sum()), "bad": int(bad[place(arms)].sum())}
            for arms in combinations
        ],
        "good": int(good.sum()),
        "bad": int(bad.sum()),
        "latest": latest,
    }
    if plan.hides_choices:
        view["hidden"] = True
    if plan.delay:
        view["delay"] = plan.delay
    if plan.layers > 1:
        view["plate"] = [list(arms) for arms in episode.latest_burger]
        view["burgers"] = [
            {"arms": [int(arm) for arm in stack], "good": int(good[stack]), "bad": int(bad[stack])}
            for stack in np.ndindex(good.shape)
        ]
    if graded:
        view["score"] = float(scores.sum())
        for cell in view["counts"]:
            cell["score"] = float(scores[place(cell["arms"])].sum())
    return view
