"""What language models cost: calls, tokens and moves of fallbacks in this process, and the most calls allowed."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field

from cobandit.base.errors import CobanditError
from cobandit.remote.settings import MAX_CALLS, max_calls, prices


class CallLimit(CobanditError):
    """The limit of calls to a language model was reached. A repeated run continues from the stored replies."""


@dataclass
class Usage:
    """Counts since the process started, or between two moments."""

    calls: int = 0
    replayed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    moves: int = 0
    fallbacks: Counter[str] = field(default_factory=Counter)

    def since(self, before: Usage) -> Usage:
        """Return what was counted after another moment."""
        return Usage(
            self.calls - before.calls,
            self.replayed - before.replayed,
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            self.moves - before.moves,
            self.fallbacks - before.fallbacks,
        )

    @property
    def cost(self) -> float | None:
        """The price of the tokens, where COBANDIT_LLM_PRICES gives prices."""
        return token_cost(self.input_tokens, self.output_tokens)

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", about {self.cost:,.4f} at the given prices"
        tokens = f"{self.input_tokens:,} input and {self.output_tokens:,} output tokens{cost}"
        return f"{self.calls:,} calls, {self.replayed:,} stored replies, {tokens}"


def token_cost(input_tokens: int, output_tokens: int) -> float | None:
    """Return the price of some tokens, or None where no prices are given."""
    each = prices()
    return None if each is None else input_tokens * each[0] + output_tokens * each[1]


class Meter:
    """Counts calls from all threads of the process and refuses those beyond a limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()

    def usage(self) -> Usage:
        """Return a copy of the counts."""
        with self._lock:
            return Usage(**{**vars(self._usage), "fallbacks": Counter(self._usage.fallbacks)})

    def count_call(self, most: int | None = None) -> None:
        """Count a call that is about to be made; one beyond ``most`` raises `CallLimit`."""
        limit = max_calls() if most is None else most
        with self._lock:
            if self._usage.calls >= limit:
                raise CallLimit(
                    f"The language model was called {self._usage.calls:,} times in this process, the most that "
                    f"{MAX_CALLS} allows. Its replies are stored: raise {MAX_CALLS} and run the command again to "
                    "continue."
                )
            self._usage.calls += 1

    def count_tokens(self, input_tokens: int, output_tokens: int) -> None:
        """Count the tokens of a reply."""
        with self._lock:
            self._usage.input_tokens += input_tokens
            self._usage.output_tokens += output_tokens

    def count_move(self, reason: str = "", *, replayed: bool = False) -> None:
        """Count a move of an agent: its own, or by a fallback for some reason."""
        with self._lock:
            self._usage.moves += 1
            self._usage.replayed += replayed
            if reason:
                self._usage.fallbacks[reason] += 1


METER = Meter()
"""The meter of this process."""
