"""One arm in a lab: the queue, the log, and recovery, over HTTP and with arms that break when they are told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from cobandit.robot import NullArm, Outcome
from cobandit.studies import StudyDesign
from cobandit.web.services.robot import server
from tests.clients import PATIENCE
from tests.web.servers import until


class HandlessArm(NullArm):
    """An arm that needs nobody: it does everything at once, but what it is told to fail at."""

    def __init__(self) -> None:
        super().__init__()
        self.failing: list[str] = []
        self.placed: list[str] = []
        self.waits: threading.Event | None = None
        self.reachable = True

    def connect(self) -> Outcome:
        return super().connect() if self.reachable else Outcome("lost", "The robot cannot be reached.")

    def prepare(self) -> Outcome:
        return Outcome("done", "Everything is laid out.")

    def pick(self, item: str) -> Outcome:
        if item in self.failing:
            self.failing.remove(item)
            return Outcome("failed", f"The {item} slipped.")
        return self._refusal() or Outcome("done", "Held.")

    def place(self, item: str, stack: Sequence[str]) -> Outcome:
        if self.waits is not None:
            self.waits.wait(PATIENCE)
        refusal = self._refusal()
        if refusal is None:
            self.placed.append(item)
        return refusal or Outcome("done", "Placed.", 0.5)

    def await_person(self, item: str, stack: Sequence[str]) -> Outcome:
        self.placed.append(item)
        return Outcome("done", "Placed.")


class Room:
    """A lab: the server, the experimenter's console, and the arm."""

    def __init__(self, site: Any, design: StudyDesign, arm: Any) -> None:
        self.site, self.design, self.arm = site, design, arm
        self.admin: httpx.Client = site.client()
        self.admin.headers["authorization"] = f"Bearer {site.login()}"

    def console(self) -> dict[str, Any]:
        answer = self.admin.get("/api/admin/robot")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def press(self, what: str, **body: Any) -> httpx.Response:
        return self.admin.post(f"/api/admin/robot/{what}", json=body)

    def player(self) -> Any:
        person = self.site.person()
        person.go_on(self.design, until="episode")
        return person

    def choose(self, person: Any, t: int, arm: int = 0) -> httpx.Response:
        response: httpx.Response = person.send(0, (t, arm, f"choice-{t:04}-{arm}"))
        return response

    def waits_for(self, person: Any) -> str | None:
        wait: str | None = person.client.get(f"{person.path}/robot").json()["robot"]["wait"]
        return wait

    def free(self, person: Any) -> None:
        until(lambda: self.waits_for(person) is None, "the participant may go on")

    def events(self, person: Any) -> list[tuple[str, dict[str, Any]]]:
        rows = self.site.query(
            "SELECT e.kind, e.data FROM events e JOIN participants p ON p.id = e.participant_id "
            "WHERE p.token = :t AND e.kind LIKE 'robot%' ORDER BY e.id",
            t=person.token,
        )
        return [(kind, json.loads(data)) for kind, data in rows]

    def kinds(self, person: Any) -> list[str]:
        return [kind.removeprefix("robot-") for kind, _ in self.events(person)]


OpenRoom = Callable[..., Room]


@pytest.fixture
def open_room(
    open_site: Callable[..., Any], short_sqlite: str, short: StudyDesign, monkeypatch: pytest.MonkeyPatch
) -> OpenRoom:
    def start(arm: Any = None) -> Room:
        made = HandlessArm() if arm is None else arm
        monkeypatch.setattr(server, "make_arm", lambda *_, **__: made)
        return Room(open_site(short_sqlite, robot="null"), short, made)

    return start


def test_a_burger_is_stacked_after_its_round_is_stored_and_logged_once(open_room: OpenRoom) -> None:
    room = open_room()
    person = room.player()
    assert person.state()["robot"] == {"kind": "lab", "wait": None, "burger": None}
    assert room.choose(person, 1).status_code == 200
    room.free(person)
    kinds = room.kinds(person)
    assert kinds[0] == "asked"
    assert kinds[-1] == "done"
    assert set(kinds[1:-1]) == {"step"}
    assert room.arm.placed[0] in ("patty", "cheese")
    assert room.arm.placed[-1] == "top_bun"
    assert room.choose(person, 1).status_code == 200, "the same choice again"
    assert room.kinds(person) == kinds, "and no second burger"
    assert room.choose(person, 2).status_code == 200
    room.free(person)
    assert room.kinds(person).count("done") == 2


def test_the_next_choice_waits_for_the_arm(open_room: OpenRoom) -> None:
    room = open_room()
    room.arm.waits = threading.Event()
    person = room.player()
    room.choose(person, 1)
    refused = room.choose(person, 2)
    assert refused.status_code == 409
    assert refused.json()["error"] == "robot-stacking"
    assert refused.json()["state"]["robot"]["wait"] == "stacking"
    assert refused.json()["state"]["episode"]["played"] == 1
    room.arm.waits.set()
    room.free(person)
    assert room.choose(person, 2).status_code == 200


