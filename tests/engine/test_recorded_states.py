"""States that earlier versions wrote: each still loads, plays on as recorded, and is written the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cobandit import Partner
from tests.engine.test_encoding import Plain

STATES = json.loads((Path(__file__).parents[1] / "fixtures" / "states" / "format-1.json").read_text())


@pytest.mark.parametrize("entry", STATES, ids=[f"{entry['agent']}-{i}" for i, entry in enumerate(STATES)])
def test_plays_on_as_recorded(entry):
    partner = Partner.from_state(entry["state"], Plain if entry["agent"] == "plain" else None)
    assert partner.state() == entry["state"]
    for team_action, seen in entry["next"]:
        assert partner.choose() == team_action[partner.seat]
        partner.observe(team_action, seen)
