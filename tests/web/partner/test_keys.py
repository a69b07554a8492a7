"""API keys: scopes, tenants, limits, revocation, and what the database holds of them."""

from __future__ import annotations

import hmac
import itertools
import json
from typing import Any

import pytest
from sqlalchemy import text

from cobandit.base.errors import InvalidInput
from cobandit.web import WebConfig, create_app
from cobandit.web.services.partner import keys as keys_module
from cobandit.web.services.partner.keys import _Bucket, add_key, revoke_key
from tests.clients import http_client
from tests.web.partner.conftest import TEAM

DESCRIPTION = create_app(WebConfig(database="sqlite:///never-opened.sqlite", partners=True)).state.partner_api.openapi()
OPERATIONS = [(method.upper(), path) for path, methods in DESCRIPTION["paths"].items() for method in methods]
SCOPE = {
    "POST /v1/teams": "admin",
    "DELETE /v1/teams/{team}": "admin",
    "DELETE /v1/teams/{team}/games/{game}": "admin",
    "POST /v1/teams/{team}/games": "play",
    "POST /v1/teams/{team}/games/{game}/choose": "play",
    "POST /v1/teams/{team}/games/{game}/observe": "play",
    "GET /v1/teams/{team}/games/{game}/state": "play",
    "GET /v1/teams": "read",
    "GET /v1/teams/{team}": "read",
    "GET /v1/teams/{team}/games": "read",
    "GET /v1/teams/{team}/games/{game}": "read",
    "GET /v1/teams/{team}/games/{game}/rounds": "read",
}
BODIES: dict[str, Any] = {
    "POST /v1/teams": TEAM,
    "POST /v1/teams/{team}/games": {"game": "g"},
    "POST /v1/teams/{team}/games/{game}/choose": {"round": 1},
    "POST /v1/teams/{team}/games/{game}/observe": {"round": 1, "action": [0, 0], "reward": 1, "override": True},
}
ORDER = ("read", "play", "admin")


def ask(http: Any, operation: str, team: str = "drinks", game: str = "g") -> Any:
    method, path = operation.split(" ")
    return http.request(method, path.format(team=team, game=game), json=BODIES.get(operation))


def test_every_operation_has_a_scope():
    assert {f"{method} {path}" for method, path in OPERATIONS} == set(SCOPE)


def test_a_key_may_do_what_its_scope_says(on_sqlite):
    http = {scope: on_sqlite.http(on_sqlite.keys[scope]) for scope in ORDER}
    for operation, needed in SCOPE.items():
        http["admin"].post("/v1/teams", json=TEAM)
        http["admin"].post("/v1/teams/drinks/games", json={"game": "g"})
        weaker = ORDER[: ORDER.index(needed)]
        for answer in (ask(http[scope], operation) for scope in weaker):
            assert (answer.status_code, answer.json()["error"]) == (403, "not-allowed"), operation
        answer = ask(http[needed], operation)
        assert answer.status_code < 300, (operation, answer.text)


def test_without_a_valid_key_nothing_is_answered(on_sqlite):
    on_sqlite.http().post("/v1/teams", json=TEAM)
    good = on_sqlite.keys["admin"]
    wrong = ["", "Bearer", "Bearer x", f"Basic {good}", f"Bearer {good[:-1]}", f"Bearer {good}x", f"Bearer {good[:16]}"]
    changed = good[:-1] + ("A" if good[-1] != "A" else "B")
    with http_client(on_sqlite.url) as http:
        for operation, header in itertools.product(SCOPE, (*wrong, f"Bearer {changed}", "Bearer \xe9")):
            http.headers = {b"authorization": header.encode("latin-1")} if header else {}
            answer = ask(http, operation)
            assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized"), (operation, header)
            assert answer.headers["www-authenticate"] == "Bearer"


def test_no_tenant_reaches_anything_of_another(service):
    """What another tenant asks for is answered as if it had never been there, and stays as it is."""
    mine = service.http()
    mine.post("/v1/teams", json=TEAM)
    mine.post("/v1/teams/drinks/games", json={"game": "g", "seed": 1})
    before = mine.get("/v1/teams/drinks/games/g/state").json()
    other = service.http(service.key(tenant="other"))
    assert other.get("/v1/teams").json() == {"teams": []}
    for operation in SCOPE.keys() - {"POST /v1/teams", "GET /v1/teams"}:
        there, absent = ask(other, operation), ask(other, operation, team="nothing")
        assert (there.status_code, there.json()) == (404, absent.json()), operation
    assert ask(other, "POST /v1/teams").status_code == 201  # a team of their own, of the same name
    assert mine.get("/v1/teams/drinks/games/g/state").json() == before
    assert len(mine.get("/v1/teams").json()["teams"]) == 1