def test_several_choices_at_once_are_refused_whole(open_room: OpenRoom) -> None:
    room = open_room()
    person = room.player()
    assert person.send(0, (1, 0, "choice-0001"), (2, 0, "choice-0002")).status_code == 409
    assert person.state()["episode"]["played"] == 0


def test_a_second_participant_is_told_that_the_robot_is_busy(open_room: OpenRoom) -> None:
    room = open_room()
    first, second = room.player(), room.site.person()
    state = second.go_on(room.design, until="episode")
    assert state["robot"]["wait"] == "busy"
    refused = room.choose(second, 1)
    assert (refused.status_code, refused.json()["error"]) == (409, "robot-busy")
    assert room.console()["holder"] == room.site.public_id(first.token)
    assert room.press("release").status_code == 200
    assert second.state()["robot"]["wait"] is None
    assert first.state()["robot"]["wait"] == "busy"


def test_whoever_is_through_leaves_the_robot_to_the_next(open_room: OpenRoom) -> None:
    room = open_room()
    first = room.player()
    while (state := first.state())["step"]["kind"] != "thanks":
        if state["step"]["kind"] == "episode":
            view = state["episode"]
            room.free(first)
            key = f"choice-{view['index']}-{view['played']:04}"
            assert first.send(view["index"], (view["played"] + 1, 0, key)).status_code == 200
        else:
            first.answer(state["step"]["id"], first.good_answers(state, room.design))
    second = room.site.person()
    until(lambda: second.go_on(room.design, until="episode")["robot"]["wait"] is None, "the robot is free")


