"""Asking a chat-completions endpoint for one move: attempts, waits and every way in which it can fail."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from email.message import Message
from typing import Any

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.base.records import fingerprint
from cobandit.remote import prompt
from cobandit.remote.answers import Unusable, read_arm, reply_text
from cobandit.remote.demo import demo_reply
from cobandit.remote.prompt import PromptView
from cobandit.remote.settings import ChatEndpoint
from cobandit.remote.transport import Failed, HttpReply, post

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second attempt, doubled for each further one; a longer Retry-After is not waited for."""
DOWN_AFTER, DOWN_SECONDS = 3, 30.0
"""After `DOWN_AFTER` moves in a row without a reply, the endpoint is not called for `DOWN_SECONDS`."""
OWN_ANSWERS = ("answer", "malformed", "refusal")
"""What a model itself said; all else is a fault on the way to it, and worth another call in a later run."""
_FIXED = ("messages", "model", "n", "stream")


@dataclass(frozen=True)
class Attempt:
    """One call: the request, the response, and how the response was used."""

    kind: str
    status: int | None
    milliseconds: int
    request: JsonObject
    reply: str
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class ChatAnswer:
    """The outcome of a request: an arm, or None and the reason."""

    arm: int | None
    reason: str
    model: str
    digest: str
    attempts: tuple[Attempt, ...] = ()
    replayed: bool = False

    @property
    def evidence(self) -> str:
        """The SHA-256 of model, request and answer, for the log of a study."""
        last = self.attempts[-1] if self.attempts else None
        request, reply = (None, "") if last is None else (last.request, last.reply)
        return fingerprint({"model": self.model, "request": request, "answer": reply})

    @property
    def input_tokens(self) -> int:
        """Tokens read in all attempts."""
        return sum(attempt.input_tokens for attempt in self.attempts)

    @property
    def output_tokens(self) -> int:
        """Tokens written in all attempts."""
        return sum(attempt.output_tokens for attempt in self.attempts)

    @property
    def milliseconds(self) -> int:
        """Time of all attempts, without the waits between them."""
        return sum(attempt.milliseconds for attempt in self.attempts)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data, for storage."""
        return {
            "arm": self.arm,
            "reason": self.reason,
            "model": self.model,
            "attempts": [asdict(a) for a in self.attempts],
        }

    @classmethod
    def from_dict(cls, digest: str, stored: JsonObject) -> ChatAnswer:
        """Return the answer that `to_dict` wrote."""
        attempts = tuple(Attempt(**attempt) for attempt in stored["attempts"])
        return cls(stored["arm"], stored["reason"], stored["model"], digest, attempts, replayed=True)


@dataclass(frozen=True)
class Style:
    """How a model is asked: the history, the rules, whether it reasons first, and parameters of the request."""

    history: str = "summary"
    template: str = ""
    reasoning: bool = False
    temperature: float = 0.0
    parameters: str = ""


def checked_parameters(name: str, value: object) -> str:
    """Check further parameters of requests: a JSON object in a text."""
    try:
        data = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InvalidInput(f"""{name} must be a JSON object such as '{{"top_p": 0.9}}', got {short_repr(value)}.""")
    for key in data:
        if key in _FIXED:
            raise InvalidInput(f"{name} must leave {', '.join(_FIXED)} alone, got {short_repr(value)}.")
    return str(value)


def request_body(model: str, view: PromptView, style: Style, seed: int | None = None) -> dict[str, Any]:
    """Return the request for a move; a parameter that is null in ``style.parameters`` is left out."""
    body: JsonObject = {
        "model": model,
        "messages": prompt.messages(view, history=style.history, template=style.template, reasoning=style.reasoning),
        "temperature": style.temperature,
        "max_tokens": 1_000 if style.reasoning else 100,
        "response_format": prompt.answer_schema(view, style.reasoning),
    }
    if seed is not None:
        body["seed"] = seed
    if style.parameters:
        body |= json.loads(style.parameters)
    return {key: value for key, value in body.items() if value is not None}


@dataclass
class _Health:
    """The current state of an endpoint, shared by all threads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    not_before: float = 0.0
    failures: int = 0
    down_until: float = 0.0
    plain_only: bool = False


_HEALTH: dict[tuple[str, str], _Health] = {}


def health_of(endpoint: ChatEndpoint) -> _Health:
    """Return the shared state of an endpoint and its model."""
    return _HEALTH.setdefault((endpoint.url, endpoint.model), _Health())


@dataclass(frozen=True)
class Limits:
    """How long a move may take: seconds of one attempt, further attempts, and seconds in all (None: no limit)."""

    timeout: float = 30.0
    retries: int = 2
    seconds: float | None = None


