"""Who is left out and by which rule, and what those who stay lack: each with the sentence that says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cobandit.analysis.plan import Exclusions
from cobandit.analysis.tables import Array, People, PlayedEpisodes
from cobandit.studies.design import StudyDesign

RULES = ("removed", "unfinished", "attention-failed", "quiz-attempts", "too-fast", "listed", "incomplete-team")
"""The rules by which people are left out, in the order in which they are applied."""


@dataclass(frozen=True)
class Exclusion:
    """A participant who is excluded from every test, with the rule and the sentence for the report."""

    participant: str
    rule: str
    sentence: str


@dataclass(frozen=True)
class Gap:
    """A participant with missing data who is in the analysis; the sentence names the gap and its consequences."""

    participant: str
    sentence: str


@dataclass(frozen=True)
class _Rules:
    """The exclusion rules of a plan for the participants of one study. Each rule returns the reason for an exclusion,
    or None.
    """

    design: StudyDesign
    people: People
    played: PlayedEpisodes
    chosen: Exclusions

    def removed(self, i: int) -> str:
        if self.people.status[i] != "removed":
            return ""
        reason = self.people.removals.get(self.people.names[i], "no reason is in these tables")
        return f"was removed by a researcher: {reason}"

    def unfinished(self, i: int) -> str:
        if not self.people.orders[i]:  # whatever the plan says: there is nothing to compare
            active = self.people.status[i] == "active"
            return f"{'was at' if active else 'left, or was screened out, at'} the questions before the assignment"
        if not self.chosen.unfinished or self.people.status[i] == "finished":
            return ""
        whole = self.design.sets * self.design.episodes
        done = int((~np.isnan(self.played.task_regret[i])).sum())
        active = self.people.status[i] == "active"
        state = "was still at it when the data were taken" if active else "left before the end"
        return f"{state}, with {done} of {whole} counted {_episodes(whole)} complete"

    def inattentive(self, i: int) -> str:
        return "failed an attention check" if self.chosen.attention_failed and self.people.failed[i] else ""

    def too_many_attempts(self, i: int) -> str:
        most, attempts = self.chosen.quiz_attempts, self.people.quiz_attempts[i]
        many = most is not None and attempts > most
        return f"needed {attempts} attempts at the quiz, more than {most}" if many else ""

    def too_fast(self, i: int) -> str:
        fastest, median = self.chosen.fastest_ms, self.played.reaction_ms[i]
        if fastest is None or not median < fastest:  # no reaction times: not a number, and below nothing
            return ""
        return f"chose within {median:g} ms (median), below {fastest:g} ms"

    def named(self, i: int) -> str:
        reasons = {entry.participant: entry.reason for entry in self.chosen.listed}
        name = self.people.names[i]
        return f"listed: {reasons[name]}" if name in reasons else ""

    def notes(self) -> list[str]:
        """Return notes about the rules: participants to whom they could not be applied, and listed names that do not
        exist.
        """
        names = self.people.names
        notes = [
            f"The exclusions list {entry.participant}, who is not among the participants of this analysis."
            for entry in self.chosen.listed
            if entry.participant not in self.people.places
        ]
        silent = sum(math.isnan(median) for median in self.played.reaction_ms)
        if self.chosen.fastest_ms is not None and silent:
            notes.append(
                f"There are no reaction times of {silent} of {len(names)} participants, so the rule on the "
                f"fastest could not be applied to them."
            )
        if self.chosen.attention_failed and not self.design.attention:
            notes.append("The design has no attention check, so the rule on failed checks excludes no one.")
        return notes


def exclude(
    design: StudyDesign, people: People, played: PlayedEpisodes, rules: Exclusions, notes: list[str]
) -> list[Exclusion]:
    """Return the excluded participants, each with the first rule that applies."""
    asked = _Rules(design, people, played, rules)
    checks = (asked.removed, asked.unfinished, asked.inattentive, asked.too_many_attempts, asked.too_fast, asked.named)
    notes += asked.notes()
    exclusions = []
    for i, name in enumerate(people.names):
        for rule, check in zip(RULES, checks, strict=False):
            why = check(i)
            if why:
                exclusions.append(Exclusion(name, rule, f"{name} {why.rstrip('.')}."))
                break
    if people.teams and rules.incomplete_teams:
        exclusions += _incomplete_teams(design, people, {entry.participant for entry in exclusions})
    return exclusions


def _incomplete_teams(design: StudyDesign, people: People, excluded: set[str]) -> list[Exclusion]:
    """Return the remaining members of teams that lack a member: their team has no value of its own."""
    members: dict[str, list[str]] = {}
    for name, team in zip(people.names, people.teams, strict=True):
        members.setdefault(team, []).append(name)
    exclusions = []
    for team, names in members.items():
        gone = [name for name in names if name in excluded]
        empty = len(design.participant_seats) - len(names)
        reasons = [f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} excluded"] if gone else []
        reasons += [f"{empty} of {len(design.participant_seats)} seats have no person's data"] if empty > 0 else []
        for name in names:
            if reasons and name not in excluded:
                sentence = f"{name} was in the team {team}, of which {' and '.join(reasons)}."
                exclusions.append(Exclusion(name, "incomplete-team", sentence))
    return exclusions


def gaps_of(
    design: StudyDesign, people: People, played: PlayedEpisodes, survey: Array, staying: Sequence[int]
) -> list[Gap]:
    """Return the missing data of the remaining participants: conditions, episodes, survey answers."""
    gaps = []
    for i in staying:
        name = people.names[i]
        for c, condition in enumerate(design.conditions):
            if condition.name not in people.orders[i]:
                continue  # the participant is in another cell
            here = f"in {condition.name}"
            there = ~np.isnan(played.task_regret[i, c])
            if not there.any() and not played.rounds[i, c].any():
                gaps.append(Gap(name, f"{name} has no rounds {here}, and is missing where it is compared."))
            elif not there.all():
                lost = np.flatnonzero(~there).tolist()
                why = {played.broken[(i, c, e)] for e in lost if (i, c, e) in played.broken}
                reason = f" ({'; '.join(sorted(why))})" if why else ""
                gaps.append(
                    Gap(
                        name,
                        f"{name} lacks {len(lost)} of {design.episodes} {_episodes(design.episodes)} {here}{reason}, "
                        f"so there is no total of this condition; whole episodes are used where episodes are compared.",
                    )
                    if there.any()
                    else Gap(name, f"{name} has no whole episode {here}{reason}, and is missing where it is compared.")
                )
            unanswered = int(np.isnan(survey[i, c]).sum())
            if unanswered:
                total = survey.shape[2]
                what = "no survey answers" if unanswered == total else f"{total - unanswered} of {total} survey answers"
                gaps.append(Gap(name, f"{name} has {what} {here}; missing ones are left out item by item."))
    return gaps


def _episodes(count: int) -> str:
    return "episode" if count == 1 else "episodes"
