"""The researcher's login: the page, the form, and guessing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.web.access import BROWSER_COOKIE, COOKIE
from cobandit.web.security import FAILURES_ALLOWED, hash_password
from cobandit.web.services.accounts import add_account, change_password
from cobandit.web.serving import prepare
from cobandit.web.storage.logins import BROWSER_KNOWN_MS, remember_browser
from cobandit.web.storage.values import now_ms
from tests.parameters import quick

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


def _log_in(client: httpx.Client, password: str = PASSWORD, name: str = "owner") -> int:
    return client.post("/admin/login", data={"password": password, "name": name}, headers=HTML).status_code


class TestKnownBrowsers:
    """Whoever has logged in from a browser is not kept out by wrong passwords of others in the same network."""

    def test_others_of_the_same_network_keep_nobody_out(self, site: Any) -> None:
        known, other = site.client(), site.client()
        assert _log_in(known) == 303
        known.cookies.delete(COOKIE, path="/")  # the login has ended, the browser is still known
        assert [_log_in(other, "wrong horse") for _ in range(FAILURES_ALLOWED + 1)] == [403] * FAILURES_ALLOWED + [429]
        assert _log_in(other) == 429
        assert _log_in(known, "mistyped") == 403
        assert _log_in(known) == 303
        assert _log_in(other) == 429

    def test_the_cookie_is_out_of_reach_and_lasts_for_months(self, site: Any) -> None:
        given = site.client().post("/admin/login", data={"password": PASSWORD}, headers=HTML)
        [cookie] = [text for text in given.headers.get_list("set-cookie") if text.startswith(BROWSER_COOKIE)]
        parts = {part.strip().lower() for part in cookie.split(";")}
        assert {"httponly", "samesite=strict", "path=/admin/login"} < parts
        assert f"max-age={90 * 86_400}" in parts
        value = cookie.partition("=")[2].partition(";")[0]
        assert value not in str(site.query("SELECT * FROM known_browsers"))
        assert site.client(headers={"cookie": f"{BROWSER_COOKIE}={value}"}).get("/admin").status_code == 303

    def test_a_stolen_cookie_allows_ten_wrong_passwords_as_well(self, site: Any) -> None:
        known = site.client()
        assert _log_in(known) == 303
        thief = site.client(headers={"x-forwarded-for": "198.51.100.7"})
        thief.cookies.update(known.cookies)
        answers = [_log_in(thief, f"guess {i}") for i in range(FAILURES_ALLOWED + 2)]
        assert answers == [403] * FAILURES_ALLOWED + [429] * 2
        moved = site.client(headers={"x-forwarded-for": "198.51.100.8"})  # another network, the same cookie
        moved.cookies.update(known.cookies)
        assert _log_in(moved, "guess") == 429
        assert _log_in(thief, "guess", "researcher-1") == 403  # counts by network, as for any stranger

    @pytest.mark.parametrize("value", quick(["", "x" * 32, "\u00e9", "' OR 1=1 --"], ["x" * 32]))
    def test_a_forged_cookie_changes_nothing(self, site: Any, value: str) -> None:
        client = site.client(headers={"cookie": f"{BROWSER_COOKIE}={value}".encode()})
        answers = [_log_in(client, f"guess {i}") for i in range(FAILURES_ALLOWED + 1)]
        assert answers == [403] * FAILURES_ALLOWED + [429]
        assert _log_in(client) == 429

    def test_a_cookie_holds_for_its_own_account_alone(self, site: Any) -> None:
        with site.database.write() as connection:
            password = add_account(connection, "owner", "anna", "assistant")
        anna, stranger = site.client(), site.client()
        assert _log_in(anna, password, "anna") == 303
        for _ in range(FAILURES_ALLOWED):
            _log_in(stranger, "wrong horse")
        assert _log_in(anna, PASSWORD, "owner") == 429
        assert _log_in(anna, password, "anna") == 303

    def test_a_new_password_and_time_make_a_browser_unknown(self, site: Any, short: StudyDesign) -> None:
        def blocked_after(change: Callable[[], Any], password: str) -> int:
            client, stranger = site.client(), site.client()
            site.change("DELETE FROM failed_logins")
            assert _log_in(client) == 303
            change()
            for _ in range(FAILURES_ALLOWED):
                _log_in(stranger, "wrong horse")
            return _log_in(client, password)

        aged = now_ms() - BROWSER_KNOWN_MS
        assert blocked_after(lambda: None, PASSWORD) == 303
        assert (
            blocked_after(lambda: site.change("UPDATE known_browsers SET created_at = :at", at=aged), PASSWORD) == 429
        )
        another = hash_password("another horse")

        def change() -> None:
            with site.database.write() as connection:
                change_password(connection, "owner", another)

        assert blocked_after(change, "another horse") == 429
        site.change("DELETE FROM failed_logins")
        prepare(site.config.database, [short], password=PASSWORD)
        assert site.query("SELECT * FROM known_browsers") == []

    def test_an_account_is_known_in_twenty_browsers(self, site: Any) -> None:
        with site.database.write() as connection:
            for number in range(25):
                remember_browser(connection, f"b{number}", "owner", number)
        assert {row[0] for row in site.query("SELECT digest FROM known_browsers")} == {f"b{n}" for n in range(5, 25)}
