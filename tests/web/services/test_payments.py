"""Who is to be paid."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import httpx

from cobandit.studies import StudyDesign
from cobandit.web.services.payments import prolific_bonuses

RULES = {
    "currency": "GBP",
    "fixed": "2.50",
    "bonuses": [{"per": "success", "amount": "0.015"}, {"per": "participant", "amount": "1", "attention": True}],
}
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


def test_amounts_by_the_rules_of_the_design(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    design = StudyDesign.from_dict(short.to_dict() | {"payment": RULES})
    site = open_site(sqlite, design)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    careful = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    careful.go_on(design)
    forged = site.person(recruiting={"PROLIFIC_PID": "x,999\n5f0c1e2d3b4a59687a6b5c4e"})
    forged.go_on(design)
    [(successes,)] = site.query(
        "SELECT count(*) FROM rounds r JOIN episodes e ON e.id = r.episode_id JOIN participants p "
        "ON p.id = e.participant_id WHERE p.token = :t AND r.reward > 0 AND e.condition <> 'practice'",
        t=careful.token,
    )
    assert 0 < successes < 20
    bonus = (1000 + 15 * successes + 5) // 10  # in pence, half up
    paid = admin.get(f"{STUDY}/payments").json()[0]
    assert paid["successes"] == successes
    assert (paid["currency"], paid["fixed"], paid["bonus"]) == ("GBP", "2.50", f"{bonus // 100}.{bonus % 100:02d}")
    assert paid["total"] == f"{(bonus + 250) // 100}.{(bonus + 250) % 100:02d}"
    lines = admin.get("/admin/studies/1/bonuses.csv").text
    assert lines == f"5f0c1e2d3b4a59687a6b5c4d,{paid['bonus']}\n"  # whoever is none of Prolific's has no line
    page = admin.get("/admin/studies/1/payments", headers=HTML).text
    assert "1 bonus is not in the lines for Prolific" in page
    assert re.search(r">\d{1,2} [A-Z][a-z]{2} 20\d\d, \d\d:\d\d UTC<", page)
    assert f"<strong>{paid['total']}</strong>" in page


def test_without_rules_there_are_no_amounts(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"}).go_on(short)
    paid = admin.get(f"{STUDY}/payments").json()
    assert [paid[0][key] for key in ("currency", "fixed", "bonus", "total")] == [None] * 4
    assert prolific_bonuses(paid) == ("", 0)
    assert "no rules of payment" in admin.get("/admin/studies/1/payments", headers=HTML).text


def test_rules_without_anybody_who_has_finished(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    paid = StudyDesign.from_dict(short.to_dict() | {"payment": RULES})
    for number, (design, rules) in enumerate([(paid, True), (short, False)]):
        site = open_site(f"{sqlite}-{number}", design)
        admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
        page = admin.get("/admin/studies/1/payments", headers=HTML).text
        assert "no participant has finished yet" in page
        assert ("The design has no rules of payment" in page) == (not rules)
