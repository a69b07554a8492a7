"""The game of a partner whose feedback may be late: its state is a function of a log.

A round is opened when its choice is made, and its feedback (the team action and the reward that the partner's seat saw)
may come at any later time, in any order, in one part or two. The agent learns at the *boundary* between two rounds:
all feedback that became complete since the previous boundary, in the order of the rounds. Without any, the agent only
counts the round. With a constant delay this is exactly `Problem.delay`; without delay it is an ordinary game.

The choice of a round is made at the boundary before it, so that feedback that arrives later cannot change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from cobandit.agents.base import Agent
from cobandit.agents.checks import checked_action
from cobandit.base.checks import MOST, real, short_repr, whole
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.engine.partner import Partner

MOST_OPEN = 10_000
"""How many rounds of a game may wait for feedback."""

FORMAT = 1

Kind = Literal["open", "action", "reward", "round"]
"""What a log entry holds: a round was opened by name, its action, its reward, or both."""


class GameConflict(CobanditError):
    """A call does not fit what the game has recorded; ``code`` says how, for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class DefaultReward:
    """The reward of a round whose reward is late: after ``rounds`` further rounds, or ``seconds`` after its action."""

    reward: float | None
    rounds: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.rounds is None) == (self.seconds is None):
            raise InvalidInput("default needs either rounds or seconds, the deadline of a late reward.")
        if self.rounds is not None:
            whole(1, MOST)("default.rounds", self.rounds)
        if self.seconds is not None:
            real(0.001, 10.0**9)("default.seconds", self.seconds)

    def deadline(self, t: int, at: int) -> int:
        """Return the deadline of an action that was reported in round ``t`` at a time: a round, or milliseconds."""
        return t + self.rounds + 1 if self.rounds is not None else at + round(1000 * (self.seconds or 0.0))

    def clock(self, t: int, at: int) -> int:
        """Return what a deadline is compared with: the current round, or the time."""
        return t if self.rounds is not None else at


