"""Drafts of designs over HTTP: created, edited without loss, saved once, compared and published; on both databases."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.design import design_text, parse_design, shipped_designs
from cobandit.web.security import LARGEST_DESIGN_BODY
from cobandit.web.services.drafts import LONGEST_DRAFT, check_text, problem_path
from cobandit.web.services.toml_edits import Edit, edited, toml_text
from cobandit.web.storage.accounts import add_account
from cobandit.web.storage.drafts import MOST_REVISIONS
from tests.parameters import quick
from tests.team_designs import service_design

API = "/api/admin/designs"


def researcher(site: Any) -> httpx.Client:
    client: httpx.Client = site.client()
    client.headers["authorization"] = f"Bearer {site.login()}"
    return client


@pytest.fixture(params=["sqlite", "postgresql"])
def drafting(
    request: pytest.FixtureRequest, open_site: Callable[..., Any], short: StudyDesign
) -> tuple[Any, httpx.Client]:
    """A server with the short study, and a program of the researcher."""
    site = open_site(request.getfixturevalue(request.param), short)
    return site, researcher(site)


def new(admin: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = admin.post(API, json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("#")]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(path, value)] + [place for key, part in parts for place in places(part, (*path, key))]


class TestDrafts:
    def test_from_template_to_published_versions(self, drafting: tuple[Any, httpx.Client]) -> None:
        site, admin = drafting
        draft = new(admin, name="my-burger", template="burger")
        assert (draft["revision"], draft["problem"], draft["design"]["version"]) == (1, None, 1)
        assert comments(draft["text"]) == comments(design_text("burger"))
        address = f"{API}/{draft['id']}"
        changed = admin.post(
            f"{API}/edit", json={"text": draft["text"], "edits": [{"op": "set", "path": ["rounds"], "value": 7}]}
        ).json()
        assert (changed["data"]["rounds"], changed["problem"]) == (7, None)
        assert admin.post(address, json={"text": changed["text"], "revision": 1}).json() == {"revision": 2}
        published = admin.post(f"{address}/publish", json={"revision": 2})
        assert published.status_code == 201, published.text
        assert published.json()["label"] == "my-burger v1"
        again = admin.post(f"{address}/publish", json={"revision": 2})
        assert (again.status_code, again.json()["error"]) == (409, "unchanged")
        participant = site.person("my-burger")
        assert participant.state()["study"] == "my-burger"

        longer = changed["text"].replace("rounds = 7", "rounds = 9")
        assert admin.post(address, json={"text": longer, "revision": 2}).status_code == 200
        refused = admin.post(f"{address}/publish", json={"revision": 3, "version": 1})
        assert refused.status_code == 422
        assert "A new version is a new study: set version = 2." in refused.json()["message"]
        lines = admin.post(f"{address}/differences", json={"text": longer, "version": 1}).json()["lines"]
        assert [line for line in lines[2:] if line[0] in "+-"] == ["-rounds = 7", "+rounds = 9"]
        assert admin.post(f"{address}/publish", json={"revision": 3}).json()["label"] == "my-burger v2"
        now = admin.get(address).json()
        assert (now["versions"], now["base_version"], now["data"]["version"]) == ([2, 1], 2, 2)
        assert [saved["revision"] for saved in now["revisions"]] == [4, 3, 2, 1]
        assert admin.get(address, params={"revision": 1}).json()["text"] == draft["text"]
        log = [(entry["action"], entry["by"]) for entry in admin.get("/api/admin/log").json()["entries"]]
        assert [entry for entry in reversed(log) if entry[0] in ("draft-created", "draft-saved")] == [
            ("draft-created", "owner"), ("draft-saved", "owner"), ("draft-saved", "owner"),
        ]  # fmt: skip
        assert log.count(("study-registered", "owner")) == 2

    def test_a_stale_save_loses_nothing(self, drafting: tuple[Any, httpx.Client]) -> None:
        _, admin = drafting
        draft = new(admin, name="two-tabs", template="casino")
        address = f"{API}/{draft['id']}"
        first = draft["text"].replace("rounds = ", "rounds = 1")
        assert admin.post(address, json={"text": first, "revision": 1}).json() == {"revision": 2}
        assert admin.post(address, json={"text": first, "revision": 1}).json() == {"revision": 2}  # a lost answer
        refused = admin.post(address, json={"text": draft["text"] + "# mine\n", "revision": 1})
        assert (refused.status_code, refused.json()["error"]) == (409, "stale")
        assert admin.get(address).json()["text"] == first
        late = admin.post(f"{address}/publish", json={"revision": 1})
        assert (late.status_code, late.json()["error"]) == (409, "stale")

    def test_a_stored_study_continues_its_versions(
        self, drafting: tuple[Any, httpx.Client], short: StudyDesign
    ) -> None:
        site, admin = drafting
        [(number,)] = site.query("SELECT id FROM studies")
        draft = new(admin, study=number)
        assert (draft["design"]["digest"], draft["base_version"], draft["versions"]) == (short.digest, 1, [1])
        copied = new(admin, study=number, name="other")
        assert (copied["name"], copied["base_version"], copied["versions"]) == ("other", None, [])
        same = admin.post(f"{API}/{draft['id']}/differences", json={"text": draft["text"], "version": 1}).json()
        assert same == {"label": "short v1", "lines": []}

    def test_unfinished_drafts_are_saved_and_not_published(self, drafting: tuple[Any, httpx.Client]) -> None:
        _, admin = drafting
        draft = new(admin, text="name = \n")
        assert (draft["data"], draft["problem"]["line"]) == (None, 1)
        address = f"{API}/{draft['id']}"
        refused = admin.post(f"{address}/publish", json={"revision": 1})
        assert (refused.status_code, refused.json()["error"]) == (422, "invalid")
        assert "not valid TOML" in refused.json()["message"]
        assert admin.delete(address).status_code == 200
        assert admin.get(address).status_code == 404

    def test_old_revisions_make_room(self, drafting: tuple[Any, httpx.Client]) -> None:
        _, admin = drafting
        draft = new(admin, text="# 1")
        for revision in range(1, MOST_REVISIONS + 2):
            saved = admin.post(f"{API}/{draft['id']}", json={"text": f"# {revision + 1}", "revision": revision})
            assert saved.json() == {"revision": revision + 1}
        now = admin.get(f"{API}/{draft['id']}").json()
        assert [now["revisions"][0]["revision"], now["revisions"][-1]["revision"]] == [MOST_REVISIONS + 2, 3]


class TestBadInput:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({}, "Exactly one"),
            ({"template": "burger"}, "name must be given"),
            ({"template": "burger", "name": "Not A Slug"}, "name"),
            ({"template": "burgr", "name": "x"}, "Did you mean 'burger'?"),
            ({"text": "x", "study": 1}, "Exactly one"),
            ({"text": "a\0b"}, "NUL"),
            ({"text": "x" * (LONGEST_DRAFT + 1)}, "at most 400,000 bytes"),
        ],
    )
    def test_new_drafts(self, shared_admin: httpx.Client, body: dict[str, Any], words: str) -> None:
        answer = shared_admin.post(API, json=body)
        assert answer.status_code == 422
        assert words in answer.json()["message"]

    def test_broken_letters(self, shared_admin: httpx.Client) -> None:
        answer = shared_admin.post(API, content=b'{"text": "\\ud800"}', headers={"content-type": "application/json"})
        assert answer.status_code == 422

    @pytest.mark.parametrize(
        "edit",
        [
            {"op": "set", "path": ["rounds"], "value": None},
            {"op": "set", "path": ["quiz", 99, "text"], "value": "x"},
            {"op": "set", "path": ["rounds", "deep"], "value": 1},
            {"op": "set", "path": ["quiz", "text"], "value": 1},
            {"op": "remove", "path": ["nothing"]},
            {"op": "insert", "path": ["task", "kind"], "value": 1},
            {"op": "move", "path": ["quiz", 0], "to": 99},
            {"op": "set", "path": ["rounds"], "value": 10**30},
            {"op": "set", "path": [], "value": 1},
        ],
    )
    def test_edits(self, shared_admin: httpx.Client, edit: dict[str, Any]) -> None:
        answer = shared_admin.post(f"{API}/edit", json={"text": design_text("burger"), "edits": [edit]})
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")

    @pytest.mark.parametrize("value", ["nan", "inf", "1979-05-27", "07:32:00", "9007199254740993"])
    def test_values_that_json_lacks(self, shared_admin: httpx.Client, value: str) -> None:
        text = design_text("burger").replace("rounds = ", f"odd = {value}\nrounds = ", 1)
        answer = shared_admin.post(
            f"{API}/edit", json={"text": text, "edits": [{"op": "set", "path": ["title"], "value": "T"}]}
        )
        assert answer.status_code == (422 if value == "nan" else 200)  # nan differs from itself
        if answer.status_code == 200:
            assert f"odd = {value}\n" in answer.json()["text"]
            assert answer.json()["problem"]["path"] == ["odd"]

    def test_bodies_may_hold_a_design_and_no_more(self, shared_admin: httpx.Client) -> None:
        text = "# " + "x" * (LONGEST_DRAFT - 2)
        assert shared_admin.post(f"{API}/edit", json={"text": text}).status_code == 200
        large = shared_admin.post(f"{API}/edit", json={"text": "x" * LARGEST_DESIGN_BODY})
        assert (large.status_code, large.json()["message"]) == (413, "A request may have 512 KB.")

    def test_assistants_may_not(self, site: Any) -> None:
        with site.database.writing.begin() as connection:
            add_account(connection, "helper", "assistant", "no password", 1)
        login = site.login()
        site.change("UPDATE admin_logins SET account = 'helper'")
        client = site.client()
        client.headers["authorization"] = f"Bearer {login}"
        for method, path in (("GET", ""), ("GET", "/schema"), ("POST", "/edit"), ("GET", "/1"), ("POST", "/1/publish")):
            answer = client.request(method, API + path, json={} if method == "POST" else None)
            assert (answer.status_code, answer.json()["error"]) == (403, "not-allowed"), path
        assert site.client().get(API).status_code == 401

    def test_new_policies_behind_http_are_published_by_the_owner(self, site: Any) -> None:
        """A researcher could else send requests of this machine anywhere, signed with COBANDIT_PASSWORD."""
        with site.database.writing.begin() as connection:
            add_account(connection, "anna", "researcher", "no password", 1)
        anna, data = researcher(site), service_design().to_dict() | {"version": 1}
        site.change("UPDATE admin_logins SET account = 'anna'")
        owner = researcher(site)
        data["seats"][1]["service"] = {"kind": "http", "url": "https://lab.example.org/policy", "secret": "LAB_SECRET"}
        draft = new(anna, text=toml_text(StudyDesign.from_dict(data).essence()))
        path = f"{API}/{draft['id']}"
        refused = anna.post(f"{path}/publish", json={"revision": 1})
        assert (refused.status_code, refused.json()["error"]) == (403, "not-allowed")
        assert "https://lab.example.org/policy" in refused.json()["message"]
        assert owner.post(f"{path}/publish", json={"revision": 1}).status_code == 201
        longer, secret = draft["text"].replace("rounds = 4", "rounds = 6"), ("LAB_SECRET", "COBANDIT_PASSWORD")
        assert longer != draft["text"]
        for revision, (text, status) in enumerate(((longer, 201), (longer.replace(*secret), 403)), 2):
            known = anna.get(path).json()["revision"]
            saved = anna.post(path, json={"text": text, "revision": known}).json()
            assert anna.post(f"{path}/publish", json=saved).status_code == status, revision


class TestLossless:
    @pytest.mark.parametrize("name", shipped_designs())
    def test_every_value_set_again(self, name: str) -> None:
        """A form that sets every value to what it is changes neither digest nor comments."""
        text = design_text(name)
        data = check_text(text)["data"]
        values = [Edit("set", path, json.loads(json.dumps(part))) for path, part in places(data) if path]
        leaves = [edit for edit in values if not isinstance(edit.value, (dict, list))]
        after = edited(text, leaves)
        assert parse_design(after).digest == parse_design(text).digest == load_design(name).digest
        assert comments(after) == comments(text)

    @pytest.mark.parametrize("name", quick(shipped_designs(), ["burger-pair", "three-seats"]))
    def test_moved_there_and_back(self, name: str) -> None:
        text = design_text(name)
        data = check_text(text)["data"]
        lists = [path for path, part in places(data) if isinstance(part, list) and len(part) > 1]
        for path in lists:
            there = edited(text, [Edit("move", (*path, 0), to=1)])
            back = edited(there, [Edit("move", (*path, 1), to=0)])
            assert parse_design(back).digest == parse_design(text).digest
            assert sorted(comments(back)) == sorted(comments(text))

    @pytest.mark.parametrize("name", shipped_designs())
    def test_data_as_toml(self, name: str) -> None:
        design = load_design(name)
        for data in (design.essence(), design.to_dict()):
            assert parse_design(toml_text(data)).digest == design.digest

    def test_new_keys_tables_and_lists(self) -> None:
        text = design_text("three-by-three")
        quiz = {"id": uuid.UUID(int=1).hex, "text": "First\nsecond", "choices": ["a", "b"], "answer": 0}
        after = edited(
            text,
            [
                Edit("set", ("swap_labels",), True),
                Edit("set", ("limits",), {"warn_seconds": 50}),
                Edit("set", ("quiz",), [quiz]),
                Edit("insert", ("quiz", 1), quiz | {"id": "second"}),
                Edit("set", ("messages",), {"en": {"reload": "Load it again"}}),
            ],
        )
        design = parse_design(after)
        assert (design.swap_labels, design.limits.warn_seconds, len(design.quiz)) == (True, 50, 2)
        assert design.quiz[0].text == "First\nsecond"
        assert comments(after) == comments(text)

    @pytest.mark.parametrize("op", ["set", "insert"])
    def test_only_tables_go_into_a_list_of_tables(self, op: Any) -> None:
        with pytest.raises(InvalidInput, match=r"value at path \['conditions', 1\] must be a table, got 99"):
            edited(design_text("burger"), [Edit(op, ("conditions", 1), 99)])

    def test_true_is_not_one(self) -> None:
        with pytest.raises(InvalidInput, match="integer"):
            parse_design(edited(design_text("burger"), [Edit("set", ("rounds",), True)]))


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (Edit("set", ("rounds",), 0), ["rounds"]),
        (Edit("set", ("task", "kind"), 3), None),
        (Edit("set", ("quiz", 0, "answer"), "x"), ["quiz", 0, "answer"]),
        (Edit("set", ("task", "colour"), "red"), ["task", "colour"]),
        (Edit("set", ("colour",), "red"), ["colour"]),
        (Edit("remove", ("rounds",)), ["rounds"]),
        (Edit("remove", ("conditions", 0, "agent")), ["conditions", 0, "agent"]),
        (Edit("set", ("arms",), [2, 3]), ["task", "arms"]),
        (Edit("set", ("survey", "points"), 1), ["survey", "points"]),
    ],
)
def test_problems_name_their_place(edit: Edit, path: list[Any] | None) -> None:
    problem = check_text(edited(design_text("burger"), [edit]))["problem"]
    assert problem["path"] == path, problem["message"]
    assert problem_path("Nothing of the kind.") is None
