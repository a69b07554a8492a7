"""Whatever is sent to the interface: no internal error, and only answers that its description tells of.

The description is /openapi.json; schemathesis makes requests out of it, right ones and wrong ones, and a part of them
is aimed at a study, a participant and a login that are really there.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from cobandit.studies import StudyDesign, journey
from cobandit.web import WebConfig, create_app
from tests.clients import PATIENCE

EXAMPLES = {"participant": 15, "researcher": 8, "server": 6}
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
DESCRIPTION = create_app(WebConfig(database="sqlite:///never-opened.sqlite")).openapi()
OPERATIONS = [(method.upper(), path) for path, operations in DESCRIPTION["paths"].items() for method in operations]
RIGHT, WRONG = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
NOTHING_WRONG = (  # any request to these is a right one
    "/api/health",
    "/api/health/live",
    "/api/messages/{language}",
    "/api/participants/{token}/messages",
    "/api/participants/{token}/robot",
    "/api/robot/{version}/scene.json",
    "/api/robot/{version}/recordings/{name}",
)

QUICK = (
    "/api/admin/sessions",
    "/api/admin/studies",
    "/api/admin/studies/{number}/live",
    "/api/admin/studies/{number}/participants/{participant}",
)
"""Researchers' routes of which `make test` asks right requests; `make long` asks all, and wrong ones."""


class Target:
    """A running server, and what is really there: somebody in an episode, and a login."""

    def __init__(self, site: Any, design: StudyDesign) -> None:
        self.site, self.design = site, design
        self.schema = schemathesis.openapi.from_dict(DESCRIPTION)
        self.login = site.login()
        self.person = site.person()
        self.person.go_on(design, "episode-1")
        [(self.number,)] = site.query("SELECT id FROM studies")

    def aim(self, case: Any, draw: Any) -> None:
        """Put what is really there into a request."""
        steps = [step.id for step in journey(self.design).steps]
        public = self.site.query("SELECT public_id FROM participants ORDER BY id DESC LIMIT 1")[0].public_id
        real = {
            "token": self.person.token,
            "study": "short",
            "step": draw(st.sampled_from(steps)),
            "number": self.number,
            "participant": public,
            "episode": draw(st.integers(0, 4)),
        }
        for name in case.path_parameters or {}:
            if name in real and draw(st.integers(0, 3)):
                case.path_parameters[name] = real[name]
        case.headers = dict(case.headers or {})
        if draw(st.integers(0, 3)) and case.path.startswith("/api/admin"):
            case.headers["Authorization"] = f"Bearer {self.login}"

    def renew(self) -> None:
        """Log in again and let somebody arrive, where a request has ended the one or deleted the other."""
        self.login = self.site.login()
        client = self.site.client(headers={"authorization": f"Bearer {self.login}"})
        self.site.arrive(client=client, rehearsal=True, key=uuid.uuid4().hex)


@pytest.fixture(scope="module")
def target(shared_site: Any, short: StudyDesign) -> Iterator[Target]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cobandit.web.routes.admin.stream.STREAM_SECONDS", 0.02)  # the live view ends at once
        patch.setattr("cobandit.web.routes.admin.stream.PULSE_SECONDS", 0.01)
        yield Target(shared_site, short)


@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [
        pytest.param(
            method,
            path,
            mode,
            id=f"{method} {path} {mode.value}",
            marks=[pytest.mark.long] * ("/admin/" in path and (mode is WRONG or path not in QUICK)),
        )
        for method, path in OPERATIONS
        for mode in (RIGHT, WRONG)
        if mode is RIGHT or path not in NOTHING_WRONG
    ],
)
def test_every_answer_is_described(target: Target, method: str, path: str, mode: GenerationMode) -> None:
    operation = target.schema[path][method]
    sent: list[int] = []

    @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
    @settings(
        max_examples=EXAMPLES[DESCRIPTION["paths"][path][method.lower()]["tags"][0]],
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any, data: st.DataObject) -> None:
        target.aim(case, data.draw)
        response = case.call(base_url=target.site.url, timeout=PATIENCE)
        sent.append(response.status_code)
        case.validate_response(response, checks=CHECKS)

    target.renew()
    ask()
    assert sent
    assert max(sent) < 500


def test_the_description_is_served_and_complete(shared_site: Any) -> None:
    served = shared_site.client().get("/openapi.json").json()
    assert served == DESCRIPTION
    assert ("POST", "/api/participants/{token}/rounds") in OPERATIONS
    for operations in DESCRIPTION["paths"].values():
        for operation in operations.values():
            assert operation["description"] or operation["summary"]
            assert "tags" in operation