@dataclass(slots=True)
class OpenRound:
    """A round whose feedback is not complete. ``deadline`` is that of its reward, where the game has a default."""

    arm: int
    predictions: dict[int, int]
    event: str | None = None
    action: tuple[int, ...] | None = None
    reward: float | None = None
    rewarded: bool = False
    deadline: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the log; ``arm`` is the partner's choice in that round and ``at`` the server's time, in ms."""

    round: int
    kind: Kind
    at: int
    arm: int
    action: tuple[int, ...] | None = None
    reward: float | None = None
    event: str | None = None


class PartnerGame:
    """A partner and its open rounds. Every change is an `Entry`; the same entries give the same state."""

    def __init__(self, partner: Partner, default: DefaultReward | None = None) -> None:
        self.partner, self.default = partner, default
        if default is not None:
            partner.checked_seen(default.reward, "default.reward")
        self.entries = 0
        self.at = 0
        self.open: dict[int, OpenRound] = {}
        self._waiting: dict[int, None] = {}  # rounds with an action and no reward, by the time of the action
        self._ready: dict[int, tuple[tuple[int, ...], float | None]] = {}
        self._begin()

    @property
    def round(self) -> int:
        """The newest round, whose choice is made."""
        return self.partner.round

    @property
    def newest(self) -> OpenRound:
        """The newest round."""
        return self.open[self.partner.round]

    def choice(self, t: int) -> OpenRound | None:
        """Return an open round; None: its feedback is complete. A round that is not opened yet is a conflict."""
        if t > self.round:
            raise GameConflict("not-open", f"Round {t} is not open yet: round {self.round} is the newest.")
        return self.open.get(t)

    def named(self, event: str) -> int | None:
        """Return the open round of an event."""
        return next((t for t, opened in self.open.items() if opened.event == event), None)

    # Entries

    def opening(self, event: str, at: int) -> Entry:
        """Return the entry that names the newest round, or opens another one where that has begun already."""
        fresh = self.newest.event is None and self.newest.action is None and not self.newest.rewarded
        if not fresh:
            self._check_advance(None)
        return Entry(self.round if fresh else self.round + 1, "open", max(at, self.at), -1, event=event)

    def feedback(
        self, t: int, action: Sequence[int] | None, rewarded: bool, reward: object, at: int, *, override: bool = False
    ) -> Entry | None:
        """Return the entry for feedback on a round; None: the log has it already, with the same values.

        ``rewarded`` says whether ``reward`` is given, which may be None.
        """
        opened = self.choice(t)
        if opened is None:
            raise GameConflict("complete", f"The feedback on round {t} is complete.")
        moment = max(at, self.at)
        played = None if action is None else checked_action(tuple(action), self.partner.briefing.arms)
        seen = self.partner.checked_seen(reward, "reward") if rewarded else None
        if played is not None and opened.action is not None:
            if played != opened.action:
                raise GameConflict("already-observed", f"Round {t} was reported with another team action before.")
            played = None
        if rewarded and opened.rewarded:
            if seen != opened.reward:
                raise GameConflict("already-observed", f"Round {t} was reported with another reward before.")
            rewarded = False
        if rewarded and self.default and _is_due(opened, self.default.clock(self.round, moment)):
            raise GameConflict("too-late", f"The reward of round {t} came after its deadline; the default counts.")
        if played is None and not rewarded:
            return None
        self._check_own_arm(t, opened, played, override)
        kind: Kind = ("round" if rewarded else "action") if played is not None else "reward"
        if played is not None and t == self.round:
            self._check_advance(kind)
        return Entry(t, kind, moment, opened.arm, played, seen)

    def apply(self, entry: Entry) -> None:
        """Change the state by an entry that this game has made, in this process or in an earlier one."""
        self.entries += 1
        self.at = entry.at
        self._settle(self.round)
        if entry.kind == "open":
            if entry.round > self.round:
                self._end_round()
            self.open[entry.round].event = entry.event
            return
        opened = self.open[entry.round]
        if opened.arm != entry.arm:
            raise GameConflict("damaged", f"The log has arm {entry.arm} in round {entry.round}, not {opened.arm}.")
        if entry.action is not None:
            opened.action = entry.action
        if entry.kind in ("reward", "round"):
            opened.reward, opened.rewarded = entry.reward, True
        self._sort_in(entry.round, opened)
        if entry.action is not None and entry.round == self.round:
            self._end_round()

    def replay(self, entries: Iterable[Entry]) -> Self:
        """Apply the entries of a log."""
        for entry in entries:
            self.apply(entry)
        return self

    def overdue(self, at: int) -> dict[int, float | None]:
        """Return the default rewards of open rounds whose deadline has passed."""
        default = self.default
        if default is None:
            return {}
        now = default.clock(self.round, max(at, self.at))
        return {t: default.reward for t in self._waiting if _is_due(self.open[t], now)}

    # Inside

    def _check_own_arm(self, t: int, opened: OpenRound, played: tuple[int, ...] | None, override: bool) -> None:
        seat = self.partner.seat
        if played is not None and played[seat] != opened.arm and not override:
            raise InvalidInput(
                f"action is {short_repr(list(played))}, with arm {played[seat]} at seat {seat}, but the partner chose "
                f"{opened.arm} in round {t}; if a person decided otherwise, send override: true."
            )

    def _check_advance(self, kind: Kind | None) -> None:
        agent = self.partner.agent
        if agent.needs_each_round and kind != "round" and not (kind == "action" and self.newest.rewarded):
            raise GameConflict(
                "reward-needed",
                f"{agent.title} needs action and reward of each round before the next one; round {self.round} lacks "
                "feedback. Use another agent where rewards are late.",
            )
        if len(self.open) >= MOST_OPEN:
            raise GameConflict("too-many-open", f"{MOST_OPEN:,} rounds wait for feedback; report some of them first.")

    def _settle(self, t: int) -> None:
        """Give overdue rounds the default reward, in round ``t``: deadlines rise in the order of the actions."""
        while self._waiting and self.default is not None:
            oldest = next(iter(self._waiting))
            opened = self.open[oldest]
            if not _is_due(opened, self.default.clock(t, self.at)):
                return
            opened.reward, opened.rewarded = self.default.reward, True
            self._sort_in(oldest, opened)

    def _sort_in(self, t: int, opened: OpenRound) -> None:
        if opened.action is None:
            return
        if opened.rewarded:
            self._ready[t] = opened.action, opened.reward
            self._waiting.pop(t, None)
            if t != self.round:
                del self.open[t]
        else:
            self._waiting[t] = None
            if self.default is not None:
                opened.deadline = self.default.deadline(self.round, self.at)

    def _end_round(self) -> None:
        """Pass all complete feedback to the agent, in the order of the rounds, and make the next choice."""
        ended = self.round
        self._settle(ended + 1)
        self.partner.observe_rounds([self._ready[t] for t in sorted(self._ready)])
        if ended in self._ready:
            del self.open[ended]
        self._ready = {}
        self._begin()

    def _begin(self) -> None:
        arm = self.partner.choose()
        self.open[self.partner.round] = OpenRound(arm, dict(self.partner.predictions))

    # State

    def state(self) -> dict[str, Any]:
        """Return the whole state as plain data for JSON."""
        return {
            "partner_game": FORMAT,
            "partner": self.partner.state(),
            "at": self.at,
            "open": [
                [t, o.arm, sorted(o.predictions.items()), o.event, o.action, o.reward, o.rewarded, o.deadline]
                for t, o in self.open.items()
            ],
            "waiting": list(self._waiting),
            "ready": [[t, *feedback] for t, feedback in self._ready.items()],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], agent: Agent, default: DefaultReward | None = None) -> Self:
        """Restore a game from its `state`, or begin one from the state of a partner (`Partner.state`)."""
        if "partner_game" not in state:
            return cls(Partner.from_state(state, agent), default)
        if state["partner_game"] != FORMAT:
            raise InvalidInput(f"partner_game must be {FORMAT}, got {short_repr(state['partner_game'])}.")
        try:
            game = cls(Partner.from_state(state["partner"], agent), default)
            game._load(state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, CobanditError):
                raise
            raise InvalidInput(f"The state of the game cannot be read ({type(error).__name__}: {error}).") from error
        return game

    def _load(self, state: Mapping[str, Any]) -> None:
        arms, newest = self.partner.briefing.arms, self.open
        self.at = whole(0, 2**53)("at", state["at"])
        self.open = {}
        for t, arm, predictions, event, action, reward, rewarded, deadline in state["open"]:
            number = whole(1, self.round)("open", t)
            if not (event is None or (isinstance(event, str) and len(event) <= 200)) or type(rewarded) is not bool:
                raise InvalidInput(f"The state of the game has an invalid round {number}.")
            self.open[number] = OpenRound(
                whole(0, arms[self.partner.seat] - 1)("arm", arm),
                {whole(0, len(arms))("seat", seat): whole(0, MOST)("arm", foreseen) for seat, foreseen in predictions},
                event,
                None if action is None else checked_action(tuple(action), arms),
                self.partner.checked_seen(reward) if rewarded else None,
                rewarded,
                None if deadline is None else whole(0, 2**53)("deadline", deadline),
            )
        if len(self.open) > MOST_OPEN or self.round not in self.open:
            raise InvalidInput(f"open must hold round {self.round} and at most {MOST_OPEN:,} rounds.")
        if self.open[self.round].arm != newest[self.round].arm:
            raise InvalidInput(f"open has another choice in round {self.round} than the partner.")
        self._waiting = dict.fromkeys(whole(1, self.round)("waiting", t) for t in state["waiting"])
        for t in self._waiting:
            if t not in self.open or self.open[t].action is None or self.open[t].rewarded:
                raise InvalidInput(f"waiting has round {t}, which does not wait for a reward.")
        self._ready = {
            whole(1, self.round)("ready", t): (checked_action(tuple(action), arms), self.partner.checked_seen(reward))
            for t, action, reward in state["ready"]
        }


def _is_due(opened: OpenRound, now: int) -> bool:
    return opened.deadline is not None and not opened.rewarded and now >= opened.deadline
