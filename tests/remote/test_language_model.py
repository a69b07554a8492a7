"""The language model as an agent: plays by the prompt, replays from disk, falls back, keeps to its limit."""

from __future__ import annotations

import json
import logging
import pickle
from pathlib import Path

import numpy as np
import pytest

import cobandit as cb
from cobandit.remote import settings
from cobandit.remote.replies import ReplyStore, logged_usage, replies_folder
from cobandit.remote.usage import METER, CallLimit
from tests.remote.conftest import KEY

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
TEAM = cb.Team(["naive-ts", "language-model"])


def final_regret(team: object, **options) -> list[float]:
    played = cb.simulate(PROBLEM, team, 30, **({"runs": 3, "engine": "reference"} | options))  # type: ignore[arg-type]
    return played.task_regret[:, -1].tolist()


@pytest.mark.parametrize("options", [{}, {"history": "rounds", "memory": 30}, {"reasoning": True}])
def test_the_demo_plays_naive_ucb_by_the_prompt_alone(endpoint, options) -> None:
    server = endpoint()
    team = cb.Team(["naive-ts", cb.LanguageModelAgent(**options)])
    assert final_regret(team) == final_regret(cb.Team(["naive-ts", "naive-ucb"]))
    assert 30 <= len(server.requests) <= 90, "equal prompts of several runs are asked once, at temperature 0"


def test_a_run_replays_without_a_call(endpoint) -> None:
    server = endpoint()
    first = final_regret(TEAM)
    calls = len(server.requests)
    assert METER.usage().calls == calls
    assert final_regret(TEAM) == first
    assert len(server.requests) == calls
    assert METER.usage().replayed >= 90


