"""Accounts: what each role may do, one-time codes, recovery codes, open logins."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pyotp
import pytest

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies import StudyDesign
from cobandit.web import WebConfig, create_app
from cobandit.web.access import COOKIE, grant_login
from cobandit.web.refusals import Refused
from cobandit.web.roles import DATA, ROLES, ROUTES, Viewer, least_role, may
from cobandit.web.security import code_step, form_token
from cobandit.web.services.accounts import add_account, remove_account, reset_account, turn_codes_on
from cobandit.web.services.audit import audit_view, whole_log
from cobandit.web.services.blinding import unblind
from cobandit.web.services.curves import Curves
from cobandit.web.services.drafts import list_drafts
from cobandit.web.services.export import Exports
from cobandit.web.services.links import all_links, list_links, make_links
from cobandit.web.services.live import Live
from cobandit.web.services.messages import send_message
from cobandit.web.services.paging import Part
from cobandit.web.services.payments import all_payments, list_payments, sum_payments
from cobandit.web.services.plays import participant_view, rounds_view
from cobandit.web.services.removal import remove_participant
from cobandit.web.services.team_actions import end_team, replace_member
from cobandit.web.services.team_monitor import TeamMonitor
from cobandit.web.services.teams import Teams
from cobandit.web.storage.accounts import find_account
from cobandit.web.storage.database import Database
from cobandit.web.storage.listing import Listing

OWNERS = "correct horse"
DOORS = {"GET /admin/login", "POST /admin/login", "POST /api/admin/login"}


def _routes(router: Any, before: str = "") -> Iterator[str]:
    for route in router.routes:
        inside = getattr(route, "original_router", None)
        if inside is not None:
            yield from _routes(inside, before + getattr(router, "prefix", ""))
        elif getattr(route, "methods", None):
            yield from (f"{method} {before}{route.path}" for method in route.methods if method != "HEAD")


def _login(site: Any, name: str) -> httpx.Client:
    with site.database.write() as connection:
        token, _ = grant_login(connection, name, "program")
    return site.client(headers={"authorization": f"Bearer {token}"})


@pytest.fixture
def people(site: Any) -> dict[str, str]:
    """An account of each role; their passwords."""
    with site.database.write() as connection:
        return {role: add_account(connection, "owner", f"{role}-1", role) for role in ROLES}


@pytest.fixture
def routes(site: Any) -> set[str]:
    app = create_app(WebConfig(site.config.database))
    listed = {route for route in _routes(app) if route.split()[1].startswith(("/admin", "/api/admin"))}
    app.state.database.close()
    return listed - DOORS


def test_the_table_of_roles_names_every_route_and_no_other(routes: set[str]) -> None:
    named = [route for listed in ROUTES.values() for route in listed]
    assert len(named) == len(set(named))
    assert set(named) == routes


def test_every_route_with_every_role(site: Any, people: dict[str, str], routes: set[str]) -> None:
    clients = {role: _login(site, f"{role}-1") for role in ROLES}
    for route in sorted(routes, key=lambda route: ("logout" in route, route)):
        method, path = route.split()
        address = re.sub(r"\{\w+\}", "1", path)
        for place, role in enumerate(ROLES):
            allowed = place >= ROLES.index(least_role(method, address))
            if allowed and path.endswith(("/stream", "/logout", "/export")):
                continue  # they take their time, or end the login; refusing is looked at for all
            answer = clients[role].request(method, address, headers={"accept": "application/json"})
            refused = answer.status_code == 403 and answer.json()["error"] == "not-allowed"
            assert refused != allowed, (route, role, answer.status_code, answer.text[:200])


def test_what_is_in_no_table_is_the_owners_alone() -> None:
    assert least_role("GET", "/api/admin/something/new") == "owner"
    assert not may("researcher", "POST", "/admin/account/accounts")
    assert not may("somebody", "GET", "/admin")
    assert may("assistant", "HEAD", "/admin")
    assert not may("assistant", "GET", "/admin/studies/1/payments.csv")
    assert not may("assistant", "GET", "/api/admin/studies/1/export")


ADDRESS = re.compile(r'(?:href|action)="(/(?:api/)?admin[^"?#]*)')
ACTIONS = {
    "state-dialog": "POST /api/admin/studies/1/state",
    "unblind-dialog": "POST /api/admin/studies/1/unblind",
    "export-dialog": "GET /api/admin/studies/1/export",
    "delete-dialog": "DELETE /api/admin/studies/1/participants/p-1",
    'id="links-csv"': "GET /api/admin/studies/1/links.csv",
}
"""What scripts of a page send from its dialogs; those of teams are on pages of studies with teams."""


@pytest.mark.parametrize("role", ROLES)
def test_pages_offer_what_the_role_permits_and_nothing_else(
    site: Any, short: StudyDesign, people: dict[str, str], role: str
) -> None:
    person = site.person()
    person.go_on(short)
    client = _login(site, f"{role}-1")
    study = "/admin/studies/1"
    participant = f"{study}/participants/{site.public_id(person.token)}"
    offered: set[str] = set()
    for address in ("/admin", study, participant, "/admin/account"):
        page = client.get(address)
        assert page.status_code == 200
        for form, target in re.findall(r'(<form[^>]*method="post"[^>]*)action="([^"]+)"', page.text):
            assert may(role, "POST", target), (address, form)
        for target in ADDRESS.findall(re.sub(r'<form[^>]*method="post"[^>]*>', "", page.text)):
            assert may(role, "GET", target), (address, target)
        for mark, action in ACTIONS.items():
            if mark in page.text:
                offered.add(mark)
                assert may(role, *action.split()), (address, mark)
    assert offered == (set() if role == "assistant" else set(ACTIONS))


def _give(database: Database, viewer: Viewer, name: str) -> Any:
    """Every service that gives data, by the kind of data in the table of roles."""
    none = Part()
    return {
        "participants": lambda: participant_view(database, 1, name, viewer),
        "rounds": lambda: rounds_view(database, 1, name, 0, viewer, first=1, limit=5),
        "live": lambda: Live(database).view(1, Listing(), "", viewer),
        "curves": lambda: Curves(database).curves(1, "real", viewer),
        "invitations": lambda: make_links(database, 1, [None], "real", viewer),
        "links": lambda: list_links(database, 1, "real", viewer, none),
        "links file": lambda: all_links(database, 1, "real", viewer),
        "payments": lambda: list_payments(database, 1, viewer, none),
        "payments file": lambda: all_payments(database, 1, viewer),
        "payments sum": lambda: sum_payments(database, 1, viewer),
        "conditions": lambda: unblind(database, 1, viewer),
        "removal": lambda: remove_participant(database, 1, name, "late", viewer),
        "designs": lambda: list_drafts(database, viewer),
        "export": lambda: Exports(database).export(
            1, format="csv", kind="real", recruiting=False, gone=_never, viewer=viewer
        ),
        "audit log": lambda: audit_view(database, viewer, None),
        "audit log file": lambda: whole_log(database, viewer),
        "team view": lambda: TeamMonitor(database).view(1, "real", viewer),
        "messages": lambda: send_message(database, 1, viewer, "Hello", participant=name),
        "teams": lambda: end_team(Teams(database), database, 1, NO_TEAM, viewer),
        "members": lambda: replace_member(Teams(database), database, 1, NO_TEAM, name, viewer),
    }


NO_TEAM = "t-nobody"
"""A team that is not there: whoever may act on teams is told so."""


async def _never() -> bool:
    return False


@pytest.mark.parametrize("role", [*ROLES, "somebody"])
def test_services_apply_roles_to_data_whatever_the_route(site: Any, short: StudyDesign, role: str) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    database, viewer = Database(site.config.database), Viewer("anna", role)
    services = _give(database, viewer, site.public_id(person.token))

    async def allowed(give: Any) -> bool:
        try:
            given = await give()
        except Refused as error:
            if error.code == "not-found" and NO_TEAM in str(error):
                return True
            if error.code != "not-allowed":
                raise
            return False
        if isinstance(given, tuple):
            given[1].close()  # the file of an export
        return True

    async def scene() -> set[str]:
        return {name for name, give in services.items() if await allowed(give)}

    try:
        given = asyncio.run(scene())
    finally:
        database.close()
    looking = {"participants", "rounds", "live", "curves", "invitations", "team view", "messages"}
    assert set(DATA) <= set(services)
    assert given == {"assistant": looking, "somebody": set()}.get(role, set(services))


@pytest.mark.parametrize("role", ROLES)
def test_every_form_of_links_and_payments_is_refused_or_written_down(
    site: Any, short: StudyDesign, people: dict[str, str], role: str
) -> None:
    site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"}).go_on(short)
    client = _login(site, f"{role}-1")
    forms = [
        ("/api/admin/studies/1/links", "links", "json"),
        ("/api/admin/studies/1/links.csv", "links", "csv"),
        ("/api/admin/studies/1/payments", "payments", "json"),
        ("/admin/studies/1/payments", "payments", "page"),
        ("/admin/studies/1/payments.csv", "payments", "csv"),
        ("/admin/studies/1/bonuses.csv", "bonuses", "csv"),
        ("/api/admin/studies/1/export", "all", "csv"),
    ]
    answers = [client.get(address) for address, _, _ in forms]
    entries = site.query("SELECT by, details FROM audit WHERE action = 'export' ORDER BY number")
    if role == "assistant":
        assert {answer.status_code for answer in answers} == {403}
        assert not any("5f0c1e2d3b4a59687a6b5c4d" in answer.text for answer in answers)
        assert entries == []
    else:
        assert {answer.status_code for answer in answers} == {200}
        assert {by for by, _ in entries} == {f"{role}-1"}
        written = [(details["tables"], details["format"]) for details in (json.loads(row[1]) for row in entries)]
        assert written == [(tables, form) for _, tables, form in forms]


def test_an_assistant_has_the_links_of_invitations_alone(site: Any, short: StudyDesign, people: dict[str, str]) -> None:
    client = _login(site, "assistant-1")
    [made] = client.post("/api/admin/studies/1/links", json={"labels": ["Ann"]}).json()
    begun = site.person()
    begun.go_on(short, "quiz")
    live = client.get("/api/admin/studies/1/live").json()
    urls = {entry["participant"]: entry["url"] for entry in live["participants"]}
    assert urls == {made["participant"]: made["url"], site.public_id(begun.token): None}
    for name, url in urls.items():
        assert client.get(f"/api/admin/studies/1/participants/{name}").json()["url"] == url
    whole = _login(site, "researcher-1").get("/api/admin/studies/1/live").json()
    assert all(entry["url"] for entry in whole["participants"])


def test_a_page_for_another_role_says_which_role_it_needs(site: Any, people: dict[str, str]) -> None:
    answer = _login(site, "assistant-1").get("/admin/log", headers={"accept": "text/html"})
    assert answer.status_code == 403
    assert "<h1>Your account is not allowed to do this</h1>" in answer.text
    assert "the role researcher" in answer.text
    assert "Something went wrong" not in answer.text


def test_the_one_password_is_the_owners(site: Any, people: dict[str, str], problem: Any) -> None:
    client = site.client()
    for body in ({"password": OWNERS}, {"password": OWNERS, "name": "owner"}):
        assert client.post("/api/admin/login", json=body).status_code == 200
    assert client.post("/api/admin/login", json={"password": people["assistant"], "name": "assistant-1"}).is_success
    for body in (
        {"password": OWNERS, "name": "assistant-1"},
        {"password": OWNERS, "name": "nobody"},
        {"password": people["assistant"]},
    ):
        problem(client.post("/api/admin/login", json=body), 403, "forbidden")
    page = client.get("/admin/login").text
    assert 'name="name"' in page
    assert 'name="code"' not in page  # nobody has codes


def _codes(site: Any, name: str) -> tuple[pyotp.TOTP, list[str]]:
    key = pyotp.random_base32()
    with site.database.write() as connection:
        recovery = turn_codes_on(connection, name, key, pyotp.TOTP(key).now())
        # As if the first code had been typed a while ago, so that the present one is fresh.
        site_key = find_account(connection, name)
        assert site_key is not None
    site.change("UPDATE accounts SET code_step = 0 WHERE name = :n", n=name)
    return pyotp.TOTP(key), recovery


def test_a_code_is_asked_for_and_counts_once(site: Any, problem: Any) -> None:
    totp, _ = _codes(site, "owner")
    client = site.client()
    problem(client.post("/api/admin/login", json={"password": OWNERS}), 403, "code-needed")
    problem(client.post("/api/admin/login", json={"password": OWNERS, "code": "000000x"}), 403, "forbidden")
    problem(client.post("/api/admin/login", json={"password": "wrong horse", "code": totp.now()}), 403, "forbidden")
    code = totp.now()
    assert client.post("/api/admin/login", json={"password": OWNERS, "code": code}).status_code == 200
    problem(client.post("/api/admin/login", json={"password": OWNERS, "code": code}), 403, "forbidden")
    assert 'name="code"' in client.get("/admin/login").text
    assert totp.secret not in str(site.query("SELECT details FROM audit"))


def test_guesses_of_codes_are_limited_as_passwords_are(site: Any, problem: Any) -> None:
    totp, _ = _codes(site, "owner")
    client = site.client()
    for guess in range(10):
        problem(client.post("/api/admin/login", json={"password": OWNERS, "code": f"x{guess}"}), 403, "forbidden")
    problem(client.post("/api/admin/login", json={"password": OWNERS, "code": totp.now()}), 429, "too-many")


def test_a_recovery_code_counts_once_however_it_is_typed(site: Any, problem: Any) -> None:
    _, recovery = _codes(site, "owner")
    assert len(set(recovery)) == 10
    stored = str(site.query("SELECT recovery FROM accounts"))
    assert not any(code in stored for code in recovery)
    client = site.client()
    typed = recovery[3].upper().replace("-", " ")
    assert client.post("/api/admin/login", json={"password": OWNERS, "code": typed}).status_code == 200
    problem(client.post("/api/admin/login", json={"password": OWNERS, "code": recovery[3]}), 403, "forbidden")
    assert client.post("/api/admin/login", json={"password": OWNERS, "code": recovery[4]}).status_code == 200


def test_codes_of_half_a_minute_before_and_after_fit_and_others_do_not() -> None:
    key, now = pyotp.random_base32(), 1_700_000_000
    totp = pyotp.TOTP(key)
    steps = [code_step(key, totp.at(now + 30 * offset), now) for offset in (-2, -1, 0, 1, 2)]
    current = now // 30
    assert steps == [None, current - 1, current, current + 1, None]


def test_setting_codes_up_at_the_page(site: Any, browser_of: httpx.Client) -> None:
    token = {"form_token": form_token(browser_of.cookies[COOKIE])}
    assert browser_of.post("/admin/account/codes").status_code == 403  # without the form's token
    page = browser_of.post("/admin/account/codes", data=token).text
    key = re.search(r'name="key" value="([A-Z2-7]+)"', page)
    assert key is not None
    assert "data:image/svg+xml" in page
    other = _login(site, "owner")
    right = {"key": key[1], "code": pyotp.TOTP(key[1]).now(), "password": OWNERS}
    for mistake in ({"code": "1"}, {"password": "wrong horse"}, {"password": ""}):
        wrong = browser_of.post("/admin/account/codes/confirm", data=token | right | mistake)
        assert wrong.status_code == 422
        assert key[1] in wrong.text
    assert site.query("SELECT code_key FROM accounts") == [(None,)]
    assert other.get("/api/admin/studies").status_code == 200
    right["code"] = pyotp.TOTP(key[1]).now()
    done = browser_of.post("/admin/account/codes/confirm", data=token | right)
    assert other.get("/api/admin/studies").status_code == 401  # it was granted to the password alone
    assert browser_of.get("/admin/account").status_code == 200
    assert len(re.findall(r"<li><code>\w{5}-\w{5}</code>", done.text)) == 10
    assert browser_of.post("/admin/account/codes/off", data=token | {"password": "wrong"}).status_code == 422
    assert browser_of.post("/admin/account/codes/off", data=token | {"password": OWNERS}).status_code == 200
    assert site.query("SELECT code_key FROM accounts") == [(None,)]


def test_logins_are_listed_and_ended(site: Any, people: dict[str, str], problem: Any) -> None:
    owner, assistant, researcher = (_login(site, name) for name in ("owner", "assistant-1", "researcher-1"))
    everybody = owner.get("/api/admin/sessions").json()["sessions"]
    assert {session["account"] for session in everybody} == {"owner", "assistant-1", "researcher-1"}
    [own] = assistant.get("/api/admin/sessions").json()["sessions"]
    assert own["current"]
    theirs = next(session["id"] for session in everybody if session["account"] == "researcher-1")
    problem(assistant.delete(f"/api/admin/sessions/{theirs}"), 404, "not-found")
    problem(owner.delete("/api/admin/sessions/%25"), 404, "not-found")
    assert researcher.get("/api/admin/studies").status_code == 200
    assert owner.delete(f"/api/admin/sessions/{theirs}").status_code == 200
    problem(researcher.get("/api/admin/studies"), 401, "login-needed")


def test_the_owner_adds_resets_and_removes_at_the_page(site: Any, browser_of: httpx.Client, problem: Any) -> None:
    token = {"form_token": form_token(browser_of.cookies[COOKIE])}
    page = browser_of.post("/admin/account/accounts", data=token | {"name": "anna", "role": "assistant"}).text
    password = re.search(r"is <code>([^<]+)</code>", page)
    assert password is not None
    client = site.client()
    shown = {"name": "anna", "password": html.unescape(password[1])}
    login = client.post("/api/admin/login", json=shown).json()["token"]
    client.headers["authorization"] = f"Bearer {login}"
    assert client.get("/api/admin/studies").status_code == 200
    browser_of.post("/admin/account/accounts/anna/reset", data=token)
    problem(client.get("/api/admin/studies"), 401, "login-needed")
    problem(client.post("/api/admin/login", json=shown), 403, "forbidden")
    assert browser_of.post("/admin/account/accounts", data=token | {"name": "<b>", "role": "x"}).status_code == 422
    assert browser_of.post("/admin/account/accounts/owner/remove", data=token).status_code == 422
    assert browser_of.post("/admin/account/accounts/anna/remove", data=token).status_code == 200
    assert site.query("SELECT name FROM accounts") == [("owner",)]
    actions = [
        action for (action,) in site.query("SELECT action FROM audit WHERE action LIKE 'account%' ORDER BY number")
    ]
    assert actions == ["account-added", "account-changed", "account-removed"]


def test_a_password_of_ones_own(site: Any, people: dict[str, str], problem: Any) -> None:
    client = _login(site, "assistant-1")
    old = people["assistant"]
    assert client.post("/admin/account/password", data={"old": "wrong", "new": "long enough"}).status_code == 422
    assert client.post("/admin/account/password", data={"old": old, "new": "short"}).status_code == 422
    assert client.post("/admin/account/password", data={"old": old, "new": "long enough"}).status_code == 303
    problem(client.get("/api/admin/studies"), 401, "login-needed")
    fresh = site.client().post("/api/admin/login", json={"name": "assistant-1", "password": "long enough"})
    assert fresh.status_code == 200


def test_accounts_that_cannot_be(site: Any) -> None:
    with site.database.writing.begin() as connection:
        add_account(connection, "owner", "anna", "assistant")
        for name, role, error in (
            ("anna", "assistant", InvalidInput),
            ("Anna", "assistant", InvalidInput),
            ("", "assistant", InvalidInput),
            ("unknown", "assistant", InvalidInput),
            ("ben", "king", UnknownName),
        ):
            with pytest.raises(error):
                add_account(connection, "owner", name, role)
        for act in (remove_account, reset_account):
            with pytest.raises(UnknownName, match="Did you mean 'anna'"):
                act(connection, "owner", "ana")
