"""What every answer carries, what none may tell, and that nobody gets at somebody else's game."""

from __future__ import annotations

import json
import logging
import re
import uuid
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.web.security import (
    HEADERS,
    Throttle,
    form_token,
    form_token_fits,
    hash_password,
    new_token,
    password_fits,
)
from tests.clients import PATIENCE


def key() -> str:
    return uuid.uuid4().hex


def sealed(response: httpx.Response) -> None:
    """The answer has every header that keeps others out."""
    for name, value in HEADERS:
        if name != b"content-security-policy":
            assert response.headers[name.decode()] == value.decode(), (response.url, name)
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "server" not in response.headers


def test_every_kind_of_answer_is_sealed(shared_site: Any, short: StudyDesign) -> None:
    person = shared_site.person()
    client = person.client
    page = {"accept": "text/html"}
    answers = [
        client.get("/", headers=page),
        client.get("/s/short", headers=page),
        client.get(f"/p/{person.token}", headers=page),
        client.get("/p/nobody-has-this-token-here", headers=page),
        client.get("/nothing/here"),
        client.get("/nothing/here", headers=page),
        client.get("/api/studies/short"),
        client.get("/api/studies/none"),
        client.get(person.path),
        client.get("/api/health"),
        client.get("/openapi.json"),
        client.get("/static/base.css"),
        client.get("/static/nothing.css"),
        client.get("/static/../app.py"),
        client.get("/admin", headers=page),
        client.get("/api/admin/studies"),
        client.put(person.path),
        client.options(person.path),
        client.head(person.path),
        client.post(f"{person.path}/rounds", content=b"x" * 200_000),
        client.post(f"{person.path}/rounds", content=b"{"),
        person.send(9, (1, 0, key())),
        person.answer("demographics", {"age": 1}),
    ]
    statuses = {response.status_code for response in answers}
    assert {200, 404, 405, 409, 413, 422} <= statuses
    assert max(statuses) < 500
    for response in answers:
        sealed(response)
        if not response.request.url.path.startswith("/static/"):
            assert response.headers["cache-control"] == "no-store", response.url


def test_pages_need_nothing_that_the_policy_forbids(shared_site: Any) -> None:
    person = shared_site.person()
    for address in ("/", "/s/short", f"/p/{person.token}", "/nothing"):
        page = person.client.get(address, headers={"accept": "text/html"}).text
        assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S", page), address
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page), address
        assert not re.search(r"(?:href|src|action)=[\"'](?:https?:)?//", page), address


