"""The monitor is blind to conditions until somebody asks, and the audit log keeps that."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from cobandit.report.kit.palette import COLOURS, DARK_COLOURS
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.design_schema import design_schema
from cobandit.web import WebConfig, create_app, pages
from cobandit.web.access import grant_login
from cobandit.web.services.accounts import add_account
from cobandit.web.services.blinding import letters
from cobandit.web.storage.studies import study_by_id
from tests.parameters import quick

STUDY = "/api/admin/studies/1"


@pytest.fixture
def blind(site: Any, admin: httpx.Client) -> httpx.Client:
    """A researcher who has not asked yet."""
    assert admin.post(f"{STUDY}/blind").json() == {"done": True}
    return admin


def _audit(site: Any) -> list[tuple[str, str]]:
    return [tuple(row) for row in site.query("SELECT by, study FROM audit WHERE action = 'unblinded'")]


def test_nothing_tells_the_conditions_apart(site: Any, short: StudyDesign, blind: httpx.Client) -> None:
    person = site.person()
    person.go_on(short, "survey-1")
    name = site.public_id(person.token)
    answers = [
        blind.get(f"{STUDY}/{what}")
        for what in ("live", "curves", f"participants/{name}", f"participants/{name}/episodes/1")
    ]
    live, curves, view, rounds = (answer.json() for answer in answers)
    for answer in answers:
        assert answer.status_code == 200
        for condition in short.conditions:
            assert condition.name not in answer.text
    assert (live["blind"], curves["blind"], view["blind"]) == (True, True, True)
    assert [row["name"] for row in live["conditions"]] == ["A", "B"]
    assert [row["order"] for row in live["orders"]] == [["A", "B"], ["B", "A"]]
    assert curves["conditions"] == []
    [entry] = live["participants"]
    begun = next(row["name"] for row in live["conditions"] if row["begun"])
    assert entry["order"][0] == begun
    assert live["orders"][entry["order_index"]]["order"] == entry["order"]
    assert {row["condition"] for row in view["episodes"]} <= {"practice", "A", "B"}
    assert set(json.dumps([row["predictions"] for row in rounds["rounds"]])) <= set("[]nul, ")


SCHEMA = "/api/admin/designs/schema"
PERSON = "/api/admin/studies/{number}/participants/{participant}/episodes/{episode}"
REFUSED = {
    "assistant": {
        **dict.fromkeys(("/api/admin/designs", SCHEMA, "/api/admin/designs/{number}", "/api/admin/log"), "not-allowed"),
        **{
            f"/api/admin/studies/{{number}}/{part}": "not-allowed"
            for part in ("links", "payments", "results", "results.zip")
        },
        **dict.fromkeys(("/api/admin/robot", PERSON), "not-found"),
    },
    "researcher": {
        **{f"/api/admin/studies/{{number}}/{part}": "blind" for part in ("results", "results.zip")},
        **dict.fromkeys(("/api/admin/designs/{number}", "/api/admin/robot", PERSON), "not-found"),
    },
}
"""The code of the only refusal of a route, by role; an episode that nobody has begun is not found."""
OUTCOMES = {"regret", "round_regret", "task_regret", "mean", "means", "reward", "good", "seen", "predictions", "cells"}
"""Keys under which nothing may stand while an account is blind."""


def _leaves(data: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value of a JSON document that is no list and no object, with the keys that lead to it."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, *path, key)
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from _leaves(value, *path, place)
    else:
        yield path, data


def _leaks(body: Any, design: StudyDesign) -> list[tuple[str | int, ...]]:
    """Where a document tells conditions, outcomes, or what the AI did; words for outcomes are no outcomes."""
    seat = design.participant_seat
    names = {condition.name for condition in design.conditions}
    leaks = []
    for path, value in _leaves(body):
        ais_move = len(path) >= 2 and path[-2] == "arms" and "rounds" in path and path[-1] != seat
        outcome = bool(OUTCOMES & set(path)) and "words" not in path
        if value in names or (value is not None and (outcome or ais_move)):
            leaks.append(path)
    return leaks


def _json_routes(site: Any) -> list[str]:
    app = create_app(WebConfig(site.config.database))
    paths = [
        path for path, methods in app.openapi()["paths"].items() if path.startswith("/api/admin") and "get" in methods
    ]
    app.state.database.close()
    return [path for path in paths if not path.endswith(("/stream", ".csv", ".jsonl", "/export"))]


@pytest.mark.parametrize("role", ["assistant", "researcher"])
def test_no_route_tells_a_blind_account_outcomes_means_or_moves(site: Any, short: StudyDesign, role: str) -> None:
    finished, playing = site.person(), site.person()
    finished.go_on(short)
    state = playing.go_on(short, "episode-1")
    assert playing.send(state["episode"]["index"], (1, 0, "first-move"), (2, 1, "second-move")).status_code == 200
    site.change(
        "INSERT INTO events (participant_id, at, kind, data) SELECT id, 1, 'robot-asked', :data FROM participants",
        data='{"stacked-arms": [7]}',
    )
    with site.database.write() as connection:
        add_account(connection, "owner", "anna", role)
        token, _ = grant_login(connection, "anna", "program")
    client = site.client(headers={"authorization": f"Bearer {token}"})
    means = {
        repr(float(mean))
        for person in (finished, playing)
        for episode in range(5)
        for mean in site.plan_of(short, person.token).episode(episode).means.ravel()
    }
    answered, refused = 0, set()
    for route in _json_routes(site):
        for person in (finished, playing):
            for episode in range(5) if "{episode}" in route else (0,):
                address = route.format(number=1, participant=site.public_id(person.token), episode=episode, session="x")
                answer = client.get(address)
                answered += answer.status_code == 200
                if answer.status_code != 200:
                    refused.add(route)
                    assert answer.json()["error"] == REFUSED[role].get(route), (address, answer.text)
                    continue
                assert not any(mean in answer.text for mean in means if len(mean) > 4), address
                assert "stacked-arms" not in answer.text
                if role == "assistant" or route == SCHEMA:
                    assert person.token not in answer.text, address
                if route == SCHEMA:
                    assert answer.json() == design_schema()  # of any design: it knows no study
                elif route == "/api/admin/studies":  # names the conditions of the design, in its order
                    listed = [("studies", 0, "conditions", place) for place in range(len(short.conditions))]
                    assert _leaks(answer.json(), short) == listed
                else:
                    assert _leaks(answer.json(), short) == [], address
    assert refused == set(REFUSED[role])
    assert answered > 10
    with client.stream("GET", f"{STUDY}/stream") as stream:
        tick = next(line for line in stream.iter_lines() if line.startswith("data:"))
    assert tick == "data: {}"


NOISY = {
    "observation": "noisy",
    "observability": [1.0, 1.0],
    "rewards": {"kind": "gaussian", "noise": [0.1, 0.2]},
}
DIFFERENCES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "rounds": ("softmax", {"rounds": 2}, {}),
    "delay": ("softmax", {"delay": 1}, {}),
    "roles": ("partner-aware-ucb", {"roles": [1, 0]}, {}),
    "actions": ("mucb", {"actions": "hidden"}, {}),
    "noise": ("partner-aware-ucb", {"noise": [0.1, 3.0]}, NOISY),
    "robot": ("softmax", {"robot": False}, {}),
}
"""What one condition has in place of the design's, with an agent for both and what the design needs for it."""


