"""Recorded burgers over HTTP: which round has which, and what is sent."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cobandit.robot import CONFIGURATIONS
from cobandit.studies import StudyDesign
from cobandit.web.access import COOKIE
from cobandit.web.services.robot import server
from cobandit.web.services.robot.pool import Pool, RecordedBurger, physics_version
from cobandit.web.services.robot.show import three_address

FOREVER = "public, max-age=31536000, immutable"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(server, "installed", lambda extra: False)  # nothing is recorded in the background here
    return tmp_path / "burgers"


def fill(folder: Path) -> Pool:
    """A pool whose recordings hold their names."""
    pool = Pool(folder, physics_version(), 3)
    pool.add_scene({"name": "kitchen"})
    for configuration in CONFIGURATIONS:
        for seed in range(3):
            burger = RecordedBurger(configuration, seed, pool.version)
            pool.add(burger, gzip.compress(burger.name.encode()))
    return pool


@pytest.fixture
def start(open_site: Callable[..., Any], short_sqlite: str, folder: Path) -> Callable[[], Any]:
    return lambda: open_site(short_sqlite, robot="simulated", robot_folder=str(folder), robot_variants=3)


def shown(site: Any, token: str) -> list[dict[str, Any]]:
    rows = site.query(
        "SELECT e.data FROM events e JOIN participants p ON p.id = e.participant_id "
        "WHERE p.token = :t AND e.kind = 'robot-recording' ORDER BY e.id",
        t=token,
    )
    return [json.loads(data) for (data,) in rows]


def test_every_round_has_a_recording_of_its_own_burger_and_the_log_says_which(
    start: Callable[[], Any], folder: Path, short: StudyDesign
) -> None:
    pool = fill(folder)
    site = start()
    person = site.person()
    state = person.go_on(short, until="episode")
    assert state["robot"]["kind"] == "simulated"
    assert person.client.get(state["robot"]["scene"]).json() == {"name": "kitchen"}
    assert person.client.get(state["robot"]["opening"]).status_code == 200
    for t in (1, 2):
        reply = person.send(0, (t, t - 1, f"choice-{t:04}"))
        [r] = reply.json()["rounds"]
        name = r["recording"].rsplit("/", 1)[1]
        assert name.startswith(f"{r['arms'][0]}-{r['arms'][1]}-")
        sent = person.client.get(r["recording"])
        assert sent.content == name.encode()
        assert sent.headers["cache-control"] == FOREVER
        event = shown(site, person.token)[-1]
        assert event == {
            "episode": 0,
            "t": t,
            "configuration": r["arms"],
            "seed": int(name.rsplit("-", 1)[1]),
            "version": pool.version,
        }
        again = person.send(0, (t, t - 1, f"choice-{t:04}"))
        assert again.json() == reply.json(), "the same again"
    assert len(shown(site, person.token)) == 2
    assert site.person().go_on(short, until="episode")["episode"]["latest"] is None


def test_after_a_restart_the_latest_round_has_the_same_recording(
    start: Callable[[], Any], folder: Path, short: StudyDesign
) -> None:
    fill(folder)
    person = start().person()
    person.go_on(short, until="episode")
    [r] = person.send(0, (1, 0, "choice-0001")).json()["rounds"]
    other = start()
    person.client = other.client()
    assert person.state()["episode"]["latest"]["recording"] == r["recording"]


def test_until_something_is_recorded_the_page_shows_films(
    start: Callable[[], Any], folder: Path, short: StudyDesign
) -> None:
    site = start()
    person = site.person()
    state = person.go_on(short, until="episode")
    assert state["robot"] == {"kind": "simulated", "scene": None, "opening": None, "three": three_address()}
    [r] = person.send(0, (1, 0, "choice-0001")).json()["rounds"]
    assert r["recording"] is None
    fill(folder)
    [again] = person.send(0, (1, 0, "choice-0001")).json()["rounds"]
    assert again["recording"] is None, "what was told once stays so"
    assert shown(site, person.token)[0]["seed"] is None
    [second] = person.send(0, (2, 0, "choice-0002")).json()["rounds"]
    assert second["recording"] is not None


def test_addresses_below_a_path(
    open_site: Callable[..., Any], short_sqlite: str, folder: Path, short: StudyDesign
) -> None:
    fill(folder)
    options = {"robot": "simulated", "robot_folder": str(folder), "robot_variants": 3}
    site = open_site(short_sqlite, root_path="/lab", **options)
    person = site.person()
    robot = person.go_on(short, until="episode")["robot"]
    [r] = person.send(0, (1, 0, "choice-0001")).json()["rounds"]
    page = person.client.get(f"/lab/p/{person.token}").text
    ahead = re.findall(r'rel="(?:modulepreload|prefetch)" href="([^"]*)"', page)
    assert {robot["scene"], robot["opening"], robot["three"]} <= set(ahead)
    for address in (*ahead, r["recording"]):
        assert address.startswith("/lab/")
        assert person.client.get(address).status_code == 200


def test_the_page_of_an_arm_below_a_path(open_site: Callable[..., Any], short_sqlite: str) -> None:
    site = open_site(short_sqlite, root_path="/lab", robot="null")
    page = site.client(cookies={COOKIE: site.login()}).get("/lab/admin/robot").text
    assert '<a href="/lab/admin/robot" aria-current="page">Robot</a>' in page


def test_no_robot_no_word_of_one(site: Any, short: StudyDesign) -> None:
    person = site.person()
    assert "robot" not in person.go_on(short, until="episode")
    [r] = person.send(0, (1, 0, "choice-0001")).json()["rounds"]
    assert "recording" not in r
    assert person.client.get(f"{person.path}/robot").json() == {"robot": None}
    assert person.client.post(f"{person.path}/robot/placed", json={"request": 1}).status_code == 404
    assert site.client().get(f"/api/robot/{physics_version()}/scene.json").status_code == 404
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    assert admin.get("/api/admin/robot").status_code == 404
    assert admin.post("/api/admin/robot/stop").status_code == 404


def test_a_browser_without_gzip_gets_the_plain_bytes(start: Callable[[], Any], folder: Path) -> None:
    pool = fill(folder)
    client = start().client(headers={"accept-encoding": "identity"})
    plain = client.get(f"/api/robot/{pool.version}/recordings/0-1-2")
    assert plain.content == b"0-1-2"
    assert "content-encoding" not in plain.headers
    packed = client.get(f"/api/robot/{pool.version}/recordings/0-1-2", headers={"accept-encoding": "gzip, br"})
    assert packed.content == b"0-1-2"
    assert packed.headers["content-encoding"] == "gzip"


def test_what_is_not_there_is_not_found(start: Callable[[], Any], folder: Path) -> None:
    pool = fill(folder)
    client = start().client()
    for path in (
        f"{pool.version}/recordings/0-1-9",
        f"{pool.version}/recordings/..%2f..%2fx",
        "old/recordings/0-1-0",
        "old/scene.json",
    ):
        assert client.get(f"/api/robot/{path}").status_code == 404


@pytest.mark.parametrize("action", ["stop", "retry", "release", "connect"])
def test_the_console_needs_the_login_and_the_form(
    open_site: Callable[..., Any], short_sqlite: str, action: str
) -> None:
    site = open_site(short_sqlite, robot="null")
    assert site.client().get("/api/admin/robot").status_code == 401
    assert site.client().post(f"/api/admin/robot/{action}").status_code == 401
    cookie = {"cookie": f"cobandit-login={site.login()}"}
    assert site.client(headers=cookie).get("/api/admin/robot").status_code == 200
    assert site.client(headers=cookie).post(f"/api/admin/robot/{action}").status_code == 403
    assert "Robot" in site.client(headers=cookie).get("/admin/robot").text