@pytest.mark.parametrize(
    "address", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fapp.py", "/static//etc/passwd"]
)
def test_only_static_files_are_static(shared_site: Any, address: str) -> None:
    import socket
    from urllib.parse import urlsplit

    parts = urlsplit(shared_site.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall(f"GET {address} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split()[1] == b"404", answer[:200]
    assert b"create_app" not in answer


def test_an_internal_error_tells_nothing(
    site: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    person = site.person(recruiting={"label": "very-private"})

    async def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("secret-of-the-inside")

    monkeypatch.setattr("cobandit.web.services.participants.Participants.state", broken)
    with caplog.at_level(logging.ERROR):
        plain = person.client.get(person.path)
        page = person.client.get(f"/p/{person.token}", headers={"accept": "text/html"})
    for response in (plain, page):
        assert response.status_code == 500
        assert "secret-of-the-inside" not in response.text
        assert "Traceback" not in response.text
        assert "RuntimeError" not in response.text
        sealed(response)
    assert plain.json()["error"] == "internal"
    assert "secret-of-the-inside" in caplog.text  # the researcher's log has it ...
    assert person.token not in caplog.text  # ... but nobody's personal link
    assert "very-private" not in caplog.text


def test_somebody_elses_game(site: Any, short: StudyDesign) -> None:
    """Two people side by side: nothing of one is told to the other, or changed by the other."""
    first = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    second = site.person(recruiting={"PROLIFIC_PID": "6f0c1e2d3b4a59687a6b5c4e"})
    for person in (first, second):
        person.go_on(short, "episode-1")
    sent = key()
    first.send(1, (1, 0, sent))
    before = site.query("SELECT * FROM rounds ORDER BY episode_id, t")
    # The key of another person's move is worth nothing ...
    assert second.send(1, (1, 1, sent)).status_code == 200
    assert second.state()["episode"]["latest"]["arms"][0] == 1
    assert first.state()["episode"]["latest"]["arms"][0] == 0
    assert site.query("SELECT * FROM rounds ORDER BY episode_id, t")[: len(before)] != []
    mine = site.query(
        "SELECT e.participant_id, r.t, r.arms FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE r.key = :k",
        k=sent,
    )
    assert len({row.participant_id for row in mine}) == 2
    # ... and so is the public name.
    state = json.dumps(first.state())
    public = first.state()["participant"]
    assert first.token not in state
    assert second.token not in state
    for guess in (
        public,
        public.removeprefix("p-"),
        "1",
        sent,
        first.token[:-1],
        first.token + "A",
        first.token.swapcase(),
    ):
        answer = second.client.get(f"/api/participants/{guess}")
        assert answer.status_code == 404, guess
        assert second.client.post(f"/api/participants/{guess}/answers/rest-2", json={"answers": {}}).status_code == 404


@pytest.mark.parametrize("token", ["", " ", "%00", "%25", "a" * 1000, "' OR 1=1 --", "%F0%9F%98%80", "\u0661" * 20])
def test_guessed_tokens_are_nobodys(shared_site: Any, token: str) -> None:
    client = shared_site.client()
    shared_site.person()
    for path in (f"/api/participants/{token}", f"/p/{token}"):
        answer = client.get(path)
        assert answer.status_code in (404, 405, 307), (path, answer.text)
        assert "Traceback" not in answer.text
    moves = {"episode": 0, "moves": [{"t": 1, "arm": 0, "key": key()}]}
    assert client.post(f"/api/participants/{token}/rounds", json=moves).status_code in (404, 405, 307)


def test_tokens_are_long_and_all_different() -> None:
    tokens = {new_token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert min(map(len, tokens)) >= 32


def test_the_personal_link_does_not_travel(shared_site: Any) -> None:
    person = shared_site.person()
    page = person.client.get(f"/p/{person.token}", headers={"accept": "text/html"})
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in page.headers


def test_texts_of_a_visitor_are_never_markup(shared_site: Any) -> None:
    nasty = "<script>alert(1)</script>"
    client = shared_site.client()
    for address in (f"/s/{nasty}", f"/p/{nasty}", f"/s/short?label={nasty}", f"/{nasty}", f"/s/short?language={nasty}"):
        answer = client.get(address, headers={"accept": "text/html"})
        assert nasty not in answer.text, address


def test_a_password_is_kept_as_a_hash_of_its_own(site: Any) -> None:
    [(stored,)] = site.query("SELECT value FROM settings WHERE name = 'admin-password'")
    assert "correct horse" not in stored
    assert stored != hash_password("correct horse")
    assert password_fits("correct horse", stored)
    assert not password_fits("correct horsf", stored)
    assert not password_fits("", stored)
    assert not password_fits("correct horse", "rubbish")
    assert not password_fits("\ud800", stored)


def test_form_tokens_fit_their_own_login_only() -> None:
    assert form_token_fits("login-a", form_token("login-a"))
    assert not form_token_fits("login-a", form_token("login-b"))
    assert not form_token_fits("login-a", "")
    assert not form_token_fits("login-a", "\udcff")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/admin/studies/1/participants/p-x", "DELETE, GET"),
        ("/api/admin/studies/1/links", "GET, POST"),
        ("/admin/login", "GET, POST"),
        ("/api/participants/nobody-has-this-token", "GET"),
        ("/api/health", "GET"),
        ("/static/base.css", "GET, HEAD"),
    ],
)
def test_another_method_is_told_which_there_are(shared_site: Any, path: str, allowed: str) -> None:
    answer = shared_site.client().patch(path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_a_login_form_with_too_much_in_it(shared_site: Any) -> None:
    form = {f"field-{i}": "x" for i in range(20)}
    answer = shared_site.client().post("/admin/login", data=form, headers={"accept": "text/html"})
    assert answer.status_code == 422
    assert "too many fields" in answer.text


def test_a_throttle_counts_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    # The clock of this module alone: servers in other threads go by the real first.
    monkeypatch.setattr("cobandit.web.security.time", SimpleNamespace(monotonic=lambda: now[0]))
    throttle = Throttle(3, seconds=60, addresses=2)
    assert [throttle.allows("a") for _ in range(4)] == [True, True, True, False]
    assert throttle.allows("b")
    now[0] += 61
    assert throttle.allows("a")
    for address in ("c", "d", "e"):
        throttle.allows(address)
    assert len(throttle._seen) == 2


def test_too_many_arrivals_are_slowed_down(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.web.routes.participant._ARRIVALS", Throttle(2))
    same = key()
    assert [site.arrive(key=same).status_code for _ in range(3)] == [201, 200, 429]
    late = site.arrive()
    assert (late.json()["error"], late.headers["retry-after"]) == ("too-many", "60")
    researcher = site.client(headers={"authorization": f"Bearer {site.login()}"})
    assert site.arrive(client=researcher, rehearsal=True).status_code == 201


def test_arrivals_are_counted_by_network(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One household has 2^64 addresses of IPv6, and may not send people from each of them."""
    monkeypatch.setattr("cobandit.web.routes.participant._ARRIVALS", Throttle(3))

    def arrive(address: str) -> int:
        return site.arrive(client=site.client(headers={"x-forwarded-for": address})).status_code

    assert [arrive(f"2001:db8:1:2::{number}") for number in range(4)] == [201, 201, 201, 429]
    assert arrive("2001:db8:1:3::1") == 201


@pytest.mark.parametrize("host", ["evil.example", "evil.example:1", ""])
@pytest.mark.parametrize(("path", "onwards"), [("/admin/", "/admin"), ("/s/short/?label=a", "/s/short?label=a")])
def test_redirects_do_not_name_a_host(shared_site: Any, host: str, path: str, onwards: str) -> None:
    """A cache or a proxy could otherwise be made to send others to the host of an attacker."""
    answer = shared_site.client().get(path, headers={"host": host})
    assert (answer.status_code, answer.headers["location"]) == (307, onwards)


def test_links_begin_with_the_public_address(open_site: Any, short_sqlite: str) -> None:
    site = open_site(short_sqlite, public_url="https://study.example.org/")
    login = {"authorization": f"Bearer {site.login()}", "host": "evil.example"}
    (link,) = site.client(headers=login).post("/api/admin/studies/1/links", json={"count": 1}).json()
    assert link["url"].startswith("https://study.example.org/p/")