def test_the_arm_rests_in_a_condition_without_robot(
    open_site: Callable[..., Any], sqlite: str, short: StudyDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = short.to_dict()
    data["conditions"][0]["robot"] = False
    design, arm = StudyDesign.from_dict(data), HandlessArm()
    monkeypatch.setattr(server, "make_arm", lambda *_, **__: arm)
    room = Room(open_site(sqlite, design, robot="null"), design, arm)
    person, shown = room.player(), list[bool]()
    while (state := person.state())["step"]["kind"] != "thanks":
        if state["step"]["kind"] != "episode":
            person.answer(state["step"]["id"], person.good_answers(state, design))
            continue
        view = state["episode"]
        if view["played"] == 0:
            shown.append("robot" in state)
        if shown[-1]:
            room.free(person)
        else:
            assert person.client.get(f"{person.path}/robot").json()["robot"] is None
        key = f"choice-{view['index']}-{view['played']:04}"
        assert person.send(view["index"], (view["played"] + 1, 0, key)).status_code == 200
    [(order,)] = room.site.query("SELECT order_index FROM participants WHERE token = :t", t=person.token)
    assert design.practice is not None
    practice = [True] * design.practice.episodes
    wanted = [design.has_robot(name) for name in design.orders[order] for _ in range(design.episodes)]
    assert shown == practice + wanted
    rounds = design.practice.rounds * design.practice.episodes + design.rounds * design.episodes
    assert room.kinds(person).count("asked") == rounds


def test_simulated_people_do_not_wait_for_the_arm(open_room: OpenRoom) -> None:
    room = open_room()
    bearer = {"authorization": room.admin.headers["authorization"]}
    client = room.site.client(headers=bearer)
    arrived = room.site.arrive(client=client, rehearsal=True)
    assert arrived.status_code == 201
    person = type(room.player())(client, arrived.json()["token"])
    assert "robot" not in person.go_on(room.design, until="episode")


class TestTrouble:
    def test_after_a_slip_the_burger_goes_on_where_it_was(self, open_room: OpenRoom) -> None:
        room = open_room()
        room.arm.failing = ["lettuce"]
        person = room.player()
        room.choose(person, 1)
        until(lambda: room.waits_for(person) == "stopped", "the arm has stopped")
        burger = room.console()["burger"]
        assert "slipped" in burger["message"]
        before = len(room.arm.placed)
        assert sum(layer["done"] for layer in burger["layers"]) == before
        assert room.press("retry").status_code == 200
        room.free(person)
        assert sorted(room.arm.placed) == ["cheese", "lettuce", "patty", "tomato", "top_bun"], "none is placed twice"
        assert [kind for kind in room.kinds(person) if kind != "step"] == ["asked", "trouble", "retry", "done"]
        assert person.state()["episode"]["played"] == 1

    def test_a_skipped_burger_lets_the_participant_go_on(self, open_room: OpenRoom) -> None:
        room = open_room()
        room.arm.failing = ["tomato"]
        person = room.player()
        room.choose(person, 1)
        until(lambda: room.waits_for(person) == "stopped", "the arm has stopped")
        name = room.console()["burger"]["name"]
        assert room.press("skip", burger=name).status_code == 200
        assert room.waits_for(person) is None
        late = room.press("skip", burger=name)
        assert (late.status_code, late.json()["error"]) == (409, "no-burger")
        assert room.kinds(person).count("skipped") == 1
        assert person.state()["episode"]["played"] == 1
        room.choose(person, 2)
        room.free(person)
        assert room.kinds(person)[-1] == "done", "the next burger is stacked as ever"

    def test_a_robot_that_cannot_be_reached_holds_no_round_up(self, open_room: OpenRoom) -> None:
        room = open_room()
        until(lambda: room.console()["connected"], "connected")
        room.arm.disconnect()
        room.arm.reachable = False
        person = room.player()
        assert room.choose(person, 1).status_code == 200
        until(lambda: room.waits_for(person) == "stopped", "the arm is lost")
        assert "cannot be reached" in room.console()["burger"]["message"]
        room.arm.reachable = True
        assert room.press("retry").status_code == 200
        room.free(person)

    def test_an_arm_that_breaks_the_protocol_stops_and_nothing_more(self, open_room: OpenRoom) -> None:
        class Rude(HandlessArm):
            def pick(self, item: str) -> Outcome:
                raise RuntimeError("a bug of the driver's")

        room = open_room(Rude())
        person = room.player()
        room.choose(person, 1)
        until(lambda: room.waits_for(person) == "stopped", "the arm has stopped")
        assert "a bug of the driver's" in room.console()["burger"]["message"]
        room.press("skip", burger=room.console()["burger"]["name"])
        room.free(person)


class TestStop:
    def test_stop_ends_what_is_under_way_and_holds_until_somebody_says_go_on(self, open_room: OpenRoom) -> None:
        room = open_room(NullArm())
        person = room.player()
        room.choose(person, 1)
        until(lambda: room.console()["request"], "something is asked for")
        assert room.press("stop").status_code == 200
        until(lambda: room.waits_for(person) == "stopped", "stopped")
        assert room.console()["halted"]
        name = room.console()["burger"]["name"]
        room.press("skip", burger=name)
        room.choose(person, 2)
        until(lambda: room.waits_for(person) == "stopped", "the next burger does not begin by itself")
        assert room.press("retry").status_code == 200
        until(lambda: room.console()["request"], "now it does")
        assert room.press("retry").status_code == 409, "nothing is stopped"
        kinds = [kind for kind in room.kinds(person) if kind != "step"]
        assert kinds.count("stop") == 1
        assert kinds.count("retry") == 1

    def test_skipping_ends_a_burger_that_is_under_way(self, open_room: OpenRoom) -> None:
        room = open_room(NullArm())
        person = room.player()
        room.choose(person, 1)
        until(lambda: room.console()["request"], "something is asked for")
        assert room.press("skip", burger=room.console()["burger"]["name"]).status_code == 200
        room.free(person)
        assert room.kinds(person).count("skipped") == 1
        assert "trouble" not in room.kinds(person)


class TestByHand:
    def test_what_was_asked_for_is_confirmed_once_and_by_whom_it_concerns(self, open_room: OpenRoom) -> None:
        room = open_room(NullArm())
        person = room.player()
        room.choose(person, 1, arm=1)
        confirmed = 0
        while room.waits_for(person) is not None:
            request = room.console()["request"]
            if request is None:
                time.sleep(0.01)
                continue
            own = request["by"] == "person"
            by_participant = person.client.post(f"{person.path}/robot/placed", json={"request": request["number"]})
            assert by_participant.status_code == (204 if own else 409)
            by_experimenter = room.press("placed", request=request["number"])
            assert by_experimenter.status_code == (409 if own else 200), "each is confirmed once"
            confirmed += 1
        assert confirmed >= 5
        assert room.kinds(person).count("placed") == confirmed
        assert room.kinds(person)[-1] == "done"


def test_a_server_that_starts_again_finds_the_burger_it_left(
    open_site: Callable[..., Any], short_sqlite: str, short: StudyDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = [HandlessArm(), HandlessArm()]
    arms[0].failing = ["tomato", "lettuce"]
    monkeypatch.setattr(server, "make_arm", lambda *_, **__: arms[0])
    first = Room(open_site(short_sqlite, robot="null"), short, arms[0])
    person = first.player()
    first.choose(person, 1)
    until(lambda: first.waits_for(person) == "stopped", "the arm has stopped")
    monkeypatch.setattr(server, "make_arm", lambda *_, **__: arms[1])
    again = Room(open_site(short_sqlite, robot="null"), short, arms[1])
    person.client = again.site.client()
    assert again.waits_for(person) == "stopped"
    assert "restarted" in again.console()["burger"]["message"]
    assert again.press("retry").status_code == 200
    again.free(person)
    assert len(arms[0].placed) + len(arms[1].placed) == 5, "it goes on at its layer"
    assert again.kinds(person)[-1] == "done"
