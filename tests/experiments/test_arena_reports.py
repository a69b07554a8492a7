"""Steered teams with reports in the arena: they play where the follower reports of its own accord, and are judged."""

from __future__ import annotations

from cobandit.experiments.arena.arena import Arena
from cobandit.experiments.arena.entries import MARKOV_TEAMS, REPORTS, TEAMS
from cobandit.experiments.arena.settings import SETTINGS
from tests.arena_results import invented


def test_reports_play_where_leaders_are_weak():
    panels = zip(
        SETTINGS,
        Arena(settings=SETTINGS, leaders=(), followers=(), teams=(*TEAMS, *MARKOV_TEAMS)).panels(),
        strict=True,
    )
    played = [place.name for place, panel in panels if any(curve.name == f"team.{REPORTS}" for curve in panel.curves)]
    assert played == ["sight-6-5", "sight-6-5-random", "sight-4-4", "sight-4-4-random"]


def test_reports_are_judged_beside_plain_steering():
    judged = [verdict.claim for _, verdict in invented(Arena.of(["sight-6-5", "fixed-500"])).verdicts]
    assert sum("a steered team does better with reports" in claim for claim in judged) == 1