def _two(key: str, first: bool) -> StudyDesign:
    """A study of two conditions that differ in one key; ``first``: the first of them has it."""
    agent, own, changes = DIFFERENCES[key]
    data = load_design("burger" if key == "robot" else "three-by-three").to_dict() | {"quiz": [], "attention": []}
    data |= {"name": "two", "rounds": 3, "episodes": 1, "practice": None, "partners": [], "demographics": []}
    data |= {"languages": ["en"], "translations": {}, "swap_labels": False, "warm_start": None} | changes
    data["survey"] |= {"shuffled": False}
    data["conditions"] = [{"name": "x", "agent": agent}, {"name": "y", "agent": agent}]
    data["conditions"][0 if first else 1] |= own
    return StudyDesign.from_dict(data)


_RANDOM = re.compile(r'"(at|now|cursor|last_seen|idle_seconds|\w+_at)": (\d+|null)|"(code|url)": "[^"]+"|p-\w+')


def _seen_blind(site: Any, admin: httpx.Client, person: Any) -> str:
    """Everything that a blind account reads of a study and its participant, without times, pseudonyms and codes."""
    name = site.public_id(person.token)
    about = f"participants/{name}"
    paths = ("live?sort=progress", "curves", "teams", about, f"{about}/episodes/0", f"{about}/episodes/1")
    read = {path.replace(name, "who"): admin.get(f"{STUDY}/{path}").json() for path in paths}
    return _RANDOM.sub("", json.dumps(read, indent=1, sort_keys=True))


def _sights(site: Any, design: StudyDesign) -> list[str]:
    """What a blind account reads in the first set, after it and at the end; the robot acts in every round of it."""
    site.change("UPDATE studies SET seed = '7'")
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    admin.post(f"{STUDY}/blind")
    person, seen = site.person("two"), []
    state = person.go_on(design, "episode")
    assert person.send(state["episode"]["index"], (1, 0, "first-move")).status_code == 200
    seen.append(_seen_blind(site, admin, person))
    order = site.plan_of(design, person.token).conditions
    for until, condition in zip(("survey-1", None), order, strict=True):
        person.go_on(design, until)
        rounds = design.rounds_of(condition)
        events = [("input", json.dumps({"clicks": rounds}))]
        events += [("robot-done", "{}")] * (rounds if design.has_robot(condition) else 0)
        for kind, data in events:
            insert = "INSERT INTO events (participant_id, at, kind, data) SELECT id, 1, :kind, :data FROM participants"
            site.change(insert, kind=kind, data=data)
        seen.append(_seen_blind(site, admin, person))
    return [order[0], *seen]


