"""Labels that tell teams apart."""

from __future__ import annotations

import cobandit as cb
from cobandit.engine.words import distinct_labels, team_line


def test_teams_of_one_kind_get_what_differs() -> None:
    teams = [cb.Team.of("partner-aware-ucb", window=window, exploration=0.1) for window in (1, 5)]
    assert distinct_labels([*teams, cb.Team.of("naive-ucb")]) == [
        "partner-aware-ucb (window 1)",
        "partner-aware-ucb (window 5)",
        "naive-ucb",
    ]


def test_mixed_teams_name_the_agent_that_differs() -> None:
    teams = [cb.Team([cb.NaiveUCB(), cb.PartnerAwareUCB(window=window)]) for window in (1, 5)]
    assert distinct_labels(teams) == [
        "naive-ucb + partner-aware-ucb (agent 1's window 1)",
        "naive-ucb + partner-aware-ucb (agent 1's window 5)",
    ]


def test_equal_teams_stay_as_they_are() -> None:
    assert distinct_labels([cb.Team.of("optimal"), cb.Team.of("optimal")]) == ["optimal", "optimal"]
    assert team_line(cb.Team.of("optimal")) == "optimal"
