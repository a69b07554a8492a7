"""Who is where at this moment."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.web.services.live import OVERLAP_MS
from cobandit.web.storage.listing import STATUSES
from tests.clients import PATIENCE
from tests.web.servers import until

STUDY = "/api/admin/studies/1"


def test_who_is_where(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    finished, playing, idle, dropped = (site.person() for _ in range(4))
    finished.go_on(short)
    playing.go_on(short, "episode-3")
    playing.send(3, (1, 0, uuid.uuid4().hex), (2, 1, uuid.uuid4().hex))
    idle.go_on(short, "quiz")
    for person, seconds in ((idle, short.limits.warn_seconds), (dropped, short.limits.idle_seconds)):
        late = 1000 * (seconds + 5)
        site.change("UPDATE participants SET last_seen = last_seen - :d WHERE token = :t", d=late, t=person.token)
    admin.post(f"{STUDY}/links", json={"labels": ["Ann"]})
    live = admin.get(f"{STUDY}/live").json()
    by_name = {person["participant"]: person for person in live["participants"]}
    at = {who: by_name[site.public_id(who.token)] for who in (finished, playing, idle, dropped)}
    assert [at[who]["status"] for who in (finished, playing, idle, dropped)] == [
        "finished",
        "active",
        "idle",
        "dropped",
    ]
    assert live["counts"]["real"] == {"active": 1, "idle": 1, "dropped": 1, "invited": 1, "finished": 1, "removed": 0}
    assert at[finished]["step"] == {"kind": "thanks", "id": "thanks"}
    assert at[finished]["progress"]["done"] == at[finished]["progress"]["total"]
    assert at[finished]["rounds"] == {"played": 22, "total": 22}
    for who in (finished, playing, idle, dropped):
        state = who.state()  # the participant's own view agrees
        assert at[who]["step"] == state["step"]
        assert at[who]["progress"] == state["progress"]
    seen = at[playing]["episode"]
    assert (seen["set"], seen["place"], seen["of"], seen["played"], seen["rounds"]) == (2, 1, 2, 2, 5)
    assert at[playing]["rounds"]["played"] == 2 + 2 * 5 + 2
    assert short.limits.warn_seconds <= at[idle]["idle_seconds"] < short.limits.idle_seconds
    [invited] = [person for person in live["participants"] if person["status"] == "invited"]
    assert (invited["label"], invited["order"], invited["idle_seconds"]) == ("Ann", None, None)
    assert sum(sum(order["counts"].values()) for order in live["orders"]) == 4
    first, second = at[playing]["order"]
    done = {condition["name"]: condition for condition in live["conditions"]}
    assert sum(condition["begun"] for condition in done.values()) == 4
    assert done[first]["finished"] == 2
    assert done[second]["finished"] == 1
    assert live["participants"][0]["url"].startswith(site.url + "/p/")
    assert admin.get(f"{STUDY}/live", params={"kind": "demo"}).json()["participants"] == []


def _share(entry: dict[str, Any]) -> float:
    """How far somebody is, as the bar on the page has it."""
    episode = entry["episode"]
    played = 0.0 if episode is None else episode["played"] / episode["rounds"]
    steps: float = entry["progress"]["done"] + played
    return steps / entry["progress"]["total"] if entry["status"] != "finished" else 1.0


@pytest.mark.parametrize("where", ["short_sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_a_page_of_people(
    open_site: Callable[..., Any], short: StudyDesign, request: pytest.FixtureRequest, where: str
) -> None:
    """The database filters, sorts and cuts as the page would do it with everybody at hand."""
    site = open_site(request.getfixturevalue(where), short)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    people = [site.person() for _ in range(5)]
    for person, step in zip(people, (None, "episode-3", "episode-3", "quiz", "demographics"), strict=True):
        person.go_on(short, step)
    people[1].send(3, (1, 0, uuid.uuid4().hex), (2, 1, uuid.uuid4().hex))
    admin.post(f"{STUDY}/links", json={"labels": ["100 % Ann", "annA", "Bo_b"]})

    def live(**query: Any) -> dict[str, Any]:
        answer: dict[str, Any] = admin.get(f"{STUDY}/live", params=query).json()
        return answer

    everybody = live()["participants"]
    assert live()["total"] == len(everybody) == 8
    keys: dict[str, Callable[[dict[str, Any]], Any]] = {
        "participant": lambda entry: entry["participant"],
        "status": lambda entry: STATUSES.index(entry["status"]),
        "progress": _share,
        "last_seen": lambda entry: entry["last_seen"] or 0,
        "started_at": lambda entry: entry["started_at"] or entry["created_at"],
        "order": lambda entry: -1 if entry["order_index"] is None else entry["order_index"],
    }
    for sort, key in keys.items():
        wanted = sorted(everybody, key=lambda entry: (key(entry), entry["participant"]))
        names = [entry["participant"] for entry in wanted]
        assert live(sort=sort)["page"] == names, sort
        assert live(sort=sort, down=True, offset=2, limit=3)["page"] == names[::-1][2:5], sort
    assert live(status="invited", limit=1)["total"] == 3
    found = {
        word: [entry["label"] for entry in live(search=word)["participants"]] for word in ("ANN", "%", "o_", "z z")
    }
    assert found == {"ANN": ["100 % Ann", "annA"], "%": ["100 % Ann"], "o_": ["Bo_b"], "z z": []}
    assert live(offset=8)["page"] == []


def test_only_what_has_changed(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    here, there = site.person(), site.person()
    long_ago = 3 * OVERLAP_MS
    site.change("UPDATE participants SET last_seen = last_seen - :d, created_at = created_at - :d", d=long_ago)
    first = admin.get(f"{STUDY}/live").json()
    assert len(first["participants"]) == 2
    here.go_on(short, "quiz")
    then = admin.get(f"{STUDY}/live", params={"since": first["cursor"]}).json()
    assert then["page"] == first["page"] == [site.public_id(here.token), site.public_id(there.token)]
    assert [(entry["participant"], entry["step"]["id"]) for entry in then["participants"]] == [
        (site.public_id(here.token), "quiz")
    ]
    # Idle by time alone.
    seen = first["now"] - 1000 * short.limits.warn_seconds - 1
    site.change("UPDATE participants SET last_seen = :s WHERE token = :t", s=seen, t=there.token)
    earlier = {"since": first["now"] - OVERLAP_MS}
    idle = admin.get(f"{STUDY}/live", params=earlier).json()["participants"]
    assert {entry["participant"]: entry["status"] for entry in idle}[site.public_id(there.token)] == "idle"
    # The clock was set back: nobody knows what is new.
    assert len(admin.get(f"{STUDY}/live", params={"since": first["now"] + 10**7}).json()["participants"]) == 2


def test_a_large_study_is_counted_once_for_all_who_watch(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where counting takes long, whoever asks soon afterwards is told what was counted."""
    counted: list[int] = []

    def counting(connection: Any, study: Any, now: int) -> list[Any]:
        counted.append(now)
        return []

    clock = iter(range(0, 10_000, 1000))
    monkeypatch.setattr("cobandit.web.services.live.headcounts", counting)
    monkeypatch.setattr("cobandit.web.services.live.monotonic", lambda: next(clock) / 1000)
    header = {"authorization": f"Bearer {site.login()}"}
    client = site.client(headers=header)
    views = [client.get(f"{STUDY}/live").json()["counts"] for _ in range(4)]
    assert len(counted) == 1  # it took a second, so it holds for twenty
    assert views == [views[0]] * 4


def test_watching_does_not_hold_up_participants(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More researchers at once than there are threads to read with: participants are answered meanwhile."""
    read, reading = threading.Event(), []

    def slowly(*args: Any, **options: Any) -> tuple[int, list[Any]]:
        reading.append(threading.current_thread().name)
        assert read.wait(PATIENCE)
        return 0, []

    monkeypatch.setattr("cobandit.web.services.live.list_people", slowly)
    header = {"authorization": f"Bearer {site.login()}"}
    with ThreadPoolExecutor(40) as pool:
        views = [pool.submit(site.client(headers=header).get, "/api/admin/studies/1/live") for _ in range(40)]
        until(lambda: reading, "the list of people is being read")
        assert site.person().state()["step"]["id"] == "demographics"
        read.set()
        assert {view.result().status_code for view in views} == {200}
