"""Whom people meet: balanced over them, tied to the seed alone, the same after a reload, and told in exports."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cobandit.base.records import Table
from cobandit.studies import StudyDesign, load_design


@pytest.fixture(scope="module")
def named() -> StudyDesign:
    """A short casino with two named partners and two casinos in each part."""
    return replace(
        load_design("casino"),
        name="named",
        version=1,
        rounds=2,
        episodes=2,
        practice=None,
        quiz=(),
        translations=Table(),
        languages=("en",),
    )


def test_names_are_balanced_within_each_order_and_stay(
    open_site: Callable[..., Any], sqlite: str, named: StudyDesign
) -> None:
    counterbalanced = replace(named, order="counterbalanced")
    site = open_site(sqlite, counterbalanced)
    people = [site.person("named") for _ in range(8)]
    plans = [site.plan_of(counterbalanced, person.token) for person in people]
    assert Counter((plan.order, plan.partner_order) for plan in plans) == {
        (order, way): 2 for order in (0, 1) for way in ((0, 1), (1, 0))
    }
    for person, plan in zip(people[:2], plans, strict=False):
        state = person.go_on(counterbalanced, "partner-1")
        first = counterbalanced.partners[plan.partner_order[0]]
        assert state["partner"] == {"name": first.name, "look": first.look, "names": []}
        assert (state["texts"]["task.partner"], state["sets"]) == (first.name, 2)
        assert person.state()["partner"] == state["partner"], "a reload shows the same"
        second = person.go_on(counterbalanced, "partner-2")
        assert second["partner"]["name"] == counterbalanced.partners[plan.partner_order[1]].name != first.name


def test_a_rest_tells_what_was_won_before(open_site: Callable[..., Any], sqlite: str, named: StudyDesign) -> None:
    site = open_site(sqlite, named)
    person = site.person("named")
    person.go_on(named, "episode-0")
    won: list[Any] = []
    for index in range(3):
        state = person.go_on(named, f"episode-{index}")
        assert state["results"] == won
        answers = [person.send(index, (t, 0, uuid.uuid4().hex)).json() for t in (1, 2)]
        won.append(sum(r["good"] for answer in answers for r in answer["rounds"]))
        after = person.state()
        if after["step"]["kind"] == "rest":
            assert after["results"] == won
            assert after["rest"]["good"] == won[-1]