@pytest.mark.parametrize("key", quick(DIFFERENCES, ["rounds", "robot"]))
def test_what_differs_between_conditions_does_not_tell_their_letters(
    open_site: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """The same person plays the same rounds, and either condition has the key: a blind account reads the same."""
    monkeypatch.setattr("cobandit.web.services.live.CHEAP_SECONDS", 600.0)  # counts are never those of a while ago
    designs = [_two(key, first) for first in (True, False)]
    one, other = (
        _sights(open_site(f"sqlite:///{tmp_path / f'{place}.sqlite'}", design), design)
        for place, design in enumerate(designs)
    )
    for look, swapped in zip(one, other, strict=True):
        assert not "\n".join(difflib.unified_diff(look.splitlines(), swapped.splitlines(), n=1, lineterm=""))
    assert '"blind": true' in one[1]


def test_survey_ratings_are_hidden_and_attention_checks_are_not(
    site: Any, short: StudyDesign, blind: httpx.Client
) -> None:
    person = site.person()
    person.go_on(short)
    address = f"{STUDY}/participants/{site.public_id(person.token)}"
    checks = {check.id for check in short.attention}

    def ratings() -> dict[str, Any]:
        steps = [step for step in blind.get(address).json()["answers"] if step["kind"] == "survey"]
        assert len(steps) == 2
        return {item["id"]: item["value"] for step in steps for item in step["items"]}

    assert {id for id, value in ratings().items() if value is not None} == checks
    blind.post(f"{STUDY}/unblind")
    assert None not in ratings().values()


def test_sorting_by_order_does_not_tell_the_letters(site: Any, short: StudyDesign, blind: httpx.Client) -> None:
    for _ in range(4):
        site.person()
    mappings = set()
    for seed in range(20):
        site.change("UPDATE studies SET seed = :seed", seed=str(seed))
        with site.database.read() as connection:
            study = study_by_id(connection, 1)
        assert study is not None
        mappings.add(tuple(letters(study).items()))
        listed = blind.get(f"{STUDY}/live", params={"sort": "order"}).json()["participants"]
        orders = [entry["order"] for entry in listed]
        assert orders == sorted(orders)
        assert orders[0] != orders[-1]
    assert len(mappings) == 2  # so that one of them is not the design's own sequence


def test_a_role_without_the_right_stays_blind_whatever_is_stored(site: Any, short: StudyDesign) -> None:
    person = site.person()
    person.go_on(short, "survey-1")
    with site.database.write() as connection:
        add_account(connection, "owner", "anna", "assistant")
        token, _ = grant_login(connection, "anna", "program")
    site.change("INSERT INTO settings (name, value) VALUES ('unblinded-1', '[\"anna\"]')")
    client = site.client(headers={"authorization": f"Bearer {token}"})
    assert client.get(f"{STUDY}/live").json()["blind"] is True
    assert client.get(f"{STUDY}/curves").json()["blind"] is True


def test_asking_is_written_down_once_and_shows_them(site: Any, short: StudyDesign, blind: httpx.Client) -> None:
    site.person().go_on(short)
    assert blind.post(f"{STUDY}/unblind").json() == {"done": True}
    blind.post(f"{STUDY}/unblind")
    assert _audit(site) == [("owner", "short v1")]
    live, curves = blind.get(f"{STUDY}/live").json(), blind.get(f"{STUDY}/curves").json()
    assert [row["name"] for row in live["conditions"]] == [condition.name for condition in short.conditions]
    assert (live["blind"], curves["blind"]) == (False, False)
    assert {row["name"]: row["number"] for row in curves["conditions"]} == {"naive-ucb": 1, "partner-aware-ucb": 0}
    blind.post(f"{STUDY}/blind")
    assert blind.get(f"{STUDY}/live").json()["blind"] is True


def test_simulated_people_are_shown_as_they_are(site: Any, blind: httpx.Client, short: StudyDesign) -> None:
    site.arrive(client=blind, rehearsal=True)
    live = blind.get(f"{STUDY}/live", params={"kind": "rehearsal"}).json()
    assert live["blind"] is False
    assert live["participants"][0]["order"][0] in {condition.name for condition in short.conditions}
    assert _audit(site) == []


def test_an_algorithm_has_one_colour_in_reports_and_on_the_monitor() -> None:
    style = pages.PACKAGE.joinpath("static", "admin", "admin.css").read_text(encoding="utf-8")
    light, dark = (re.findall(r"--c\d: (#[0-9a-f]{6})", part) for part in style.split("prefers-color-scheme: dark", 1))
    assert light == [colour.lower() for colour in COLOURS]
    assert dark == [colour.lower() for colour in DARK_COLOURS]
