"""Teams as the unit of the tests: people of one team are not independent of each other.

A condition that the members play together has one value per team. Everything else, such as the regret of conditions
that each member plays alone and the answers to surveys, is averaged over the members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cobandit.analysis.measures import Measures
from cobandit.analysis.plan import AnalysisPlan
from cobandit.analysis.scales import averaged_scales
from cobandit.analysis.tables import Array
from cobandit.stats import Finding
from cobandit.studies.design import StudyDesign


class _Mixed:
    """Stands for the answer of a team whose members gave different answers; equal to no answer."""

    def __repr__(self) -> str:
        return "different answers"


MIXED = _Mixed()


def team_measures(measured: Measures) -> Measures:
    """Return the measures with one row for each team, named after it; in a design without teams, the same object.

    A team has a value where all its analysed members have one: the mean. The answer of a team to a question about the
    person is that of its members, if all gave the same one, else `MIXED`.
    """
    if not measured.teams:
        return measured
    rows: dict[str, list[int]] = {}
    for i, team in enumerate(measured.teams):
        rows.setdefault(team, []).append(i)
    members = list(rows.values())

    def averaged(values: Array) -> Array:
        parts = [values[team].mean(axis=0) for team in members]
        return np.array(parts, dtype=np.float64).reshape(len(members), *values.shape[1:])

    def least(values: Any) -> Any:
        parts = [values[team].min(axis=0) for team in members]
        return np.array(parts, dtype=np.int64).reshape(len(members), *values.shape[1:])

    return replace(
        measured,
        participants=tuple(rows),
        orders=tuple(measured.orders[team[0]] for team in members),
        rounds=least(measured.rounds),
        task_regret=averaged(measured.task_regret),
        team_regret=averaged(measured.team_regret),
        good=averaged(measured.good),
        curves=averaged(measured.curves),
        survey=averaged(measured.survey),
        first_arm=averaged(measured.first_arm),
        reaction_ms=averaged(measured.reaction_ms),
        answers={
            question: tuple(_common([given[i] for i in team]) for team in members)
            for question, given in measured.answers.items()
        },
        attention_failed=tuple(any(measured.attention_failed[i] for i in team) for team in members),
        teams=tuple(rows),
        unit="team",
        scales=averaged_scales(dict(measured.scales), members),
    )


def _common(answers: Sequence[Any]) -> Any:
    """Return the answer that all members gave; `MIXED`, where they differ."""
    return answers[0] if all(answer == answers[0] for answer in answers) else MIXED


def in_units(finding: Finding, unit: str) -> Finding:
    """Return a finding whose note names the unit of the test, where this is not the participant."""
    if unit == "participant":
        return finding
    note = finding.note.replace("participants", f"{unit}s").replace("participant", unit)
    return replace(finding, note=note.replace("two people", f"two {unit}s"))


def team_warnings(design: StudyDesign, plan: AnalysisPlan) -> list[str]:
    """Return warnings about a plan for a design with teams: where people of one team would be counted as independent,
    and what the analysis does instead. Empty for a design without teams.
    """
    if design.group is None:
        return []
    size, warnings = len(design.participant_seats), []
    between = [hypothesis.id for hypothesis in plan.hypotheses if hypothesis.group]
    if between:
        warnings.append(
            f"{', '.join(between)}: people are compared by an answer, and those of one team are not independent. Only "
            "teams whose members all gave the same answer are counted, so plan for fewer teams than you recruit."
        )
    if plan.n is not None and plan.n % size:
        warnings.append(f"n is {plan.n}, and teams have {size} people; a multiple of {size} makes whole teams.")
    if not plan.exclusions.incomplete_teams:
        warnings.append(
            "incomplete_teams is false: a team that lacks a member is compared by those who are left, although seats "
            "may see different shares of the rewards."
        )
    if plan.exclusions.takeover_share is None:
        warnings.append(
            "takeover_share is not set: episodes count as played by people however often an AI chose in their place."
        )
    return warnings