def test_replays_need_no_endpoint_and_no_limit(endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server = endpoint()
    first = final_regret(TEAM)
    server.stop()
    monkeypatch.setattr(server, "stop", lambda: None)
    monkeypatch.setenv(settings.MAX_CALLS, "0")
    assert final_regret(TEAM) == first


def test_sampled_answers_have_a_seed_of_their_own(endpoint) -> None:
    server = endpoint()
    team = cb.Team(["naive-ts", cb.LanguageModelAgent(temperature=1.0)])
    final_regret(team)
    seeds = {body["seed"] for body in server.requests}
    assert len(server.requests) == len(seeds) == 90
    final_regret(team)
    assert len(server.requests) == 90


def test_the_number_of_threads_changes_nothing(endpoint) -> None:
    endpoint()
    assert final_regret(TEAM, threads=1) == final_regret(TEAM, threads=3)


@pytest.mark.parametrize("fault", ["refusal", "malformed", "server-error", "cut", "rate-limit", "no-json"])
def test_no_round_is_lost(endpoint, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    endpoint(fault=fault)
    team = cb.Team(["naive-ts", cb.LanguageModelAgent(fallback="naive-ucb", retries=0)])
    with caplog.at_level(logging.WARNING, "cobandit"):
        assert final_regret(team) == final_regret(cb.Team(["naive-ts", "naive-ucb"]))
    assert METER.usage().fallbacks.total() == METER.usage().moves == 90
    assert "90 of 90 moves were played by naive-ucb, not by the language model" in caplog.text
    assert logged_usage(replies_folder())["demo-model"]["fallbacks"] == 90
    assert KEY not in caplog.text


def test_what_the_model_said_is_stored_and_what_failed_on_the_way_is_not(endpoint) -> None:
    server = endpoint(fault="refusal")
    agent = cb.LanguageModelAgent(retries=0)

    def play() -> int:
        agent.reset(cb.Briefing(0, (2, 2), (0, 1), 5), np.random.default_rng(0))
        agent.choose()
        return agent.fallback_moves

    assert (play(), play(), len(server.requests)) == (1, 1, 1)
    server.fault = "server-error"
    agent.template = "Other rules."
    assert (play(), play(), len(server.requests)) == (1, 1, 3)
    server.fault = None
    assert (play(), len(server.requests)) == (0, 4)


def test_too_many_calls_are_refused_before_the_first(endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server = endpoint()
    monkeypatch.setenv(settings.PRICES, "1,2")
    with pytest.raises(
        CallLimit, match=r"2 x 1,000 rounds need up to 2,000 calls of demo-model at 127.* input tokens, about"
    ):
        cb.simulate(PROBLEM, "language-model", 100, runs=10)
    assert server.requests == []


def test_the_limit_holds_at_every_call_and_a_repeated_run_goes_on(endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    server = endpoint()
    monkeypatch.setenv(settings.MAX_CALLS, "20")
    with pytest.raises(CallLimit, match="called 20 times in this process"):
        final_regret(TEAM)
    assert len(server.requests) == 20
    monkeypatch.setenv(settings.MAX_CALLS, "1000")
    final_regret(TEAM)
    calls = len(server.requests)
    assert calls == METER.usage().calls <= 90
    for value in ("-1", "many", "1.5"):
        monkeypatch.setenv(settings.MAX_CALLS, value)
        with pytest.raises(cb.InvalidInput, match="COBANDIT_LLM_MAX_CALLS"):
            final_regret("language-model", runs=2)


def test_costs(endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    endpoint()
    monkeypatch.setenv(settings.PRICES, "1000000,2000000")
    with caplog.at_level(logging.WARNING, "cobandit"):
        final_regret(TEAM)
    used = METER.usage()
    assert used.cost == used.input_tokens + 2.0 * used.output_tokens
    assert "up to 90 calls of demo-model at 127.0.0.1" in caplog.text
    assert f"{used.calls:,} calls" in caplog.text
    counts = logged_usage(replies_folder())["demo-model"]
    assert (counts["calls"], counts["input_tokens"]) == (used.calls, used.input_tokens)
    monkeypatch.setenv(settings.PRICES, "cheap")
    with pytest.raises(cb.InvalidInput, match=r"COBANDIT_LLM_PRICES must be two numbers, such as 0\.5,1\.5"):
        assert used.cost


def test_the_key_is_in_no_state_file_or_result(endpoint, tmp_path: Path) -> None:
    endpoint(fault="echo-key", every=3)
    partner = cb.Partner("language-model", (2, 2), seat=0, horizon=20, seed=1)
    for _ in range(10):
        arm = partner.choose()
        partner.observe((arm, 0), 1.0)
    result = cb.simulate(PROBLEM, TEAM, 5, runs=2)
    written = json.dumps(partner.state()) + repr(partner.agent) + json.dumps(result.provenance(), default=str)
    assert KEY.encode() not in pickle.dumps(partner.agent)
    assert KEY not in written
    files = [file for file in (tmp_path / "replies").rglob("*") if file.is_file()]
    assert len(files) > 5
    assert all(KEY.encode() not in file.read_bytes() for file in files)


def test_results_name_the_model(endpoint) -> None:
    endpoint()
    team = cb.Team(["naive-ts", "language-model"])
    assert cb.simulate(PROBLEM, team, 2, runs=1).team.describe()["members"][1]["model"] == "demo-model"


def test_without_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(settings.URL)
    with pytest.raises(cb.InvalidInput, match="COBANDIT_LLM_URL must be the address of a chat-completions endpoint"):
        cb.simulate(PROBLEM, "language-model", 5, runs=1)


@pytest.mark.parametrize("name", ["optimal", "centralised-ucb", "steered", "language-model"])
def test_fallbacks_that_are_refused(name: str) -> None:
    with pytest.raises(cb.InvalidInput, match=r"^fallback must be an agent for one seat"):
        cb.LanguageModelAgent(fallback=name)


def test_late_news(endpoint) -> None:
    endpoint()
    late = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5], delay=3)
    plain, model = (cb.simulate(late, kind, 20, runs=2, engine="reference") for kind in ("naive-ucb", "language-model"))
    assert np.array_equal(plain.task_regret, model.task_regret)


def test_a_damaged_reply_is_asked_for_again(endpoint) -> None:
    server = endpoint()
    final_regret(TEAM, runs=1)
    calls = len(server.requests)
    stored = sorted(replies_folder().rglob("*/*.json"))
    stored[0].write_text("{", "utf-8")
    stored[1].write_text('{"format": 9}', "utf-8")
    final_regret(TEAM, runs=1)
    assert len(server.requests) == calls + 2
    assert ReplyStore().load("0" * 64) is None
