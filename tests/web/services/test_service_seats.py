"""Services in the seats of a running study: a real model endpoint, takeovers, records, costs; on both databases."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cobandit.base.records import fingerprint
from cobandit.cli import app
from cobandit.remote import chat, settings, usage
from cobandit.remote.demo_server import DemoServer
from cobandit.studies import StudyDesign, count_moves, tables, verify_study
from cobandit.studies.service_use import recorded_use
from cobandit.web.storage.service_records import count_records, service_records
from cobandit.web.storage.settings import write_setting
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.policies import documented_policy
from tests.team_designs import service_design
from tests.web.servers import until

KEY, SECRET = "sk-secret-0123456789", "0123456789abcdef0123456789abcdef"
ROUNDS = 4


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """A database of either kind."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[DemoServer]:
    """A real endpoint on this machine."""
    monkeypatch.setattr(chat, "_HEALTH", {})
    monkeypatch.setattr(usage.METER, "_usage", usage.Usage())
    monkeypatch.setenv(settings.KEY, KEY)
    monkeypatch.setenv(settings.MODEL, "demo-model")
    with DemoServer(key=KEY) as server:
        monkeypatch.setenv(settings.URL, server.url)
        yield server


def service_seat(service: dict[str, Any], seconds: int = 60) -> StudyDesign:
    data = service_design().to_dict()
    data["seats"][1] |= {"service": service, "timeout_seconds": seconds}
    return StudyDesign.from_dict(data)


def model_design(seconds: int = 60, **options: Any) -> StudyDesign:
    return service_seat({"kind": "language-model", "retries": 0, **options}, seconds)


def play(site: Any, design: StudyDesign) -> None:
    """One person from consent to the end of the episode with the service."""
    person = site.person("team")
    state = person.state()
    while not state.get("team"):
        kind = state["step"]["kind"]
        if kind == "episode":
            for t in range(1, ROUNDS + 1):
                assert person.send(state["episode"]["index"], (t, 0, uuid.uuid4().hex)).status_code == 200
            state = person.state()
            continue
        answered = person.answer(state["step"]["id"], person.good_answers(state, design), ms=1000)
        assert answered.status_code == 200, answered.text
        state = answered.json()["state"]
    number = state["episode"]["index"]
    for t in range(1, ROUNDS + 1):
        body = {"episode": number, "moves": [{"t": t, "arm": t % 2, "key": uuid.uuid4().hex, "ms": 400}]}
        answer = person.client.post(f"{person.path}/rounds", json=body)
        assert answer.status_code == 200, answer.text

        def sealed(t: int = t) -> bool:
            seen = person.client.get(f"{person.path}/team", params={"episode": number, "after": 0}).json()
            return bool(seen["played"] >= t)

        until(sealed)


