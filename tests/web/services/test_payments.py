"""Who is to be paid."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import httpx

from cobandit.studies import StudyDesign

NASTY = '<script>alert("1")</script>'
STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def test_a_clock_that_was_set_back(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    """Somebody who began when the clock was a day ahead finishes no earlier than they began."""
    person = site.person()
    site.change("UPDATE participants SET consented_at = consented_at + 86400000, revision = revision + 1")
    person.go_on(short)
    [(consented, finished)] = site.query("SELECT consented_at, finished_at FROM participants")
    assert finished >= consented
    assert admin.get("/api/admin/studies/1/payments").json()[0]["minutes"] == 0.0
    site.change("UPDATE participants SET finished_at = consented_at - 60000")  # stored before it was seen to
    assert admin.get("/api/admin/studies/1/payments").json()[0]["minutes"] == 0.0


def test_the_payment_list(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    careful = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    careless = site.person(recruiting={"label": "=cmd|' /C calc'!A0"})
    site.person(recruiting={"label": NASTY}).go_on(short)
    careful.go_on(short)
    state = careless.go_on(short, "survey-1")
    answers = careless.good_answers(state, short) | {"attention": 5}
    assert careless.answer("survey-1", answers).status_code == 200
    careless.go_on(short)
    site.person()  # has not finished
    paid = {payment["external_id"]: payment for payment in admin.get(f"{STUDY}/payments").json()}
    assert len(paid) == 3
    assert paid["5f0c1e2d3b4a59687a6b5c4d"]["attention_passed"] is True
    assert paid["=cmd|' /C calc'!A0"]["attention_passed"] is False
    assert {payment["code"] for payment in paid.values()} == {"THANKS42"}
    assert all(payment["minutes"] >= 0 for payment in paid.values())
    page = admin.get("/admin/studies/1/payments", headers=HTML).text
    assert NASTY not in page
    assert "&lt;script&gt;" in page
    table = admin.get("/admin/studies/1/payments.csv")
    rows = {row["external_id"]: row for row in csv.DictReader(io.StringIO(table.text, newline=""))}
    assert rows["5f0c1e2d3b4a59687a6b5c4d"]["attention_passed"] == "yes"
    assert rows["'=cmd|' /C calc'!A0"]["attention_passed"] == "no"  # no formula for a spreadsheet
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", rows[NASTY]["finished_at"])
