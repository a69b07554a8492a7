"""The studies with their people, and closing one."""

from __future__ import annotations

from typing import Any

import httpx

from cobandit.studies import StudyDesign

STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def test_a_closed_study_takes_nobody_new(site: Any, short: StudyDesign, admin: httpx.Client, problem: Any) -> None:
    begun = site.person(key="somebody-who-has-begun")
    closed = admin.post(f"{STUDY}/close").json()
    assert closed.pop("availability")["code"] == "closed"
    assert closed == {"study": 1, "open": False, "state": "closed", "quota": None}
    problem(site.arrive(), 403, "closed")
    assert site.arrive(key="somebody-who-has-begun").status_code == 200
    assert begun.go_on(short)["thanks"]["code"] == "THANKS42"
    assert site.client().get("/api/studies/short").json()["open"] is False
    home = site.client().get("/", headers=HTML).text
    assert "takes no new participants" in home
    assert 'href="/s/short"' not in home
    opened = admin.post(f"{STUDY}/open").json()
    assert opened.pop("availability")["code"] == "open"
    assert opened == {"study": 1, "open": True, "state": "open", "quota": None}
    assert site.arrive().status_code == 201
    assert 'href="/s/short"' in site.client().get("/", headers=HTML).text
