"""Links that a recruiting service was to fill in: who comes by them, and who is turned away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.studies.page_texts import page_texts
from cobandit.web.services.recruiting import UNFILLED_SHOWN_MS, Recruit, recruit, unfilled

UNFILLED = [
    {"PROLIFIC_PID": "PROLIFIC_PID"},
    {"workerId": " workerid "},
    {"PROLIFIC_PID": "\u200b"},
    {"survey_code": "\ufeff%0d%0a"},
    {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "STUDY_ID": "{{%STUDY_ID%}}"},
    {"PROLIFIC_PID": "%7B%7B%25PROLIFIC_PID%25%7D%7D"},
    {"PROLIFIC_PID": "${e://Field/PROLIFIC_PID}"},
    {"PROLIFIC_PID": ""},
    {"workerId": "undefined"},
    {"workerId": "null"},
    {"survey_code": "%SURVEY_CODE%"},
    {"id": "%SURVEY_CODE%"},
    {"label": "  "},
    {"label": "[label]"},
    {"label": "<your label>"},
    {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "label": "anna"},
]
FILLED = [
    {"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"},
    {"workerId": "A1B2C3"},
    {"survey_code": "1234"},
    {"label": "anna"},
    {"label": "50% off %"},
    {"label": "Nonette"},
    {"label": "<b>anna</b>"},
    {"utm_source": "{{x}}"},
    {},
]


@pytest.mark.parametrize("parameters", UNFILLED)
def test_placeholders(parameters: dict[str, str]) -> None:
    assert unfilled(parameters) == next(iter(parameters))


@pytest.mark.parametrize("parameters", FILLED)
def test_values(parameters: dict[str, str]) -> None:
    assert unfilled(parameters) is None


def test_what_is_not_filled_in_beside_an_id_is_left_out() -> None:
    link = {"PROLIFIC_PID": "5f0c1e2d", "STUDY_ID": "{{%STUDY_ID%}}", "SESSION_ID": "s1"}
    assert recruit(link) == Recruit("prolific", "5f0c1e2d", {"SESSION_ID": "s1"})


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_nobody_comes_by_them_and_the_researcher_is_told(
    open_site: Callable[..., Any], short: StudyDesign, request: pytest.FixtureRequest, problem: Any, backend: str
) -> None:
    site = open_site(request.getfixturevalue(backend), short, demo=True)
    admin: httpx.Client = site.client(headers={"authorization": f"Bearer {site.login()}"})

    def told() -> dict[str, Any] | None:
        return dict(found) if (found := admin.get("/api/admin/studies/1/live").json()["unfilled"]) else None

    assert told() is None
    link = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}
    for _ in range(2):
        message = problem(site.arrive(recruiting=link), 422, "unfilled")["message"]
        assert "PROLIFIC_PID='{{%PROLIFIC_PID%}}'" in message
        assert "Which link to paste" in message
    described = site.client().get("/api/studies/short", params=link)
    assert problem(described, 422, "unfilled")["message"] == message, "before the consent, in the same words"
    shown = site.client().get("/s/short", params=link | {"language": "de"}, headers={"accept": "text/html"})
    assert shown.status_code == 422
    assert page_texts("de")["unfilled.text"] in shown.text
    assert short.consent.text not in shown.text
    assert site.client().get("/api/studies/short", params=link | {"demo": "1"}).status_code == 200
    assert site.client().get("/s/short", params=link | {"demo": "1"}).status_code == 200
    assert site.query("SELECT id FROM participants") == []
    found = told()
    assert found is not None
    assert found.pop("at") > 0
    assert found == {"parameter": "PROLIFIC_PID", "value": "{{%PROLIFIC_PID%}}", "count": 4}
    assert site.arrive(recruiting=link, demo=True).status_code == 201  # of a demo it does not matter who comes
    [(stored,)] = site.query("SELECT value FROM settings WHERE name = 'unfilled-links-1'")
    at = int(stored.rpartition(": ")[2].rstrip("}"))
    site.change(
        "UPDATE settings SET value = :v WHERE name = 'unfilled-links-1'",
        v=stored.replace(str(at), str(at - UNFILLED_SHOWN_MS)),
    )
    assert told() is None
