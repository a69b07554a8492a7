"""A design on its way into the database: when it may still change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign
from cobandit.web.serving import prepare


def test_a_study_that_has_begun_keeps_its_design(site: Any, short: StudyDesign) -> None:
    changed = replace(short, rounds=6)
    site.person()
    with pytest.raises(InvalidInput, match="set version = 2"):
        prepare(site.config.database, [changed])
    ready = prepare(site.config.database, [replace(changed, version=2)])
    assert ready.studies[0].design.rounds == 6
    # Whoever comes now takes part in the new version; whoever was there stays with theirs.
    person = site.person()
    assert person.go_on(short, "episode-1")["episode"]["rounds"] == 6


def test_a_study_without_people_may_change(site: Any, short: StudyDesign) -> None:
    prepare(site.config.database, [replace(short, rounds=6)])
    assert site.person().go_on(short, "episode-1")["episode"]["rounds"] == 6


def test_preparing_twice_changes_nothing(site: Any, short: StudyDesign) -> None:
    person = site.person()
    before = site.query("SELECT * FROM studies")
    assert prepare(site.config.database, [short]).new_password is None
    assert site.query("SELECT * FROM studies") == before
    assert person.state()["step"]["id"] == "demographics"
