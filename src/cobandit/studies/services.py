"""Players of service seats: a language model, and a policy behind a user's own HTTP endpoint.

Both are asked once for each round with what their seat knows, and hold nothing that a restart would lose. They return
the arm together with everything that was sent and answered, for the table of records; whatever goes wrong is `NoMove`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.remote.chat import Attempt, ChatAnswer, Conversation, Limits, Style
from cobandit.remote.policy import PolicyClient, unusable_secret
from cobandit.remote.prompt import PromptView, template_digest
from cobandit.remote.settings import MAX_CALLS, ChatEndpoint
from cobandit.remote.usage import METER, CallLimit
from cobandit.studies.seats import NoMove, SeatView, ServiceMove
from cobandit.studies.service_tables import HttpService, LanguageModelService

NO_LIMIT = 10**12
MARGIN = 0.25
"""Seconds of a round that are left for storing the move."""


def language_model_seat(options: Mapping[str, Any]) -> LanguageModelSeat:
    """Return the player that a design's table describes; refuse one without an endpoint."""
    table = LanguageModelService.read("service", dict(options))
    return LanguageModelSeat(table, ChatEndpoint.from_environment(table.model or ""))


def http_seat(options: Mapping[str, Any]) -> HttpSeat:
    """Return the player that a design's table describes; refuse one without a secret."""
    table = HttpService.read("service", dict(options))
    secret = os.environ.get(table.secret, "")
    if (fault := unusable_secret(secret)) is not None:
        raise InvalidInput(f"{table.secret} {fault}. It signs the requests to {table.url}.")
    return HttpSeat(table, PolicyClient(table.url, secret))


@dataclass
class LanguageModelSeat:
    """A language model in a seat of a study."""

    table: LanguageModelService
    endpoint: ChatEndpoint

    def choose(self, view: SeatView, seconds: float) -> ServiceMove:
        """Return the model's move, or raise `NoMove` with the requests and answers."""
        table = self.table
        style = Style(table.history, table.template or "", table.reasoning, table.temperature, table.parameters or "")
        limit = max(0.05, seconds - MARGIN)
        # A sampled answer has a seed of its own, fresh for each round: the reply is recorded, so it need not repeat.
        seed = secrets.randbelow(2**31) if table.temperature else None
        asked = Conversation(
            self.endpoint,
            prompt_view(view, table.memory),
            style,
            limits=Limits(limit, table.retries, limit),
            seed=seed,
            before_call=self._count_call,
        )
        try:
            answer = asked.ask()
        except CallLimit as limit_reached:
            raise NoMove(str(limit_reached), self._record(asked.unfinished("call limit"))) from None
        METER.count_tokens(answer.input_tokens, answer.output_tokens)
        METER.count_move(answer.reason)
        if answer.arm is None:
            raise NoMove(f"The language model gave no move: {answer.reason}.", self._record(answer))
        return ServiceMove(answer.arm, answer.evidence, self._record(answer))

    def _count_call(self) -> None:
        """Count a call. The design limits the moves of a study; the limit of the process holds only if it is set."""
        if not self.endpoint.is_demo:
            METER.count_call(None if MAX_CALLS in os.environ else NO_LIMIT)

    def _record(self, answer: ChatAnswer) -> dict[str, object]:
        return {
            "kind": "language-model",
            "model": answer.model,
            "template": template_digest(self.table.template or ""),
            "history": self.table.history,
            **_asked(answer.reason, answer.attempts),
        }


class HttpSeat:
    """A policy behind HTTP in a seat of a study. ``session`` tells a policy that remembers which game it plays."""

    def __init__(self, table: HttpService, client: PolicyClient) -> None:
        self.table, self.client = table, client
        self.session = secrets.token_hex(16)

    def choose(self, view: SeatView, seconds: float) -> ServiceMove:
        """Return the policy's move, or raise `NoMove` with the request and the answer."""
        limit = max(0.05, seconds - MARGIN)
        if self.table.observe and view.history:
            limit -= self.observe(view, limit / 4)
        arms = len(view.arms[view.seat])
        answer = self.client.choose(self._request(view, "choose"), arms, Limits(limit, self.table.retries, limit))
        record = {"kind": "http", "url": self.table.url, **_asked(answer.reason, answer.attempts)}
        if answer.arm is None:
            raise NoMove(f"The policy gave no move: {answer.reason}.", record)
        return ServiceMove(answer.arm, answer.evidence, record)

    def observe(self, view: SeatView, seconds: float) -> float:
        """Tell the policy of the latest sealed round; return how many seconds it took."""
        latest = view.history[-1]
        request = {
            "id": f"{self.session}-{latest.t}-observe",
            "session": self.session,
            "seat": view.seat,
            "t": latest.t,
            "arms": list(latest.arms),
            "seen": latest.seen,
        }
        return self.client.observe(request, seconds)

    def _request(self, view: SeatView, kind: str) -> dict[str, object]:
        return {
            "id": f"{self.session}-{view.t}-{kind}",
            "session": self.session,
            "seat": view.seat,
            "t": view.t,
            "rounds": view.rounds,
            "names": list(view.names),
            "options": [list(names) for names in view.arms],
            "observability": list(view.observability),
            "observation": view.observation,
            "history": [{"t": past.t, "arms": list(past.arms), "seen": past.seen} for past in view.history],
        }


def prompt_view(view: SeatView, memory: int) -> PromptView:
    """Return the view of a seat as prompts are made of it."""
    return PromptView.from_rounds(
        view.seat,
        view.arms,
        view.rounds,
        [(past.arms, past.seen) for past in view.history],
        binary=view.observation != "noisy",
        observation=view.observation,
        memory=memory,
        instructions=view.instructions,
    )


def _asked(reason: str, attempts: tuple[Attempt, ...]) -> JsonObject:
    """Return the part that all records share: outcome, request and answer of every attempt, tokens, time."""
    return {
        "outcome": reason or "answer",
        "attempts": [asdict(attempt) for attempt in attempts],
        "input_tokens": sum(attempt.input_tokens for attempt in attempts),
        "output_tokens": sum(attempt.output_tokens for attempt in attempts),
        "milliseconds": sum(attempt.milliseconds for attempt in attempts),
    }
