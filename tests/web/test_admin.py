"""The researcher's side: who gets in, what they see, and what they may change."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
import uuid
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from cobandit.studies import ParticipantPlan, StudyDesign, load_design
from cobandit.web import WebConfig, create_app
from cobandit.web.security import FAILURES_ALLOWED, form_token
from cobandit.web.serving import prepare, running

PASSWORD = "correct horse"
COOKIE = "cobandit-login"
NASTY = '<script>alert("1")</script>'
STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def admin(site: Any) -> httpx.Client:
    """A program of the researcher."""
    client: httpx.Client = site.client()
    client.headers["authorization"] = f"Bearer {site.login()}"
    return client


@pytest.fixture(scope="module")
def shared_admin(shared_site: Any) -> httpx.Client:
    """The same at the server that tests share which leave nothing behind."""
    client: httpx.Client = shared_site.client()
    client.headers["authorization"] = f"Bearer {shared_site.login()}"
    return client


@pytest.fixture
def browser_of(site: Any) -> httpx.Client:
    """A browser in which the researcher is logged in."""
    client: httpx.Client = site.client()
    client.cookies.set(COOKIE, site.login())
    return client


def token_for(client: httpx.Client) -> dict[str, str]:
    return {"x-form-token": form_token(client.cookies[COOKIE])}


def public_id(site: Any, token: str) -> str:
    [(found,)] = site.query("SELECT public_id FROM participants WHERE token = :t", t=token)
    return str(found)


def problem(response: httpx.Response, status: int, code: str) -> str:
    assert (response.status_code, response.json().get("error")) == (status, code), response.text
    return str(response.json()["message"])


# Coming in


def test_the_password_opens_the_pages(site: Any) -> None:
    client = site.client()
    first = client.get("/admin/studies/1", headers=HTML)
    assert (first.status_code, first.headers["location"]) == (303, "/admin/login?next=/admin/studies/1")
    form = client.get(first.headers["location"], headers=HTML)
    assert 'value="/admin/studies/1"' in form.text
    given = client.post("/admin/login", data={"password": PASSWORD, "next": "/admin/studies/1"}, headers=HTML)
    assert (given.status_code, given.headers["location"]) == (303, "/admin/studies/1")
    kept = given.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    assert client.get("/admin/studies/1", headers=HTML).status_code == 200
    assert client.get("/admin/login").headers["location"] == "/admin"
    [(stored,)] = site.query("SELECT digest FROM admin_logins")
    assert stored not in kept  # the table opens no door


def test_the_cookie_stays_on_https_where_there_is_https(site: Any) -> None:
    for scheme in ("http", "https"):  # as a proxy on this machine tells it
        given = site.client().post("/admin/login", data={"password": PASSWORD}, headers={"x-forwarded-proto": scheme})
        assert ("secure" in given.headers["set-cookie"].lower()) == (scheme == "https")


def test_a_wrong_password_gets_a_sentence(site: Any) -> None:
    client = site.client()
    given = client.post("/admin/login", data={"password": "wrong"}, headers=HTML)
    assert given.status_code == 403
    assert "The password is wrong." in given.text
    assert "set-cookie" not in given.headers
    assert problem(client.post("/api/admin/login", json={"password": "wrong"}), 403, "forbidden")
    assert client.post("/admin/login", content=b"\xff%%%", headers=FORM).status_code == 403
    assert client.post("/api/admin/login", json={"password": "x" * 2000}).status_code == 422


def test_guessing_ends_after_ten_wrong_passwords(site: Any) -> None:
    client = site.client()
    for i in range(FAILURES_ALLOWED):
        if i % 2:
            assert client.post("/api/admin/login", json={"password": f"guess {i}"}).status_code == 403
        else:
            assert client.post("/admin/login", data={"password": f"guess {i}"}).status_code == 403
    [(kept,)] = site.query("SELECT count(*) FROM failed_logins")
    assert kept == FAILURES_ALLOWED  # in the database, so that no other process lets them go on
    right = client.post("/api/admin/login", json={"password": PASSWORD})
    problem(right, 429, "too-many")
    assert int(right.headers["retry-after"]) > 0
    page = client.post("/admin/login", data={"password": PASSWORD}, headers=HTML)
    assert page.status_code == 429
    assert "quarter of an hour" in page.text
    site.change("UPDATE failed_logins SET at = at - 3600000")
    assert client.post("/api/admin/login", json={"password": PASSWORD}).status_code == 200


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/admin",
        "//evil.example/admin",
        "/\\evil.example",
        "/admin\\..\\..\\evil",
        "/adminx",
        "/admin/login?next=/admin/login",
        "/admin\r\nset-cookie: a=b",
        "javascript:alert(1)",
        "",
    ],
)
def test_the_login_leads_nowhere_else(shared_site: Any, wanted: str) -> None:
    client = shared_site.client()
    assert 'name="next" value="/admin"' in client.get("/admin/login", params={"next": wanted}).text
    given = client.post("/admin/login", data={"password": PASSWORD, "next": wanted})
    assert given.headers["location"] == "/admin"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "null"}, 303),
        ({"sec-fetch-site": "none"}, 303),
        ({"origin": "null"}, 303),
    ],
)
def test_other_sites_cannot_send_the_login_form(shared_site: Any, headers: dict[str, str], status: int) -> None:
    given = shared_site.client().post("/admin/login", data={"password": PASSWORD}, headers=headers)
    assert given.status_code == status
    assert ("set-cookie" in given.headers) == (status == 303)


def _routes(routes: Any) -> Iterator[tuple[str, str]]:
    for route in routes:
        inside = getattr(route, "original_router", None)
        if inside is not None:
            yield from _routes(inside.routes)
        elif getattr(route, "methods", None):
            yield from ((method, route.path) for method in route.methods)


def test_no_route_of_the_researcher_opens_without_a_login(site: Any) -> None:
    app = create_app(WebConfig(site.config.database))
    found = {one for one in _routes(app.routes) if one[1].startswith(("/admin", "/api/admin"))}
    described = {
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path.startswith("/api/admin")
    }
    app.state.database.close()
    assert described < found, "the walk over the routes has missed some"
    assert len(found) >= 22
    doors = {("GET", "/admin/login"), ("POST", "/admin/login"), ("POST", "/api/admin/login")}
    assert doors < found
    client = site.client()
    person = site.person()
    name = public_id(site, person.token)
    for method, path in sorted(found - doors):
        address = path.format(number=1, participant=name, episode=0)
        for login in ({}, {"authorization": "Bearer " + "x" * 32}, {"cookie": f"{COOKIE}={'x' * 32}"}):
            answer = client.request(method, address, headers=HTML | login)
            if path.startswith("/api/"):
                problem(answer, 401, "login-needed")
            else:
                assert answer.status_code == 303, (method, path)
                assert answer.headers["location"].startswith("/admin/login")
            assert name not in answer.text
    assert person.state()["participant"] == name
    assert site.query("SELECT status FROM studies") == [("open",)]


def test_a_cookie_alone_changes_nothing(site: Any, browser_of: httpx.Client) -> None:
    name = public_id(site, site.person().token)
    for method, address in [
        ("POST", f"{STUDY}/close"),
        ("POST", f"{STUDY}/links"),
        ("DELETE", f"{STUDY}/participants/{name}"),
        ("POST", "/api/admin/logout"),
        ("POST", "/admin/logout"),
    ]:
        for headers in ({}, {"x-form-token": "0" * 64}, {"x-form-token": "\u00fc".encode()}):
            problem(browser_of.request(method, address, headers=headers), 403, "form-expired")
    assert site.query("SELECT status FROM studies") == [("open",)]
    other = {"x-form-token": form_token(site.login())}  # of another login
    problem(browser_of.post(f"{STUDY}/close", headers=other), 403, "form-expired")
    assert browser_of.post(f"{STUDY}/close", headers=token_for(browser_of)).json() == {"study": 1, "open": False}
    assert browser_of.delete(f"{STUDY}/participants/{name}", headers=token_for(browser_of)).status_code == 200


def test_a_bearer_needs_no_form(site: Any, admin: httpx.Client) -> None:
    assert admin.post(f"{STUDY}/close").json()["open"] is False
    assert site.query("SELECT status FROM studies") == [("closed",)]


def test_logging_out_ends_the_login(site: Any, browser_of: httpx.Client, admin: httpx.Client) -> None:
    token = browser_of.cookies[COOKIE]
    page = browser_of.get("/admin", headers=HTML).text
    field = re.search(r'name="form_token" value="(\w+)"', page)
    assert field is not None
    out = browser_of.post("/admin/logout", data={"form_token": field[1]}, headers=HTML)
    assert (out.status_code, out.headers["location"]) == (303, "/admin/login")
    browser_of.cookies.set(COOKIE, token)
    assert browser_of.get("/api/admin/studies").status_code == 401
    assert admin.get("/api/admin/studies").status_code == 200  # other logins stay
    assert admin.post("/api/admin/logout").json() == {"done": True}
    assert admin.get("/api/admin/studies").status_code == 401


def test_a_login_ends_by_itself(site: Any, browser_of: httpx.Client) -> None:
    given = site.client().post("/api/admin/login", json={"password": PASSWORD}).json()
    bearer = {"authorization": f"Bearer {given['token']}"}
    client = site.client()
    assert client.get("/api/admin/studies", headers=bearer).status_code == 200
    site.change("UPDATE admin_logins SET expires_at = 1")
    problem(client.get("/api/admin/studies", headers=bearer), 401, "login-needed")
    assert browser_of.get("/admin", headers=HTML).status_code == 303


def test_every_answer_is_sealed(site: Any, browser_of: httpx.Client) -> None:
    name = public_id(site, site.person().token)
    for address in (
        "/",
        "/admin",
        "/admin/login",
        "/admin/studies/1",
        f"/admin/studies/1/participants/{name}",
        "/admin/studies/1/payments",
        "/admin/studies/1/payments.csv",
        f"{STUDY}/live",
        f"{STUDY}/export",
        "/admin/studies/99",
    ):
        answer = browser_of.get(address, headers=HTML)
        assert "script-src 'self';" in answer.headers["content-security-policy"], address
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-frame-options"] == "DENY"
        if "text/html" in answer.headers.get("content-type", ""):
            assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", answer.text), address


# Studies


def test_the_studies_are_listed_with_their_people(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    site.person().go_on(short)
    site.person()
    bearer = {"authorization": admin.headers["authorization"]}
    assert site.arrive(client=site.client(headers=bearer), rehearsal=True).status_code == 201
    [study] = admin.get("/api/admin/studies").json()["studies"]
    assert (study["id"], study["name"], study["version"], study["newest"]) == (1, "short", 1, True)
    assert study["counts"]["real"] == {"active": 1, "idle": 0, "dropped": 0, "invited": 0, "finished": 1}
    assert sum(study["counts"]["rehearsal"].values()) == 1
    page = admin.get("/admin", headers=HTML).text
    assert "1 simulated participant apart from these" in page
    assert "?demo=1" not in page  # this server runs no demos


def test_a_closed_study_takes_nobody_new(site: Any, admin: httpx.Client) -> None:
    begun = site.person()
    assert admin.post(f"{STUDY}/close").json() == {"study": 1, "open": False}
    problem(site.arrive(), 403, "closed")
    assert begun.state()["step"]["kind"] == "demographics"
    home = site.client().get("/", headers=HTML).text
    assert 'aria-disabled="true"' in home
    assert "takes no new participants" in home
    assert 'href="/s/short"' not in home
    assert admin.post(f"{STUDY}/open").json() == {"study": 1, "open": True}
    assert site.arrive().status_code == 201
    assert 'href="/s/short"' in site.client().get("/", headers=HTML).text


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
    by_name = {one["participant"]: one for one in live["participants"]}
    at = {who: by_name[public_id(site, who.token)] for who in (finished, playing, idle, dropped)}
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
    [invited] = [one for one in live["participants"] if one["status"] == "invited"]
    assert (invited["label"], invited["order"], invited["idle_seconds"]) == ("Ann", None, None)
    assert sum(sum(one["counts"].values()) for one in live["orders"]) == 4
    first, second = at[playing]["order"]
    done = {one["name"]: one for one in live["conditions"]}
    assert sum(one["begun"] for one in done.values()) == 4
    assert done[first]["finished"] == 2
    assert done[second]["finished"] == 1
    assert live["participants"][0]["url"].startswith(site.url + "/p/")
    assert admin.get(f"{STUDY}/live", params={"kind": "demo"}).json()["participants"] == []


def test_curves_are_the_means_of_what_was_lost(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    people = [site.person() for _ in range(3)]
    lost: dict[str, dict[str, list[list[float]]]] = {}
    for i, person in enumerate(people):
        [(seed, order)] = site.query("SELECT seed, order_index FROM participants WHERE token = :t", t=person.token)
        plan = ParticipantPlan(short, int(seed), order)
        state = person.state()
        # The last one leaves in the middle of an episode, which then does not count.
        while state["step"]["kind"] != "thanks" and not (i == 2 and state["step"]["id"] == "episode-2"):
            if state["step"]["kind"] != "episode":
                state = person.answer(state["step"]["id"], person.good_answers(state, short)).json()["state"]
                continue
            number = state["episode"]["index"]
            moves = [(t, (t * (i + 1)) % 2, uuid.uuid4().hex) for t in range(1, state["episode"]["rounds"] + 1)]
            played = person.send(number, *moves).json()["rounds"]
            one = plan.episode(number)
            if not one.practice:
                total, curve = 0.0, []
                for r in played:
                    total += float(one.means.max()) - float(one.means[r["arms"][0], r["arms"][1]])
                    curve.append(total)
                lost.setdefault(one.condition, {}).setdefault(person.token, []).append(curve)
            state = person.state()
        if i == 2:
            person.send(2, (1, 0, uuid.uuid4().hex))
        curves = admin.get(f"{STUDY}/curves").json()  # asked in between: what is new is added to what was known
        assert curves["rounds"] == [1, 2, 3, 4, 5]
        assert curves["pending"] == 0
        for told in curves["conditions"]:
            mine = lost.get(told["name"], {})
            each = [[sum(point) / len(point) for point in zip(*curves, strict=True)] for curves in mine.values()]
            assert told["n"] == len(each)
            assert told["episodes"] == sum(map(len, mine.values()))
            for t in range(5) if each else ():
                values = [curve[t] for curve in each]
                mean = sum(values) / len(values)
                assert told["mean"][t] == pytest.approx(mean, abs=1e-12)
                if len(values) > 1:
                    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
                    assert told["se"][t] == pytest.approx(spread, abs=1e-12)
                else:
                    assert told["se"] is None
    admin.delete(f"{STUDY}/participants/{public_id(site, people[0].token)}")
    after = admin.get(f"{STUDY}/curves").json()["conditions"]
    assert sum(one["episodes"] for one in after) == 4 + 1


def test_long_curves_are_thinned(open_site: Callable[..., Any], sqlite: str) -> None:
    data = load_design("burger").to_dict() | {"name": "long", "rounds": 450, "languages": ["en"], "translations": {}}
    design = StudyDesign.from_dict(data)
    site = open_site(sqlite, design)
    person = site.person("long")
    person.go_on(design, "episode-0")
    arms = []
    for first in (1, 151, 301):
        moves = [(t, t % 2, uuid.uuid4().hex) for t in range(first, first + 150)]
        arms += [r["arms"] for r in person.send(0, *moves).json()["rounds"]]
    curves = site.client(headers={"authorization": f"Bearer {site.login()}"}).get(f"{STUDY}/curves").json()
    assert len(curves["rounds"]) == 200
    assert (curves["rounds"][0], curves["rounds"][-1]) == (1, 450)
    [(seed, order)] = site.query("SELECT seed, order_index FROM participants")
    means = ParticipantPlan(design, int(seed), order).episode(0).means
    whole = np.cumsum([means.max() - means[tuple(pair)] for pair in arms])
    [told] = [one for one in curves["conditions"] if one["n"]]
    assert told["mean"] == pytest.approx([whole[t - 1] for t in curves["rounds"]])


# Links


def test_an_invited_person_comes_by_their_own_link(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    made = admin.post(f"{STUDY}/links", json={"labels": ["Anna Bauer", " =1+1 ", NASTY]})
    assert made.status_code == 201
    assert [one["label"] for one in made.json()] == ["Anna Bauer", "=1+1", NASTY]
    link = made.json()[0]
    assert link["url"].startswith(f"{site.url}/p/")
    assert site.query("SELECT count(*) FROM participants WHERE seed IS NULL AND order_index IS NULL") == [(3,)]
    client = site.client()
    assert client.get(link["url"], headers=HTML).status_code == 200
    api = link["url"].replace("/p/", "/api/participants/")
    assert client.get(api).json()["step"]["kind"] == "consent"
    given = client.post(f"{api}/answers/consent", json={"answers": {"version": "1"}}).json()
    assert given["state"]["step"]["kind"] == "demographics"
    listed = admin.get(f"{STUDY}/links").json()
    assert [one["status"] for one in listed] == ["active", "invited", "invited"]
    site.person()  # by the open link: not among the personal ones
    assert len(admin.get(f"{STUDY}/links").json()) == 3
    table = admin.get(f"{STUDY}/links.csv")
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text, newline="")))
    assert [row["label"] for row in rows] == ["Anna Bauer", "'=1+1", NASTY]
    assert rows[0]["url"] == link["url"]


def test_many_links_at_once(site: Any, admin: httpx.Client) -> None:
    made = admin.post(f"{STUDY}/links", json={"count": 500, "kind": "rehearsal"}).json()
    assert len({one["url"] for one in made}) == 500
    assert admin.get(f"{STUDY}/links").json() == []
    assert len(admin.get(f"{STUDY}/links", params={"kind": "rehearsal"}).json()) == 500
    assert len(admin.post(f"{STUDY}/links", json={}).json()) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"count": 0},
        {"count": 501},
        {"count": 2, "labels": ["one"]},
        {"labels": []},
        {"labels": ["x" * 201]},
        {"labels": ["nul\0"]},
        {"count": 1, "kind": "demo"},
        {"count": "1"},
        {"people": 1},
    ],
)
def test_links_that_cannot_be_made(shared_site: Any, shared_admin: httpx.Client, body: dict[str, Any]) -> None:
    problem(shared_admin.post(f"{STUDY}/links", json=body), 422, "invalid")
    assert shared_site.query("SELECT count(*) FROM participants") == [(0,)]


def test_links_carry_the_public_address(short_sqlite: str, ask: httpx.Client) -> None:
    with running(WebConfig(short_sqlite, public_url="https://lab.example/")) as url:
        token = ask.post(f"{url}/api/admin/login", json={"password": PASSWORD}).json()["token"]
        made = ask.post(f"{url}{STUDY}/links", json={"count": 1}, headers={"authorization": f"Bearer {token}"})
        assert made.json()[0]["url"].startswith("https://lab.example/p/")


# One participant


def test_a_play_round_by_round(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    person = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    state = person.go_on(short, "quiz")
    wrong = person.good_answers(state, short) | {"sensor": 0}
    person.answer("quiz", wrong)
    person.go_on(short, "survey-2", arm=1)
    person.client.post(f"{person.path}/events", json={"events": [{"kind": "hidden", "at": 5, "data": {"a": NASTY}}]})
    name = public_id(site, person.token)
    told = admin.get(f"{STUDY}/participants/{name}").json()
    assert told["participant"] == name
    assert (told["recruiter"], told["external_id"]) == ("prolific", "5f0c1e2d3b4a59687a6b5c4d")
    assert told["step"]["id"] == "survey-2"
    assert told["quiz_attempts"] == 2
    assert told["url"] == f"{site.url}/p/{person.token}"
    steps = [one["step"] for one in told["answers"]]
    assert steps[:4] == ["consent", "demographics", "instructions", "quiz"]
    gender = told["answers"][1]["items"][1]
    assert (gender["text"], gender["value"]) == ("What is your gender?", "Female")
    [survey] = [one for one in told["answers"] if one["step"] == "survey-1"]
    [check] = [item for item in survey["items"] if item["id"] == "attention"]
    assert check["right"] is True
    assert {one["kind"] for one in told["events"]} == {"quiz-wrong", "hidden"}
    assert told["events_total"] == 2
    assert [one["number"] for one in told["episodes"]] == [0, 1, 2, 3, 4]
    assert told["episodes"][0]["practice"] is True
    for one in told["episodes"]:
        whole = admin.get(f"{STUDY}/participants/{name}/episodes/{one['number']}").json()["rounds"]
        stored = site.query(
            "SELECT r.t AS round, r.arm_0, r.arm_1, r.reward FROM rounds r JOIN episodes e ON e.id = r.episode_id "
            "WHERE e.number = :n ORDER BY r.t",
            n=one["number"],
        )
        assert [(r["t"], *r["arms"], r["reward"]) for r in whole] == [tuple(row) for row in stored]
        assert one["played"] == len(whole)
        assert one["good"] == sum(r["reward"] for r in whole)
        assert one["regret"] == pytest.approx(sum(r["regret"] for r in whole))
        assert sum(cell["played"] for cell in one["cells"]) == len(whole)
        assert {r["arms"][0] for r in whole} == {1}
        assert whole[0]["ms"] == 500
    part = admin.get(f"{STUDY}/participants/{name}/episodes/1", params={"from": 3, "limit": 2}).json()
    assert [r["t"] for r in part["rounds"]] == [3, 4]
    assert part["played"] == 5
    problem(admin.get(f"{STUDY}/participants/{name}/episodes/7"), 404, "not-found")
    problem(admin.get(f"{STUDY}/participants/{name}/episodes/1", params={"limit": 5000}), 422, "invalid")
    assert admin.get(f"/admin/studies/1/participants/{name}", headers=HTML).status_code == 200


def test_an_invited_person_can_be_looked_at(site: Any, admin: httpx.Client) -> None:
    [link] = admin.post(f"{STUDY}/links", json={"labels": [NASTY]}).json()
    told = admin.get(f"{STUDY}/participants/{link['participant']}").json()
    assert (told["status"], told["episodes"], told["answers"], told["label"]) == ("invited", [], [], NASTY)


def test_deleting_takes_everything_of_one_person(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    gone, stays = site.person(), site.person()
    for person in (gone, stays):
        person.go_on(short)
        person.client.post(f"{person.path}/events", json={"events": [{"kind": "load", "at": 1}]})
    name = public_id(site, gone.token)
    tables = ("participants", "answers", "episodes", "rounds", "events")
    before = {table: site.query(f"SELECT count(*) FROM {table}")[0][0] for table in tables}
    answer = admin.delete(f"{STUDY}/participants/{name}").json()
    assert answer["participant"] == name
    after = {table: site.query(f"SELECT count(*) FROM {table}")[0][0] for table in tables}
    assert after == {table: count // 2 for table, count in before.items()}
    assert answer["deleted"] == {table: before[table] - after[table] for table in tables if table != "participants"}
    assert answer["deleted"]["rounds"] == 22
    problem(gone.client.get(gone.path), 404, "not-found")  # though the server had them in memory
    problem(gone.answer("survey-2", {}), 404, "not-found")
    problem(admin.delete(f"{STUDY}/participants/{name}"), 404, "not-found")
    problem(admin.get(f"{STUDY}/participants/{name}"), 404, "not-found")
    assert stays.state()["step"]["kind"] == "thanks"
    assert [one["participant"] for one in admin.get(f"{STUDY}/payments").json()] == [public_id(site, stays.token)]


def test_somebody_deleted_while_playing_is_told_so(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    assert person.send(1, (1, 0, uuid.uuid4().hex)).status_code == 200
    admin.delete(f"{STUDY}/participants/{public_id(site, person.token)}")
    problem(person.send(1, (2, 0, uuid.uuid4().hex)), 404, "not-found")
    assert site.query("SELECT count(*) FROM rounds") == [(0,)]


# Paying and taking the data home


def test_the_payment_list(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    careful = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    careless = site.person(recruiting={"label": "=cmd|' /C calc'!A0"})
    site.person(recruiting={"label": NASTY}).go_on(short)
    careful.go_on(short)
    state = careless.go_on(short, "survey-1")
    answers = careless.good_answers(state, short) | {"attention": 5}
    assert careless.answer("survey-1", answers).status_code == 200
    careless.go_on(short)
    site.person()  # has not finished
    paid = {one["external_id"]: one for one in admin.get(f"{STUDY}/payments").json()}
    assert len(paid) == 3
    assert paid["5f0c1e2d3b4a59687a6b5c4d"]["attention_passed"] is True
    assert paid["=cmd|' /C calc'!A0"]["attention_passed"] is False
    assert {one["code"] for one in paid.values()} == {"THANKS42"}
    assert all(one["minutes"] >= 0 for one in paid.values())
    page = admin.get("/admin/studies/1/payments", headers=HTML).text
    assert NASTY not in page
    assert "&lt;script&gt;" in page
    table = admin.get("/admin/studies/1/payments.csv")
    rows = {row["external_id"]: row for row in csv.DictReader(io.StringIO(table.text, newline=""))}
    assert rows["5f0c1e2d3b4a59687a6b5c4d"]["attention_passed"] == "yes"
    assert rows["'=cmd|' /C calc'!A0"]["attention_passed"] == "no"  # no formula for a spreadsheet
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", rows[NASTY]["finished_at"])


def unpacked(answer: httpx.Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


def test_the_export_is_a_zip_of_tables(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    person = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    person.go_on(short)
    bearer = {"authorization": admin.headers["authorization"]}
    site.arrive(client=site.client(headers=bearer), rehearsal=True)
    answer = admin.get(f"{STUDY}/export")
    assert 'filename="short-v1-real-csv.zip"' in answer.headers["content-disposition"]
    files = unpacked(answer)
    assert set(files) == {"long.csv", "wide.csv", "survey.csv", "events.csv", "codebook.csv", "study.json"}
    rows = list(csv.DictReader(io.StringIO(files["long.csv"].decode("utf-8-sig"))))
    assert len(rows) == 22
    assert {row["participant"] for row in rows} == {public_id(site, person.token)}
    everything = b"".join(files.values())
    assert b"5f0c1e2d3b4a59687a6b5c4d" not in everything  # personal data only on request
    assert person.token.encode() not in everything
    assert b"5f0c1e2d3b4a59687a6b5c4d" in unpacked(admin.get(f"{STUDY}/export?recruiting=true"))["wide.csv"]
    assert json.loads(files["study.json"])["design"]["name"] == "short"
    pretend = unpacked(admin.get(f"{STUDY}/export", params={"kind": "rehearsal", "format": "parquet"}))
    assert "long.parquet" in pretend
    assert admin.get(f"{STUDY}/export", params={"format": "xlsx"}).status_code == 422


def test_a_study_without_people_can_be_exported(site: Any, admin: httpx.Client) -> None:
    files = unpacked(admin.get(f"{STUDY}/export"))
    assert len(files["wide.csv"].splitlines()) == 1


def test_a_server_without_parquet_says_so(site: Any, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = admin.get(f"{STUDY}/export", params={"format": "parquet"})
    assert answer.status_code == 422
    assert answer.json()["message"].endswith("needs the extra 'parquet': pip install 'cobandit[parquet]'")


# The stream


def ticks(client: httpx.Client, headers: dict[str, str] | None = None) -> Iterator[str]:
    with client.stream("GET", f"{STUDY}/stream", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("id: "):
                yield line[4:]


def test_a_tick_comes_with_every_change(
    site: Any, short: StudyDesign, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cobandit.web.routes.admin.stream.PULSE_SECONDS", 0.02)
    person = site.person()
    heard = ticks(admin)
    seen = [next(heard)]
    person.go_on(short, "quiz")
    seen.append(next(heard))
    while seen[-1] != seen[-2]:  # several steps may have fallen between two looks
        [(count,)] = site.query("SELECT sum(revision) FROM participants")
        if f"-{count}-" in seen[-1]:
            break
        seen.append(next(heard))
    admin.post(f"{STUDY}/close")
    seen.append(next(heard))
    heard.close()
    assert len(set(seen)) == len(seen)
    assert seen[-1].endswith("closed")


def test_the_stream_ends_and_goes_on_where_it_was(
    site: Any, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cobandit.web.routes.admin.stream.PULSE_SECONDS", 0.02)
    heard = ticks(admin)
    latest = next(heard)
    heard.close()
    # Short, now that nothing has to come in time.
    monkeypatch.setattr("cobandit.web.routes.admin.stream.STREAM_SECONDS", 0.2)
    assert list(ticks(admin, {"last-event-id": latest})) == []
    problem(admin.get("/api/admin/studies/99/stream"), 404, "not-found")


@pytest.mark.slow
def test_an_open_stream_does_not_hold_up_the_end(
    start_server: Callable[..., Any], short_sqlite: str, site: Any, ask: httpx.Client
) -> None:
    server = start_server(WebConfig(short_sqlite))
    ask.base_url = server.url
    ask.headers["authorization"] = f"Bearer {site.login()}"
    heard = ticks(ask)
    next(heard)
    server.stop()
    assert server._process.returncode in (0, -15)
    assert list(heard) == []  # the answer was ended in order, not cut off


# What goes wrong


@pytest.mark.parametrize("number", ["0", "-1", "99999999999999999999", "one"])
def test_numbers_that_are_none(shared_admin: httpx.Client, number: str) -> None:
    problem(shared_admin.get(f"/api/admin/studies/{number}/live"), 422, "invalid")
    page = shared_admin.get(f"/admin/studies/{number}", headers=HTML)
    assert page.status_code == 422
    assert "Traceback" not in page.text


@pytest.mark.parametrize("what", ["live", "curves", "links", "links.csv", "payments", "export", "stream"])
def test_a_study_that_is_not_there(shared_admin: httpx.Client, what: str) -> None:
    assert "99" in problem(shared_admin.get(f"/api/admin/studies/99/{what}"), 404, "not-found")


def test_pages_of_nobody(shared_admin: httpx.Client) -> None:
    for address in (
        "studies/99",
        "studies/99/payments",
        "studies/1/participants/p-nobody",
        "studies/1/participants/%00",
    ):
        page = shared_admin.get(f"/admin/{address}", headers=HTML)
        assert page.status_code == 404
        assert "text/html" in page.headers["content-type"]
    for change in ("open", "close"):
        problem(shared_admin.post(f"/api/admin/studies/99/{change}"), 404, "not-found")
    problem(shared_admin.post("/api/admin/studies/99/links", json={"count": 1}), 404, "not-found")


@pytest.mark.filterwarnings("default")
def test_a_broken_database_shows_a_sentence_and_no_trace(site: Any, admin: httpx.Client) -> None:
    name = public_id(site, site.person().token)
    site.change("DROP TABLE events")
    problem(admin.get(f"{STUDY}/participants/{name}"), 503, "busy")
    page = admin.get(f"/admin/studies/1/participants/{name}", headers=HTML)
    assert page.status_code == 503
    assert "Traceback" not in page.text
    assert "events" not in page.text


# Elsewhere


def test_the_home_page_leads_everywhere(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, load_design("burger"), load_design("casino"), demo=True)
    page = site.client().get("/", headers=HTML).text
    for address in ("/s/burger", "/s/burger?demo=1", "/s/casino", "/s/casino?demo=1", "/admin", "/openapi.json"):
        assert f'href="{address}"' in page
    assert "cobandit reproduce" in page  # there is no report yet
    schema = site.client().get("/openapi.json").json()
    assert schema["paths"]["/api/admin/studies/{number}/live"]["get"]["tags"] == ["researcher"]
    assert {"HTTPBearer": []} in schema["paths"]["/api/admin/studies"]["get"]["security"]


@pytest.mark.slow
def test_all_of_it_on_postgresql(open_site: Callable[..., Any], postgresql: str, short: StudyDesign) -> None:
    site = open_site(postgresql, short)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    person = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    person.go_on(short)
    other = site.person()
    other.go_on(short, "episode-2")
    name = public_id(site, person.token)
    [study] = admin.get("/api/admin/studies").json()["studies"]
    base = f"/api/admin/studies/{study['id']}"
    assert admin.post(f"{base}/links", json={"labels": [NASTY]}).status_code == 201
    live = admin.get(f"{base}/live").json()
    assert live["counts"]["real"] == {"active": 1, "idle": 0, "dropped": 0, "invited": 1, "finished": 1}
    assert sum(one["episodes"] for one in admin.get(f"{base}/curves").json()["conditions"]) == 5
    told = admin.get(f"{base}/participants/{name}").json()
    assert sum(one["played"] for one in told["episodes"]) == 22
    assert len(admin.get(f"{base}/participants/{name}/episodes/1").json()["rounds"]) == 5
    assert [one["attention_passed"] for one in admin.get(f"{base}/payments").json()] == [True]
    assert len(admin.get(f"{base}/links").json()) == 1
    assert "long.csv" in unpacked(admin.get(f"{base}/export"))
    with admin.stream("GET", f"{base}/stream") as stream:
        assert next(line for line in stream.iter_lines() if line.startswith("event: ")) == "event: tick"
    assert admin.delete(f"{base}/participants/{name}").json()["deleted"]["rounds"] == 22
    assert site.query("SELECT count(*) FROM rounds") == [(2 + 5,)]
    assert admin.post(f"{base}/close").json()["open"] is False
    for page in ("", f"/studies/{study['id']}", f"/studies/{study['id']}/payments"):
        assert admin.get(f"/admin{page}", headers=HTML).status_code == 200


def test_a_new_password_is_the_one_that_counts(short_sqlite: str, short: StudyDesign, site: Any) -> None:
    prepare(short_sqlite, [short], password="another one")
    client = site.client()
    assert client.post("/api/admin/login", json={"password": PASSWORD}).status_code == 403
    assert client.post("/api/admin/login", json={"password": "another one"}).status_code == 200
