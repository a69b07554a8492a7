"""The researcher's login: the page, the form, and guessing."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit.web.security import FAILURES_ALLOWED

PASSWORD = "correct horse"
HTML = {"accept": "text/html"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def test_the_password_opens_the_pages(site: Any) -> None:
    client = site.client()
    first = client.get("/admin/studies/1", headers=HTML)
    assert (first.status_code, first.headers["location"]) == (303, "/admin/login?next=/admin/studies/1")
    form = client.get(first.headers["location"], headers=HTML)
    assert 'value="/admin/studies/1"' in form.text
    given = client.post("/admin/login", data={"password": PASSWORD, "next": "/admin/studies/1"}, headers=HTML)
    assert (given.status_code, given.headers["location"]) == (303, "/admin/studies/1")
    cookie = given.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/admin/studies/1", headers=HTML).status_code == 200
    assert client.get("/admin/login").headers["location"] == "/admin"
    [(stored,)] = site.query("SELECT digest FROM admin_logins")
    assert stored not in cookie  # the table opens no door


def test_the_cookie_stays_on_https_where_there_is_https(site: Any) -> None:
    for scheme in ("http", "https"):  # as a proxy on this machine tells it
        given = site.client().post("/admin/login", data={"password": PASSWORD}, headers={"x-forwarded-proto": scheme})
        assert ("secure" in given.headers["set-cookie"].lower()) == (scheme == "https")


def test_a_wrong_password_gets_a_sentence(site: Any, problem: Any) -> None:
    client = site.client()
    given = client.post("/admin/login", data={"password": "wrong"}, headers=HTML)
    assert given.status_code == 403
    assert "The password is wrong." in given.text
    assert "set-cookie" not in given.headers
    assert problem(client.post("/api/admin/login", json={"password": "wrong"}), 403, "forbidden")
    assert client.post("/admin/login", content=b"\xff%%%", headers=FORM).status_code == 403
    assert client.post("/api/admin/login", json={"password": "x" * 2000}).status_code == 422


def test_guessing_ends_after_ten_wrong_passwords(site: Any, problem: Any) -> None:
    client = site.client()
    for i in range(FAILURES_ALLOWED):
        if i % 2:
            assert client.post("/api/admin/login", json={"password": f"guess {i}"}).status_code == 403
        else:
            assert client.post("/admin/login", data={"password": f"guess {i}"}).status_code == 403
    [(failures,)] = site.query("SELECT count(*) FROM failed_logins")
    assert failures == FAILURES_ALLOWED  # in the database, so that no other process lets them go on
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
