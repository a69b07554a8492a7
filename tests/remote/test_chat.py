"""Asking a real endpoint over HTTP: answers, and every fault."""

from __future__ import annotations

import socket
import time

import pytest

from cobandit import InvalidInput
from cobandit.remote import chat
from cobandit.remote.chat import ChatAnswer, Conversation, Limits, Style
from cobandit.remote.prompt import PromptView, arm_names
from cobandit.remote.settings import ChatEndpoint
from tests.remote.conftest import KEY

PAST = [((0, 0), 0.0), ((0, 1), 1.0), ((1, 0), 0.0), ((1, 1), 0.0)]
VIEW = PromptView.from_rounds(1, arm_names((2, 2)), 50, PAST)


def ask(style: Style | None = None, **limits) -> ChatAnswer:
    asked = Conversation(
        ChatEndpoint.from_environment(), VIEW, Style() if style is None else style, limits=Limits(**limits)
    )
    return asked.ask()


def test_an_answer(endpoint) -> None:
    server = endpoint()
    answer = ask()
    assert (answer.arm, answer.reason, answer.model) == (1, "", "demo-model")
    assert answer.input_tokens > 100
    assert answer.output_tokens > 0
    (sent,) = server.requests
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["temperature"] == 0.0
    assert "seed" not in sent


def test_parameters(endpoint) -> None:
    server = endpoint()
    assert ask(Style(parameters='{"max_tokens": null, "max_completion_tokens": 99, "top_p": 0.5}')).arm == 1
    (sent,) = server.requests
    assert (sent["max_completion_tokens"], sent["top_p"], "max_tokens" in sent) == (99, 0.5, False)
    for given in ("[]", "x", '{"model": "other"}', '{"stream": true}', 3):
        with pytest.raises(InvalidInput, match=r"^parameters must"):
            chat.checked_parameters("parameters", given)


@pytest.mark.parametrize(
    ("fault", "reason", "calls"),
    [
        ("refusal", "refusal", 3),
        ("filtered", "refusal", 3),
        ("malformed", "malformed", 3),
        ("wrong-arm", "malformed", 3),
        ("no-json", "malformed", 3),
        ("server-error", "status 500", 3),
        ("cut", "cut", 3),
    ],
)
def test_faults_to_the_end(endpoint, fault: str, reason: str, calls: int) -> None:
    server = endpoint(fault=fault)
    answer = ask(retries=2)
    assert (answer.arm, answer.reason) == (None, reason)
    assert len(server.requests) == len(answer.attempts) == calls


@pytest.mark.parametrize("fault", ["refusal", "malformed", "wrong-arm", "no-json", "server-error", "cut", "rate-limit"])
def test_one_fault_is_got_over(endpoint, fault: str) -> None:
    server = endpoint(fault=fault)
    server.every = 2
    server.requests.append({})  # so that the first call is the second request
    answer = ask(retries=1)
    assert (answer.arm, answer.reason, len(answer.attempts)) == (1, "", 2)


def test_a_reminder_follows_a_malformed_answer(endpoint) -> None:
    server = endpoint(fault="malformed")
    ask(retries=1)
    first, second = server.requests
    assert second["messages"][:2] == first["messages"]
    assert second["messages"][2]["content"].startswith("I would say option A")
    assert second["messages"][3]["content"].endswith('in this form: {"arm": "A"}')


def test_waits_grow(endpoint, waits: list[float]) -> None:
    endpoint(fault="server-error")
    ask(retries=4)
    assert waits == [0.5, 1.0, 2.0, 4.0]


def test_the_server_says_how_long_to_wait(endpoint, waits: list[float]) -> None:
    endpoint(fault="rate-limit", retry_after=7)
    assert ask(retries=1).reason == "rate limit"
    assert waits[0] == 7.0
    assert 6.0 < waits[1] <= 7.0, "the second attempt keeps to the pause that the whole process was given"


def test_a_pause_that_is_too_long_is_not_waited_for(endpoint, waits: list[float]) -> None:
    server = endpoint(fault="rate-limit", retry_after=3_600)
    assert ask(retries=5).reason == "rate limit"
    assert len(server.requests) == 1
    assert waits == []


def test_a_slow_endpoint(endpoint) -> None:
    server = endpoint(fault="slow", seconds=60.0)
    assert ask(timeout=0.1, retries=1).reason == "time-out"
    assert len(server.requests) == 2


def test_all_attempts_share_the_seconds(endpoint) -> None:
    endpoint(fault="slow", seconds=60.0)
    answer = ask(timeout=30.0, retries=5, seconds=0.3)
    assert answer.reason == "time-out"
    assert len(answer.attempts) == 1


def test_a_dead_endpoint(endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    endpoint()
    monkeypatch.setenv("COBANDIT_LLM_URL", f"http://127.0.0.1:{port}/v1")
    answer = ask(retries=1)
    assert (answer.arm, answer.reason, len(answer.attempts)) == (None, "unreachable", 2)


def test_an_endpoint_that_is_down_is_left_alone_for_a_while(endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server = endpoint(fault="server-error")
    assert [ask(retries=0).reason for _ in range(5)] == ["status 500"] * 3 + ["endpoint down"] * 2
    assert len(server.requests) == 3
    server.fault = None
    later = time.monotonic() + chat.DOWN_SECONDS + 1.0
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert ask().arm == 1


def test_an_endpoint_without_schemas(endpoint) -> None:
    server = endpoint(fault="no-schema")
    assert ask(retries=0).arm == 1
    assert ask(retries=0).arm == 1
    assert ["response_format" in body for body in server.requests] == [True, False, False]


def test_a_wrong_key(endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint()
    monkeypatch.setenv("COBANDIT_LLM_KEY", "sk-wrong")
    answer = ask(retries=3)
    assert (answer.reason, len(answer.attempts)) == ("status 401", 1)


def test_the_key_is_nowhere(endpoint) -> None:
    endpoint(fault="echo-key")
    answer = ask(retries=0)
    assert "[key]" in answer.attempts[0].reply
    assert KEY not in repr(answer) + repr(ChatEndpoint.from_environment()) + str(answer.to_dict())


def test_evidence_depends_on_request_and_answer(endpoint) -> None:
    server = endpoint()
    first, again = ask(), ask()
    assert first.evidence == again.evidence
    assert ask(Style(history="rounds")).evidence != first.evidence
    server.fault = "malformed"
    assert ask(retries=0).evidence != first.evidence


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "got nothing"),
        ("llm.example.org/v1", "must be an address"),
        ("ftp://llm.example.org", "must be an address"),
        ("https://me:secret@llm.example.org", "no user and no password"),
        ("https://llm.example.org/v1?key=secret", "without a query"),
        ("http://[broken", "must be an address"),
        ("https://llm.example.org:99999", "must be an address"),
    ],
)
def test_addresses_that_are_refused(url: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        ChatEndpoint.from_environment("m", {"COBANDIT_LLM_URL": url})
    assert "secret" not in str(caught.value)


def test_a_missing_model_and_a_broken_key() -> None:
    address = {"COBANDIT_LLM_URL": "https://llm.example.org/v1/"}
    with pytest.raises(InvalidInput, match="COBANDIT_LLM_MODEL must be the name of a model"):
        ChatEndpoint.from_environment("", address)
    with pytest.raises(InvalidInput, match="COBANDIT_LLM_KEY must be one word") as caught:
        ChatEndpoint.from_environment("m", address | {"COBANDIT_LLM_KEY": "top secret"})
    assert "secret" not in str(caught.value)
    assert ChatEndpoint.from_environment("m", address).address == "https://llm.example.org/v1/chat/completions"