def test_a_revoked_key_ends(service):
    key = service.key()
    http = service.http(key)
    assert http.get("/v1/teams").status_code == 200
    with service.opened() as database, database.write() as connection:
        revoke_key(connection, "test", key.split("_")[1])
    service.start()
    assert service.http(key).get("/v1/teams").status_code == 401
    with service.opened() as database, database.write() as connection, pytest.raises(InvalidInput):
        revoke_key(connection, "test", key.split("_")[1])


def test_a_running_server_notices_that_a_key_was_revoked(on_sqlite, monkeypatch):
    monkeypatch.setattr(keys_module, "REFRESH_SECONDS", 0.0)
    key = on_sqlite.key()
    http = on_sqlite.http(key)
    assert http.get("/v1/teams").status_code == 200
    with on_sqlite.opened() as database, database.write() as connection:
        revoke_key(connection, "test", key.split("_")[1])
    assert http.get("/v1/teams").status_code == 401


def test_the_database_and_the_log_hold_no_key(on_sqlite, tmp_path):
    key = on_sqlite.key()
    on_sqlite.http(key).post("/v1/teams", json=TEAM)
    secret = key.split("_", 2)[2]
    with on_sqlite.opened() as database, database.read() as connection:
        rows = [tuple(row) for row in connection.execute(text("SELECT * FROM api_keys"))]
        details = [row.details for row in connection.execute(text("SELECT details FROM audit"))]
    assert secret not in json.dumps([rows, details])
    on_sqlite.close()
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_a_rate_limit_is_one_key_s(on_sqlite):
    slow, fast = on_sqlite.http(on_sqlite.key(rate=1)), on_sqlite.http()
    statuses = [slow.get("/v1/teams").status_code for _ in range(40)]
    assert statuses[0] == 200
    assert 429 in statuses
    refused = next(answer for answer in (slow.get("/v1/teams") for _ in range(40)) if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) >= 1
    assert fast.get("/v1/teams").status_code == 200


def test_a_bucket_fills_with_the_rate():
    bucket = _Bucket(10, 0.0)
    assert [bucket.take(10, 0.0) for _ in range(20)] == [0.0] * 20
    assert bucket.take(10, 0.0) == pytest.approx(0.1)
    assert bucket.take(10, 0.1) == 0.0
    assert bucket.take(10, 0.15) == pytest.approx(0.05)


def test_digests_are_compared_in_constant_time_also_for_unknown_ids(on_sqlite, monkeypatch):
    compared, real = list[tuple[str, str]](), hmac.compare_digest

    def compare(one: str, two: str) -> bool:
        compared.append((one, two))
        return real(one, two)

    monkeypatch.setattr("cobandit.web.services.partner.keys.hmac.compare_digest", compare)
    good = on_sqlite.keys["read"]
    for header in (f"Bearer {good}", "Bearer cb_000000000000_" + "A" * 43, "Bearer short"):
        with http_client(on_sqlite.url, headers={"authorization": header}) as http:
            http.get("/v1/teams")
    assert len(compared) == 3
    assert all(len(one) == len(two) == 64 for one, two in compared)


def test_a_wrong_key_is_not_made(on_sqlite):
    usual: dict[str, Any] = {"label": "app", "tenant": "default", "scope": "play", "rate": 5}
    wrong = ({"label": "A b"}, {"label": ""}, {"tenant": "x" * 41}, {"scope": "root"}, {"rate": 0}, {"rate": 10**9})
    with on_sqlite.opened() as database, database.write() as connection:
        for given in (usual | change for change in wrong):
            with pytest.raises(InvalidInput):
                add_key(connection, "test", given.pop("label"), **given)


def test_a_body_has_a_limit(on_sqlite):
    http: Any = on_sqlite.http()
    http.post("/v1/teams", json=TEAM)
    big = {"game": "g", "state": {"a": "x" * 200_000}}
    for path in ("/v1/teams", "/v1/teams/drinks/games/g/observe", "/v1/teams/drinks/games/g/choose"):
        assert http.post(path, json=big).status_code == 413
    larger = {"game": "g", "state": {"a": "x" * 1_000_000}}
    assert http.post("/v1/teams/drinks/games", json=larger).status_code == 413
    assert http.post("/v1/teams/drinks/games", json=big).status_code == 422
    wrong = {"authorization": f"Bearer {on_sqlite.keys['play'][:-1]}?"}
    for body in (big, "["):  # a client without a key is refused before its body is read
        answer = http.post("/v1/teams/drinks/games", json=body, headers=wrong)
        assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized")


def test_the_service_is_off_unless_asked_for(open_site, short_sqlite):
    site = open_site(short_sqlite)
    assert site.client().get("/v1/teams").status_code == 404


def test_the_answers_carry_the_security_headers(on_sqlite):
    http = on_sqlite.http()
    http.post("/v1/teams", json=TEAM)
    http.post("/v1/teams/drinks/games", json={"game": "g"})
    for answer in (http.get("/v1/teams"), http.post("/v1/teams/drinks/games/g/choose"), http.get("/v1/nothing")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
