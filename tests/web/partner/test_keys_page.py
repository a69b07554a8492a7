"""API keys at /admin/keys and at the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cobandit.cli import app
from tests.web.partner.conftest import Service


def logged_in(service: Service) -> tuple[Any, str]:
    http = service.http()
    del http.headers["authorization"]
    http.post("/admin/login", data={"password": "correct horse"})
    page = http.get("/admin/keys")
    assert page.status_code == 200
    return http, re.search(r'name="form_token" value="(\w+)"', page.text)[1]  # type: ignore[index]


def test_the_owner_adds_and_revokes_a_key(on_sqlite: Service) -> None:
    http, token = logged_in(on_sqlite)
    form = {"form_token": token, "label": "shop", "tenant": "default", "scope": "play", "rate": "9"}
    shown = http.post("/admin/keys", data=form)
    key = re.search(r"cb_\w{12}_[\w-]{43}", shown.text)[0]  # type: ignore[index]
    assert on_sqlite.http(key).get("/v1/teams").status_code == 200
    page = http.get("/admin/keys").text
    assert key not in page
    assert "shop" in page
    assert http.post(f"/admin/keys/{key[3:15]}/revoke", data={"form_token": token}).status_code == 303
    assert on_sqlite.http(key).get("/v1/teams").status_code == 401


def test_a_wrong_form_is_answered_in_words(on_sqlite: Service) -> None:
    http, token = logged_in(on_sqlite)
    form = {"form_token": token, "label": "shop", "tenant": "default", "scope": "play", "rate": "9"}
    for change in ({"label": "A b"}, {"rate": "x"}, {"rate": "0"}, {"scope": "root"}, {"tenant": ""}):
        answer = http.post("/admin/keys", data=form | change)
        assert answer.status_code == 422, change
        assert 'class="notice bad"' in answer.text


def test_a_form_from_elsewhere_and_a_visitor_are_refused(on_sqlite: Service) -> None:
    http, _ = logged_in(on_sqlite)
    assert http.post("/admin/keys", data={"label": "x"}).status_code == 403
    visitor = on_sqlite.http()
    assert visitor.get("/").headers["location"] == "/admin/keys"
    assert visitor.get("/admin/keys").status_code in (303, 401, 403)


def test_a_server_of_studies_has_no_such_page(open_site: Any, short_sqlite: str) -> None:
    site = open_site(short_sqlite)
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})
    assert client.get("/admin/keys").status_code == 404


def test_the_commands_add_list_and_revoke(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'partner.sqlite'}"
    run = CliRunner()
    missing = run.invoke(app, ["partner", "keys", "list", "--database", database])
    assert missing.exit_code == 2
    made = run.invoke(app, ["partner", "keys", "add", "shop", "--scope", "admin", "--json", "--database", database])
    key = json.loads(made.stdout)
    assert key["key"].startswith(f"cb_{key['id']}_")
    listed = json.loads(run.invoke(app, ["partner", "keys", "list", "--json", "--database", database]).stdout)["keys"]
    assert [(entry["label"], entry["scope"], entry["revoked_at"]) for entry in listed] == [("shop", "admin", None)]
    assert "key" not in listed[0]
    assert run.invoke(app, ["partner", "keys", "revoke", key["id"], "--database", database]).exit_code == 0
    assert run.invoke(app, ["partner", "keys", "revoke", key["id"], "--database", database]).exit_code == 2
    text = run.invoke(app, ["partner", "keys", "list", "--database", database]).stdout
    assert "revoked" in text
