"""Who is left out and by which rule, and what those who stay lack: each with the sentence that says so."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cobandit.analysis.plan import Exclusions
from cobandit.analysis.tables import Array, People, PlayedEpisodes
from cobandit.studies.design import StudyDesign

RULES = ("unfinished", "attention-failed", "quiz-attempts", "too-fast", "listed")
"""The rules by which people are left out, in the order in which they are applied."""


@dataclass(frozen=True)
class Exclusion:
    """Somebody who is left out of every test, by which rule, and the sentence that says so."""

    participant: str
    rule: str
    sentence: str


@dataclass(frozen=True)
class Gap:
    """Somebody who is in the analysis but lacks something; the sentence says what and what follows."""

    participant: str
    sentence: str


def exclude(
    design: StudyDesign, people: People, played: PlayedEpisodes, rules: Exclusions, notes: list[str]
) -> list[Exclusion]:
    """Who is left out, each by the first rule that holds."""
    listed = {entry.participant: entry.reason for entry in rules.listed}
    for name in listed:
        if name not in people.places:
            notes.append(f"The exclusions list {name}, who is not among the participants of this analysis.")
    whole = len(design.conditions) * design.episodes
    most, fastest = rules.quiz_attempts, rules.fastest_ms

    def unfinished(i: int) -> str:
        if not rules.unfinished or people.status[i] == "finished":
            return ""
        done = int((~np.isnan(played.task_regret[i])).sum())
        state = "was still at it when the data were taken" if people.status[i] == "active" else "left before the end"
        return f"{state}, with {done} of {whole} counted {_episodes(whole)} complete"

    def inattentive(i: int) -> str:
        return "failed an attention check" if rules.attention_failed and people.failed[i] else ""

    def too_many_attempts(i: int) -> str:
        many = most is not None and people.quiz_attempts[i] > most
        return f"needed {people.quiz_attempts[i]} attempts at the quiz, more than {most}" if many else ""

    def too_fast(i: int) -> str:
        if fastest is None:
            return ""
        if math.isnan(played.reaction_ms[i]):
            return ""
        median = played.reaction_ms[i]
        return f"chose within {median:g} ms (median), below {fastest:g} ms" if median < fastest else ""

    def named(i: int) -> str:
        return f"listed: {listed[people.names[i]]}" if people.names[i] in listed else ""

    checks: tuple[Callable[[int], str], ...] = (unfinished, inattentive, too_many_attempts, too_fast, named)
    exclusions = []
    for i, name in enumerate(people.names):
        for rule, check in zip(RULES, checks, strict=True):
            why = check(i)
            if why:
                exclusions.append(Exclusion(name, rule, f"{name} {why.rstrip('.')}."))
                break
    if fastest is not None:
        silent = [name for i, name in enumerate(people.names) if math.isnan(played.reaction_ms[i])]
        if silent:
            notes.append(
                f"No reaction times are known of {len(silent)} of {len(people.names)} participants, so the rule on the "
                f"fastest could not be applied to them."
            )
    if rules.attention_failed and not design.attention:
        notes.append("The design has no attention check, so the rule on those who failed one leaves nobody out.")
    return exclusions


def gaps_of(
    design: StudyDesign, people: People, played: PlayedEpisodes, survey: Array, staying: Sequence[int]
) -> list[Gap]:
    """What those who stay lack: whole conditions, single episodes, survey answers."""
    gaps = []
    for i in staying:
        name = people.names[i]
        for c, condition in enumerate(design.conditions):
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