class Conversation:
    """The attempts of one move. ``before_call`` is called before each of them and may refuse it by an exception."""

    sleep: Callable[[float], None] = staticmethod(time.sleep)

    def __init__(
        self,
        endpoint: ChatEndpoint,
        view: PromptView,
        style: Style,
        *,
        limits: Limits,
        seed: int | None = None,
        before_call: Callable[[], None] = lambda: None,
    ) -> None:
        self.endpoint, self.view, self.style = endpoint, view, style
        self.body = request_body(endpoint.model, view, style, seed)
        self.digest = fingerprint(self.body)
        self.limits, self.before_call = limits, before_call
        self.end = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.attempts: list[Attempt] = []
        self.health = health_of(endpoint)

    def ask(self) -> ChatAnswer:
        """Call until there is a move, or no attempt or no time is left."""
        if self.health.down_until > time.monotonic():
            return ChatAnswer(None, "endpoint down", self.endpoint.model, self.digest)
        arm, reason, body = None, "time-out", dict(self.body)
        left, plain = self.limits.retries + 1, self.health.plain_only
        while left and self._remaining() > 0.0:
            if plain:
                body.pop("response_format", None)
            arm, attempt, wait = self._call(body)
            self.attempts.append(attempt)
            reason = attempt.kind
            if arm is not None:
                self.health.plain_only = plain
                break
            if attempt.status in (400, 422) and "response_format" in body:
                plain = True  # perhaps an endpoint without JSON schemas: ask once more for plain JSON
                continue
            left -= 1
            if wait is None or not left or wait > min(LONGEST_WAIT, self._remaining()):
                break
            if attempt.kind in OWN_ANSWERS:
                body = self._with_reminder(attempt)
            self.sleep(wait)
        self._note(reason)
        return ChatAnswer(
            arm, "" if arm is not None else reason, self.endpoint.model, self.digest, tuple(self.attempts)
        )

    def unfinished(self, reason: str) -> ChatAnswer:
        """Return the outcome of the attempts so far, after ``before_call`` refused another one."""
        return ChatAnswer(None, reason, self.endpoint.model, self.digest, tuple(self.attempts))

    def _remaining(self) -> float:
        return LONGEST_WAIT * 60 if self.end is None else self.end - time.monotonic()

    def _call(self, body: JsonObject) -> tuple[int | None, Attempt, float | None]:
        """Return the arm, the attempt, and how long to wait before the next one (None: no use in another)."""
        backoff = FIRST_WAIT * 2 ** min(len(self.attempts), 10)
        pause = self.health.not_before - time.monotonic()
        if 0.0 < pause < min(LONGEST_WAIT, self._remaining()):
            self.sleep(pause)  # the endpoint asked another thread to slow down
        self.before_call()
        start = time.monotonic()
        try:
            reply = self._post(body)
        except Failed as failure:
            taken = round(1000 * (time.monotonic() - start))
            return None, Attempt(failure.kind, None, taken, body, self.endpoint.redacted(str(failure))), backoff
        text = self.endpoint.redacted(reply.text)
        if reply.status == 429:
            wait = backoff if reply.retry_after is None else reply.retry_after
            with self.health.lock:
                self.health.not_before = max(self.health.not_before, time.monotonic() + min(wait, LONGEST_WAIT))
            return None, Attempt("rate limit", 429, reply.milliseconds, body, text), wait
        if reply.status != 200:
            again = reply.status >= 500 or reply.status == 408
            kind = f"status {reply.status}"
            return None, Attempt(kind, reply.status, reply.milliseconds, body, text), backoff if again else None
        return self._read(body, reply, text)

    def _post(self, body: JsonObject) -> HttpReply:
        if self.endpoint.is_demo:
            return HttpReply(200, Message(), json.dumps(demo_reply(body)), 0)
        headers = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        data = json.dumps(body).encode("ascii")
        return post(self.endpoint.address, data, headers, min(self.limits.timeout, self._remaining()))

    def _read(self, body: JsonObject, reply: HttpReply, text: str) -> tuple[int | None, Attempt, float | None]:
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        usage = data.get("usage") if isinstance(data, dict) else None
        tokens = [_count(usage, name) for name in ("prompt_tokens", "completion_tokens")]
        try:
            arm = read_arm(reply_text(data), self.view.own_names)
        except Unusable as problem:
            return None, Attempt(problem.kind, 200, reply.milliseconds, body, text, *tokens), 0.0
        return arm, Attempt("answer", 200, reply.milliseconds, body, text, *tokens), None

    def _with_reminder(self, attempt: Attempt) -> dict[str, object]:
        """Return the request again, extended by the unusable answer and the reason why it is unusable."""
        try:
            said = reply_text(json.loads(attempt.reply))[:2_000]
        except (Unusable, ValueError, RecursionError):
            said = "(no usable answer)"
        asked = prompt.reminder(self.view, self.style.reasoning)
        added = [{"role": "assistant", "content": said}, {"role": "user", "content": asked}]
        return {**self.body, "messages": [*self.body["messages"], *added]}

    def _note(self, reason: str) -> None:
        """Leave an endpoint alone for a while that gave no reply at all in several moves."""
        with self.health.lock:
            self.health.failures = 0 if reason in OWN_ANSWERS else self.health.failures + 1
            if self.health.failures >= DOWN_AFTER:
                self.health.failures, self.health.down_until = 0, time.monotonic() + DOWN_SECONDS


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0


def estimated_tokens(messages: Sequence[dict[str, str]]) -> int:
    """Return about how many tokens some messages have: one for every four characters."""
    return sum(len(message["content"]) for message in messages) // 4
