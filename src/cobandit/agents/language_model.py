"""A language model as a member of a team: asked for every move through a chat-completions endpoint.

Not an algorithm of the paper. How far such models explore depends on the prompt: a summary of the history helps more
than the rounds themselves (arXiv 2403.15371 and 2410.06238).
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import Memory
from cobandit.base.checks import one_of, real, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.records import flag, optional
from cobandit.remote.chat import (
    OWN_ANSWERS,
    ChatAnswer,
    Conversation,
    Limits,
    Style,
    checked_parameters,
    estimated_tokens,
)
from cobandit.remote.prompt import HISTORIES, Cell, PromptView, arm_names, checked_template, messages
from cobandit.remote.replies import ReplyStore
from cobandit.remote.settings import MAX_CALLS, MODEL, ChatEndpoint, max_calls
from cobandit.remote.usage import METER, CallLimit, Usage, token_cost

SEEDS = 2**31
LARGEST_TEXT = 255

logger = logging.getLogger(__name__)


def _model_name(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > LARGEST_TEXT or not value.isprintable() or not value.strip():
        raise InvalidInput(f"{name} must be the name of a model, got {short_repr(value)}.")
    return value.strip()


def _fallback_name(name: str, value: object) -> str:
    """Check the name of an agent that can play any round of any seat."""
    from cobandit.agents.lookup import agent_class

    kind = agent_class(value)  # type: ignore[arg-type]
    if not issubclass(kind, Agent) or kind.oracle or kind.protocol != "" or issubclass(kind, LanguageModelAgent):
        raise InvalidInput(
            f"{name} must be an agent for one seat that needs no protocol, no true means and no language model, "
            f"got {short_repr(value)}."
        )
    return str(value)


@dataclass
class LanguageModelAgent(Agent):
    """A language model behind a chat-completions endpoint, whose prompt contains only what its seat may know.

    The endpoint comes from the environment: ``COBANDIT_LLM_URL``, ``COBANDIT_LLM_KEY``, ``COBANDIT_LLM_MODEL``. With
    ``COBANDIT_LLM_URL=demo`` a built-in stand-in answers, without network or key.

    Where no move arrives (time-out, refusal, rate limit, malformed answer, dead endpoint), the ``fallback`` agent
    plays the round; this is counted and logged. Replies are stored by the digest of their request, so that the same
    run plays again without a call. ``COBANDIT_LLM_MAX_CALLS`` limits the calls.
    """

    name: ClassVar[str] = "language-model"
    label: ClassVar[str] = "Language Model"
    paper: ClassVar[str] = "beyond the paper: see arXiv 2403.15371 and 2410.06238"
    waits: ClassVar[bool] = True
    recomputable: ClassVar[bool] = False

    model: str | None = option(None, "model at the endpoint; none: COBANDIT_LLM_MODEL", optional(_model_name))
    history: str = option("summary", "form of the past in the prompt: " + ", ".join(HISTORIES), one_of(HISTORIES))
    memory: int = option(50, "latest rounds that history 'rounds' shows", whole(1, 1_000))
    template: str | None = option(None, "rules in the prompt; none: the built-in ones", optional(checked_template))
    reasoning: bool = option(False, "whether it writes its reasoning before the move", flag)
    temperature: float = option(0.0, "sampling temperature; 0: the likeliest answer", real(0.0, 2.0))
    parameters: str | None = option(None, "further parameters of requests, as JSON", optional(checked_parameters))
    timeout: float = option(30.0, "seconds to wait for a reply", real(0.0, 600.0, above=True))
    retries: int = option(2, "further attempts after a failed one", whole(0, 10))
    fallback: str = option("partner-aware-ucb", "agent that plays where no move arrives", _fallback_name)

    def __post_init__(self) -> None:
        if self.model is None:
            self.model = os.environ.get(MODEL, "").strip() or None  # so that results say which model played
        super().__post_init__()

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Forget all rounds; refuse to play without an endpoint."""
        from cobandit.agents.lookup import make_agent

        super().reset(briefing, rng)
        ChatEndpoint.from_environment(self.model or "")
        self._names = arm_names(briefing.arms)
        self._played = np.zeros(briefing.arms, dtype=np.int64)
        self._memory = Memory(briefing.arms)
        self._past: deque[tuple[int, TeamAction, float | None]] = deque(maxlen=self.memory)
        self._told = 0
        self._by_fallback = 0
        fallback = make_agent(self.fallback)
        assert isinstance(fallback, Agent)
        fallback.reset(briefing, rng)
        self._fallback = fallback

    @property
    def fallback_moves(self) -> int:
        """Moves of this run that the fallback played."""
        return getattr(self, "_by_fallback", 0)

    def choose(self) -> int:
        """Return the arm that the model names, else that of the fallback.

        The fallback chooses in every round, so that it can step in at any time and draws the same numbers in any case.
        """
        instead = self._fallback.choose()
        seed = int(self.rng.random() * SEEDS) if self.temperature else None
        answer = self._answer(seed)
        METER.count_move(answer.reason, replayed=answer.replayed)
        if answer.arm is not None:
            return answer.arm
        self._by_fallback += 1
        logger.info("Round %d: %s plays instead of the language model (%s).", self.round, self.fallback, answer.reason)
        about = {"digest": answer.digest, "model": answer.model, "round": self.round}
        ReplyStore().log({**about, "fallback": self.fallback, "why": answer.reason})
        return instead

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round, for the prompts of later ones."""
        self._told += 1
        self._played[team_action] += 1
        self._memory.record(team_action, reward)
        if self.history == "rounds":
            self._past.append((self._told, team_action, reward))
        self._fallback.observe(team_action, reward)

    def view(self) -> PromptView:
        """Return the content of the prompt of this round."""
        counts, sums, briefing = self._memory.counts, self._memory.sums, self.briefing
        played = [tuple(int(arm) for arm in place) for place in np.argwhere(self._played)]
        cells = tuple(Cell(place, int(self._played[place]), int(counts[place]), float(sums[place])) for place in played)
        about = (briefing.agent, self._names, briefing.horizon, self.round, briefing.binary, briefing.observation)
        return PromptView(*about, cells, tuple(self._past))

    def prompt(self) -> list[dict[str, str]]:
        """Return the chat messages of this round: the rules, and the state of the game with the question."""
        style = self.style
        return messages(self.view(), history=style.history, template=style.template, reasoning=style.reasoning)

    @property
    def style(self) -> Style:
        """How the model is asked."""
        return Style(self.history, self.template or "", self.reasoning, self.temperature, self.parameters or "")

    def _answer(self, seed: int | None) -> ChatAnswer:
        """Return the stored reply to this round's request, else ask the endpoint and store its reply."""
        endpoint = ChatEndpoint.from_environment(self.model or "")
        asked = Conversation(
            endpoint,
            self.view(),
            self.style,
            limits=Limits(self.timeout, self.retries),
            seed=seed,
            before_call=METER.count_call if not endpoint.is_demo else lambda: None,
        )
        if endpoint.is_demo:
            return asked.ask()
        store = ReplyStore()
        stored = store.load(asked.digest)
        if stored is not None:
            return ChatAnswer.from_dict(asked.digest, stored)
        answer = asked.ask()
        METER.count_tokens(answer.input_tokens, answer.output_tokens)
        for attempt in answer.attempts:
            tokens = {"input_tokens": attempt.input_tokens, "output_tokens": attempt.output_tokens}
            about = {"model": answer.model, "kind": attempt.kind, "milliseconds": attempt.milliseconds}
            store.log({"digest": answer.digest, **about, **tokens})
        if answer.attempts and answer.attempts[-1].kind in OWN_ANSWERS:
            store.save(answer.digest, answer.to_dict())
        return answer

    @contextmanager
    def running(self, arms: tuple[int, ...], rounds: int, seats: int) -> Iterator[None]:
        """Refuse runs that may need too many calls, before the first one; afterwards say what they cost."""
        self.before_runs(arms, rounds, seats)
        before = METER.usage()
        yield
        if not ChatEndpoint.from_environment(self.model or "").is_demo:
            self._report(METER.usage().since(before))

    def before_runs(self, arms: tuple[int, ...], rounds: int, seats: int, *, processes: bool = False) -> None:
        """Say how many calls runs may need, and refuse too many.

        A user who sets a limit may have stored replies, so in one process the limit holds at every call instead.
        """
        endpoint = ChatEndpoint.from_environment(self.model or "")
        if endpoint.is_demo:
            return
        calls, most = rounds * seats, max_calls()
        needs = f"up to {calls:,} calls of {endpoint.model} at {endpoint.host}{self._estimate(arms, calls)}"
        if calls > most and (processes or MAX_CALLS not in os.environ):
            raise CallLimit(
                f"{seats} x {rounds:,} rounds need {needs}, more than {most:,}. Set {MAX_CALLS} to the most calls that "
                "you want to pay for, or ask for fewer runs or rounds; replies that are stored already cost nothing."
            )
        logger.warning("Language model: %s.", needs)

    def _estimate(self, arms: tuple[int, ...], calls: int) -> str:
        """Return about what calls cost, from the prompt of a round in which everything was played."""
        every = [tuple(int(arm) for arm in place) for place in np.ndindex(*arms)]
        cells = tuple(Cell(place, 9, 9, 4.5) for place in every)
        past = tuple((t, every[t % len(every)], 1.0) for t in range(self.memory))
        view = PromptView(0, arm_names(arms), 1_000, 500, True, "missed", cells, past)
        said = messages(view, history=self.history, template=self.template or "", reasoning=self.reasoning)
        tokens, answer = estimated_tokens(said), 200 if self.reasoning else 10
        cost = token_cost(calls * tokens, calls * answer)
        price = "" if cost is None else f", about {cost:,.2f} at the given prices"
        return f" (up to some {calls * tokens:,} input tokens{price})"

    def _report(self, used: Usage) -> None:
        logger.warning("Language model: %s.", used)
        missing = used.fallbacks.total()
        if missing:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in used.fallbacks.most_common())
            logger.warning(
                "%s of %s moves were played by %s, not by the language model (%s).",
                f"{missing:,}", f"{used.moves:,}", self.fallback, reasons,
            )  # fmt: skip