def command(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def stored(site: Any) -> tuple[Any, list[dict[str, Any]], int]:
    """What an export holds, the records of the services, and how many of those count against the limit."""
    with site.database.read() as connection:
        study = find_study(connection, "team")
        assert study is not None
        records = list(service_records(connection, study.id))
        return study_data(connection, study), records, count_records(connection, study.id)


def seat_moves(site: Any) -> list[str]:
    """Who moved in the seat of the service, round by round."""
    return [by for (by,) in site.query("SELECT by FROM moves WHERE seat = 1 ORDER BY episode_id, t")]


def test_a_model_plays_and_is_recorded(open_site: Callable[..., Any], address: str, endpoint: DemoServer) -> None:
    design = model_design()
    site = open_site(address, design)
    play(site, design)
    data, records, count = stored(site)
    assert verify_study(data) == []
    assert [record["by"] for record in records] == ["service"] * ROUNDS
    assert count == len(endpoint.requests) == ROUNDS
    used = recorded_use(record["record"] for record in records)
    assert (used.moves, used.calls, used.outcomes) == (ROUNDS, ROUNDS, {"answer": ROUNDS})
    assert used.input_tokens > 0
    assert records[-1]["record"]["attempts"][0]["request"] == endpoint.requests[-1]
    assert all(len(record["evidence"]) == 64 for record in records)
    everything = json.dumps(records)
    assert KEY not in everything
    exported = json.dumps({name: str(table) for name, table in tables(data).items()})
    assert "Which option do you choose" in everything
    assert "Which option do you choose" not in exported
    assert count_moves(data).recorded >= 2 * ROUNDS


def test_refusals_lead_to_recorded_takeovers(
    open_site: Callable[..., Any], address: str, endpoint: DemoServer, tmp_path: Path
) -> None:
    endpoint.fault, endpoint.every = "refusal", 2
    design = model_design()
    site = open_site(address, design)
    play(site, design)
    data, records, _ = stored(site)
    assert verify_study(data) == []
    assert [record["by"] for record in records] == ["service", "takeover"] * (ROUNDS // 2)
    assert [record["record"]["outcome"] for record in records] == ["answer", "refusal"] * (ROUNDS // 2)
    file = tmp_path / "records.jsonl"
    shown = command("study", "services", "team", "--database", address, "--json", "--records", str(file))
    assert shown.exit_code == 0, shown.output
    (entry,) = json.loads(shown.stdout)["services"]
    assert (entry["player"], entry["moves"], entry["takeovers"]) == ("demo-model", ROUNDS, ROUNDS // 2)
    assert [json.loads(line) for line in file.read_text("utf-8").splitlines()] == records
    assert "service records" in str(site.query("SELECT * FROM audit"))
    text = command("study", "services", "team", "--database", address)
    assert f"{ROUNDS} moves, {ROUNDS // 2} of them taken over" in " ".join(text.stdout.split())
    monitored(site, entry)
    verified = command("study", "verify", "team", "--database", address)
    assert verified.exit_code == 0
    # With the agent: 4 moves of it, 4 of the person. With the model: 2 takeovers, 2 of the model, 4 of the person.
    assert "6 moves recomputed, 10 recorded." in verified.stdout
    assert (
        json.loads(command("study", "verify", "team", "--database", address, "--json").stdout)["recorded_moves"] == 10
    )


def monitored(site: Any, entry: dict[str, Any]) -> None:
    """The monitor has the same sums, with the cap; a blind account reads them without names."""
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})
    view = client.get("/api/admin/studies/1/teams").json()
    for _ in range(2):  # summed up, and from memory
        assert client.get("/api/admin/studies/1/teams").json()["services"] == view["services"]
    sums = {key: value for key, value in entry.items() if key not in ("kind", "player")}
    assert view["services"] == sums | {"max_moves": 10_000, "players": [entry]}
    assert (view["group"], view["teams"]) == (None, [])  # one person and a service are no team of people
    with site.database.writing.begin() as connection:
        write_setting(connection, "unblinded-1", "[]")
    blind = client.get("/api/admin/studies/1/teams")
    assert blind.json()["services"] == sums | {"max_moves": 10_000, "players": None}
    assert "demo-model" not in blind.text


FAULTS = {
    "filtered": "refusal",
    "malformed": "malformed",
    "wrong-arm": "malformed",
    "no-json": "malformed",
    "rate-limit": "rate limit",
    "server-error": "status 500",
    "echo-key": "status 500",
    "slow": "time-out",
    "cut": "cut",
    "no-schema": "answer",
}
"""What the endpoint does, and what the record says of it; without schemas it is asked once more, and answers."""


def test_no_fault_of_an_endpoint_loses_a_round(
    open_site: Callable[..., Any],
    address: str,
    endpoint: DemoServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    endpoint.every, endpoint.seconds, endpoint.retry_after = 1, 60.0, 120.0
    design = model_design(seconds=1)
    site = open_site(address, design)
    for fault in FAULTS:
        endpoint.fault = fault
        monkeypatch.setattr(chat, "_HEALTH", {})  # each fault meets an endpoint that nobody knows yet
        play(site, design)
    data, records, _ = stored(site)
    assert verify_study(data) == []
    assert all(episode.finished_at for person in data.participants for episode in person.episodes.values())
    outcomes = [record["record"]["outcome"] for record in records]
    first = [outcomes[ROUNDS * number] for number in range(len(FAULTS))]
    assert first == list(FAULTS.values())
    assert seat_moves(site) == ["takeover"] * (ROUNDS * (len(FAULTS) - 1)) + ["service"] * ROUNDS
    assert KEY not in json.dumps(records) + caplog.text
    assert caplog.text.count("A service did not move in round") == ROUNDS * (len(FAULTS) - 1)


class TestPolicies:
    """A user's own endpoint: the policy of the how-to guide."""

    @pytest.fixture
    def policy(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setenv("COBANDIT_SERVICE_SECRET", SECRET)
        with documented_policy() as module:
            yield module

    def design(self, policy: Any) -> StudyDesign:
        url = f"http://127.0.0.1:{policy.server.server_port}/policy"
        return service_seat({"kind": "http", "url": url, "retries": 0})

    def test_it_plays_by_signed_requests(self, open_site: Callable[..., Any], address: str, policy: Any) -> None:
        design = self.design(policy)
        site = open_site(address, design)
        play(site, design)
        data, records, _ = stored(site)
        assert verify_study(data) == []
        assert seat_moves(site) == ["service"] * ROUNDS
        assert [record["arm"] for record in records] == [answer["arm"] for answer in policy.ANSWERS.values()]
        assert [record["evidence"] for record in records] == [
            fingerprint({"request": asked["request"], "answer": asked["reply"]})
            for asked in (record["record"]["attempts"][-1] for record in records)
        ]
        assert SECRET not in json.dumps(records)
        log = next(log for log in data.participants[0].episodes.values() if log.by)
        history = records[-1]["record"]["attempts"][0]["request"]["history"]
        assert [past["arms"] for past in history] == log.arms.tolist()[:-1]
        assert [past["seen"] for past in history] == log.seen[:-1, 1].tolist()

    def test_another_secret_is_refused_and_an_agent_plays(
        self, open_site: Callable[..., Any], address: str, policy: Any
    ) -> None:
        policy.SECRET = b"another-secret-of-32-characters!"
        design = self.design(policy)
        site = open_site(address, design)
        play(site, design)
        data, records, _ = stored(site)
        assert verify_study(data) == []
        assert policy.ANSWERS == {}
        assert seat_moves(site) == ["takeover"] * ROUNDS
        assert [record["record"]["outcome"] for record in records] == ["status 401"] * ROUNDS

    def test_it_dies_in_the_middle(self, open_site: Callable[..., Any], address: str, policy: Any) -> None:
        choose = policy.choose

        def mortal(request: dict[str, Any]) -> int:
            if request["t"] == 3:
                policy.server.shutdown()
                policy.server.server_close()
                raise ConnectionAbortedError
            return int(choose(request))

        policy.choose, policy.server.handle_error = mortal, lambda *_: None
        design = self.design(policy)
        site = open_site(address, design)
        play(site, design)
        data, records, _ = stored(site)
        assert verify_study(data) == []
        assert seat_moves(site) == ["service"] * 2 + ["takeover"] * 2
        assert [record["record"]["outcome"] for record in records] == ["answer", "answer", "cut", "unreachable"]


def test_the_limit_of_moves_holds_over_restarts(
    open_site: Callable[..., Any], address: str, endpoint: DemoServer
) -> None:
    design = model_design(max_moves=3)
    site = open_site(address, design)
    play(site, design)
    data, records, count = stored(site)
    assert verify_study(data) == []
    assert (count, len(records), len(endpoint.requests)) == (3, 3, 3)
    assert site.query("SELECT by, count(*) FROM moves WHERE seat = 1 GROUP BY by ORDER BY by") == [
        ("service", 3),
        ("takeover", 1),
    ]


def test_a_dead_endpoint_costs_no_round(
    open_site: Callable[..., Any], address: str, endpoint: DemoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.URL, "http://127.0.0.1:9/v1")
    design = model_design()
    site = open_site(address, design)
    play(site, design)
    data, records, _ = stored(site)
    assert verify_study(data) == []
    assert [record["by"] for record in records] == ["takeover"] * ROUNDS
