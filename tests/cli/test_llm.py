"""``cobandit llm``, and the language model in other commands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cobandit.remote import chat, settings
from cobandit.remote.demo_server import DemoServer
from cobandit.remote.prompt import PromptView


@pytest.fixture
def no_health(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(chat, "_HEALTH", {})
    monkeypatch.setenv(settings.REPLIES, str(tmp_path / "replies"))
    monkeypatch.setenv(settings.MODEL, "demo-model")


def test_check(run, no_health, monkeypatch: pytest.MonkeyPatch) -> None:
    with DemoServer(key="sk-1") as server:
        monkeypatch.setenv(settings.URL, server.url)
        monkeypatch.setenv(settings.KEY, "sk-1")
        monkeypatch.setenv(settings.PRICES, "1,1")
        shown = run("llm", "check", "--json")
        assert shown.exit_code == 0
        told = json.loads(shown.stdout)
        assert (told["model"], told["move"], told["outcome"], told["schema"]) == ("demo-model", "B", "answer", True)
        assert told["cost"] == pytest.approx((told["input_tokens"] + told["output_tokens"]) / 1e6)
        monkeypatch.setenv(settings.KEY, "sk-2")
        wrong = run("llm", "check", "--model", "other")
        assert wrong.exit_code == 1
        assert "outcome: status 401" in wrong.stdout
        assert "sk-2" not in wrong.output


def test_simulate_says_what_it_costs(run, no_health, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = "simulate --team naive-ucb --team language-model --option retries=0 --horizon 20 --runs 2 --json"
    comparison = "compare --team language-model --team naive-ucb --horizon 2000 --runs 2"
    with DemoServer(fault="malformed", every=4) as server:
        monkeypatch.setenv(settings.URL, server.url)
        shown = run(*simulation.split())
        assert shown.exit_code == 0, shown.output
        assert re.search(
            r"up to 40 calls of demo-model at 127\.0\.0\.1:\d+ \(up to some [\d,]+ input tokens\)", shown.stderr
        )
        assert "moves were played by partner-aware-ucb" in shown.stderr
        assert json.loads(shown.stdout)["team"]["members"][1]["model"] == "demo-model"
        used = json.loads(run("llm", "usage", "--json").stdout)["models"]
        assert used[0]["model"] == "demo-model"
        assert used[0]["calls"] == len(server.requests)
        assert used[0]["fallbacks"] > 0
        assert "demo-model" in run("llm", "usage").stdout
        refused = run(*comparison.split())
        assert refused.exit_code == 2
        assert "need up to 8,000 calls of demo-model" in refused.stderr


def test_usage_of_nothing(run, no_health) -> None:
    assert "No calls yet." in run("llm", "usage").stdout


def test_the_arena_refuses_what_all_processes_together_may_need(run, no_health, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv(settings.URL, "http://127.0.0.1:9/v1")
    monkeypatch.setenv(settings.MAX_CALLS, "100")
    words = "arena --setting fixed-500 --with cobandit:LanguageModelAgent --runs 2 --out"
    shown = run(*words.split(), str(tmp_path / "arena"))
    assert shown.exit_code == 2
    assert re.search(r"need up to [\d,]+ calls", shown.stderr)


def test_demo() -> None:
    """The command in a process of its own, as users start it."""
    command = [sys.executable, "-m", "cobandit", "llm", "demo", "--port", "0"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert refused.returncode == 2
    port = DemoServer()
    address = port.url
    port.start().stop()
    command[-1] = address.split(":")[2].split("/")[0]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as served:
        assert served.stderr is not None
        assert address in served.stderr.readline()
        answer = chat.Conversation(
            settings.ChatEndpoint(address, "m"),
            PromptView.from_rounds(0, (("A", "B"), ("A", "B")), 9, []),
            chat.Style(),
            limits=chat.Limits(),
        ).ask()
        served.terminate()
    assert answer.arm == 0
