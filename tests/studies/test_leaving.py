"""Outcomes, withdrawal and recruiters in a design: what is refused, and that old designs stay the same."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.leaving import filled_address, outcome_of

EUR = {"currency": "EUR", "fixed": "4"}


def burger(**changes: Any) -> StudyDesign:
    return StudyDesign.from_dict(load_design("burger").to_dict() | changes)


def screened() -> list[dict[str, Any]]:
    return [
        question | ({"screen_out": [0]} if question["id"] == "ai_researcher" else {})
        for question in load_design("burger").to_dict()["demographics"]
    ]


def test_defaults_change_no_digest() -> None:
    plain = load_design("burger")
    spelt = burger(outcomes=[], withdrawal={"data": "delete"}, recruiter=None)
    assert spelt.digest == plain.digest
    assert burger(withdrawal={"data": "anonymise"}).digest != plain.digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outcomes": [{"outcome": "finished"}]}, "outcome"),
        ({"outcomes": [{"outcome": "withdrew"}, {"outcome": "withdrew"}]}, "withdrew"),
        ({"outcomes": [{"outcome": "withdrew", "pay": "1"}]}, "currency"),
        ({"outcomes": [{"outcome": "withdrew", "pay": "0.005"}], "payment": EUR}, "smallest coin"),
        ({"outcomes": [{"outcome": "withdrew", "pay": "nan"}], "payment": EUR}, "amount of money"),
        ({"outcomes": [{"outcome": "no-team"}]}, r"no \[group\]"),
        ({"outcomes": [{"outcome": "screened-out"}]}, "screen_out"),
        ({"outcomes": [{"outcome": "failed-attention"}], "attention": []}, "no attention checks"),
        ({"outcomes": [{"outcome": "withdrew", "return_url": "https://a.example/{id}"}]}, r"got \{id\}"),
        ({"withdrawal": {"data": "keep"}}, "keep"),
        ({"recruiter": {"name": "panel"}}, "recruiter.id must name"),
        ({"recruiter": {"name": "prolific", "id": "pid"}}, "parameters are known"),
        ({"recruiter": {"name": "panel", "id": "p id"}}, "name of a parameter"),
        ({"recruiter": {"name": "panel", "id": "pid", "return_url": "javascript:alert(1)"}}, "https://"),
        ({"recruiter": {"name": "panel", "id": "pid", "return_url": "https://a.example/{who}"}}, r"got \{who\}"),
        ({"recruiter": {"name": "panel", "id": "pid", "return_url": "https://a.example/{"}}, "braces"),
        ({"recruiter": {"name": "panel", "id": "pid", "return_url": "https://a.example/{id.real}"}}, "plain names"),
        ({"recruiter": {"name": "panel", "id": "pid", "return_url": "https://a.example/" + "a" * 2000}}, "2,000"),
    ],
)
def test_what_a_design_may_not_say(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        burger(**changes)


@pytest.mark.parametrize("places", [[2], [0, 1], [-1], ["0"]])
def test_places_that_do_not_screen(places: list[Any]) -> None:
    with pytest.raises(InvalidInput, match="screen_out"):
        burger(demographics=[screened()[-1] | {"screen_out": places}])


def test_addresses_are_filled_with_encoded_values() -> None:
    template = "https://panel.example/done?id={id}&wave={wave}&code={code}"
    assert filled_address(template, {"id": "a&b=c#/", "code": "X 1"}) == (
        "https://panel.example/done?id=a%26b%3Dc%23%2F&wave=&code=X%201"
    )


def test_outcomes_follow_from_the_answers() -> None:
    check = load_design("burger").attention[0]
    plain, listed = burger(), burger(outcomes=[{"outcome": "failed-attention"}], demographics=screened())
    failed = {f"survey-{check.after_set}": {check.id: check.answer % 5 + 1}}
    assert outcome_of(plain, failed, finished=True) == "finished"
    assert outcome_of(listed, failed, finished=True) == "failed-attention"
    assert outcome_of(listed, failed, finished=False) == ""
    assert outcome_of(listed, {"demographics": {"ai_researcher": 0}}, finished=True) == "screened-out"
    assert outcome_of(listed, {"demographics": {"ai_researcher": 1}}, finished=True) == "finished"
    assert outcome_of(listed, {"lobby": {"outcome": "short"}}, finished=True) == "no-team"
