"""What a login opens, and what it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx

from cobandit.web import WebConfig, create_app
from cobandit.web.security import form_token

PASSWORD = "correct horse"
COOKIE = "cobandit-login"
STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def token_for(client: httpx.Client) -> dict[str, str]:
    return {"x-form-token": form_token(client.cookies[COOKIE])}


def _routes(router: Any, before: str = "") -> Iterator[tuple[str, str]]:
    for route in router.routes:
        inside = getattr(route, "original_router", None)
        if inside is not None:
            yield from _routes(inside, before + getattr(router, "prefix", ""))
        elif getattr(route, "methods", None):
            yield from ((method, before + route.path) for method in route.methods)


def test_no_route_of_the_researcher_opens_without_a_login(site: Any, problem: Any) -> None:
    app = create_app(WebConfig(site.config.database))
    routes = {route for route in _routes(app) if route[1].startswith(("/admin", "/api/admin"))}
    described = {
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path.startswith("/api/admin")
    }
    app.state.database.close()
    assert described < routes, "the walk over the routes has missed some"
    assert len(routes) >= 22
    doors = {("GET", "/admin/login"), ("POST", "/admin/login"), ("POST", "/api/admin/login")}
    assert doors < routes
    client = site.client()
    person = site.person()
    name = site.public_id(person.token)
    for method, path in sorted(routes - doors):
        address = path.format(
            number=1,
            participant=name,
            episode=0,
            session="0" * 16,
            name="anna",
            key="k",
            kind="real",
            file="report.html",
            team="t-1",
        )
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


def test_a_cookie_alone_changes_nothing(site: Any, browser_of: httpx.Client, problem: Any) -> None:
    name = site.public_id(site.person().token)
    wrong: tuple[dict[str, str] | dict[bytes, bytes], ...] = (
        {},
        {"x-form-token": "0" * 64},
        {b"x-form-token": "\u00fc".encode()},
    )
    for method, address in [
        ("POST", f"{STUDY}/close"),
        ("POST", f"{STUDY}/links"),
        ("DELETE", f"{STUDY}/participants/{name}"),
        ("POST", "/api/admin/logout"),
        ("POST", "/admin/logout"),
    ]:
        for headers in wrong:
            problem(browser_of.request(method, address, headers=headers), 403, "form-expired")
    assert site.query("SELECT status FROM studies") == [("open",)]
    other = {"x-form-token": form_token(site.login())}  # of another login
    problem(browser_of.post(f"{STUDY}/close", headers=other), 403, "form-expired")
    assert browser_of.post(f"{STUDY}/close", headers=token_for(browser_of)).json()["state"] == "closed"
    assert browser_of.delete(f"{STUDY}/participants/{name}", headers=token_for(browser_of)).status_code == 200


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


def test_a_login_ends_by_itself(site: Any, browser_of: httpx.Client, problem: Any) -> None:
    given = site.client().post("/api/admin/login", json={"password": PASSWORD}).json()
    bearer = {"authorization": f"Bearer {given['token']}"}
    client = site.client()
    assert client.get("/api/admin/studies", headers=bearer).status_code == 200
    site.change("UPDATE admin_logins SET expires_at = 1")
    problem(client.get("/api/admin/studies", headers=bearer), 401, "login-needed")
    assert browser_of.get("/admin", headers=HTML).status_code == 303
