"""Who is where at this moment."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign

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
    assert live["counts"]["real"] == {"active": 1, "idle": 1, "dropped": 1, "invited": 1, "finished": 1}
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


def test_watching_does_not_hold_up_participants(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More researchers at once than there are threads to read with: participants are answered meanwhile."""
    read, reading = threading.Event(), []

    def slowly(*args: Any) -> list[Any]:
        reading.append(threading.current_thread().name)
        assert read.wait(60)
        return []

    monkeypatch.setattr("cobandit.web.services.live.participants_of", slowly)
    header = {"authorization": f"Bearer {site.login()}"}
    with ThreadPoolExecutor(40) as pool:
        views = [pool.submit(site.client(headers=header).get, "/api/admin/studies/1/live") for _ in range(40)]
        while not reading:
            time.sleep(0.01)
        assert site.person().state()["step"]["id"] == "demographics"
        read.set()
        assert {view.result().status_code for view in views} == {200}
