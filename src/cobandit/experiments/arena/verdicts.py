"""What the arena must show, judged as the paper's claims are: holds, does not hold, or undecided at these runs.

A claim is about mean task regret, by intervals over runs with common luck. Several comparisons in one claim share the
5 % between them. Where medians say otherwise, the claim's note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from cobandit.experiments.arena.entries import (
    AWARE,
    BANK,
    BASELINE,
    ELECTED,
    ELECTED_AWARE,
    MARKOV_BASELINE,
    MARKOV_NAIVE,
    MARKOV_STEERED,
    ONE_BRAIN,
    REPORTS,
    STEERED,
    WINDOWS,
)
from cobandit.experiments.arena.league import PAIR, TEAM, SettingResult, best_window_ratio
from cobandit.experiments.claims import ALPHA, Outcome, Quantity, Verdict
from cobandit.stats import Interval

NEAR_ONE_BRAIN = 1.3
"""The largest allowed regret of a steered team, as a ratio to its own centralised controller."""
NEAR_BEST_WINDOW = 1.1
"""A bank is nowhere worse than the best window by more than this."""

CASINO = "casino"


def judge(results: Sequence[SettingResult], people: Sequence[str]) -> list[tuple[str, Verdict]]:
    """Return every claim that what was played can decide, with its setting; ``people`` are the human-like leaders."""
    judged = [(result.setting.name, verdict) for result in results for verdict in _of_setting(result)]
    for result in results:
        if result.setting.name == CASINO and people:
            judged += [(CASINO, verdict) for verdict in _of_people(result, people)]
    return judged


def _of_setting(result: SettingResult) -> Iterator[Verdict]:
    teams = set(result.teams)
    if result.setting.markov:
        yield team_beats(result, MARKOV_BASELINE, MARKOV_NAIVE, "partner-aware UCBVI has less regret than naive UCBVI.")
        yield team_beats(result, MARKOV_STEERED, MARKOV_BASELINE, "steered has less regret than partner-aware UCBVI.")
        return
    aware = [name for name in AWARE if name in teams]
    if not result.setting.drawn_roles and STEERED in teams and aware:
        yield _below_best_aware(result, aware)
        if ONE_BRAIN in teams:
            yield _near_one_brain(result)
    if {REPORTS, STEERED} <= teams:
        yield team_beats(result, REPORTS, STEERED, "a steered team does better with reports.")
    if result.setting.drawn_roles:
        for elected, drawn in ((ELECTED, STEERED), (ELECTED_AWARE, BASELINE)):
            if {elected, drawn} <= teams:
                label = result.labels[f"{TEAM}.{drawn}"]
                yield team_beats(result, elected, drawn, f"an elected leader is better than a drawn one ({label}).")


def _below_best_aware(result: SettingResult, aware: Sequence[str]) -> Verdict:
    gaps = {name: _gap(result, STEERED, name, len(aware)) for name in aware}
    return _verdict(
        result,
        f"{result.setting.title}: steered has less regret than every partner-aware UCB.",
        "beats",
        all_below(gaps.values(), 0.0),
        "paired differences of mean task regret, simultaneous 95 % intervals below 0",
        [_quantity(f"steered - {result.labels[f'{TEAM}.{name}']}", gap) for name, gap in gaps.items()],
        _median_note(result, STEERED, aware),
    )


def _median_note(result: SettingResult, better: str, others: Sequence[str]) -> str:
    """Return a note if the median contradicts the mean."""
    own = float(np.median(result.team(better)))
    medians = {name: float(np.median(result.team(name))) for name in others}
    lowest = min(medians, key=medians.__getitem__)
    if medians[lowest] >= own:
        return ""
    return f"The median says otherwise: {own:.2f} against {medians[lowest]:.2f} of {result.labels[f'{TEAM}.{lowest}']}."


def _gap(result: SettingResult, first: str, second: str, comparisons: int) -> Interval:
    return result.difference(f"{TEAM}.{first}", f"{TEAM}.{second}", 1.0 - ALPHA / comparisons)


def _near_one_brain(result: SettingResult) -> Verdict:
    ratio = result.mean_ratio(f"{TEAM}.{STEERED}", f"{TEAM}.{ONE_BRAIN}")
    return _verdict(
        result,
        f"{result.setting.title}: steered is within {NEAR_ONE_BRAIN} of its own one brain.",
        "ratio",
        all_below([ratio], NEAR_ONE_BRAIN),
        f"ratio of means, 95 % interval below {NEAR_ONE_BRAIN}",
        [_quantity("ratio", ratio)],
    )


def team_beats(result: SettingResult, better: str, other: str, text: str) -> Verdict:
    """Judge one team against another."""
    gap = _gap(result, better, other, 1)
    labels = [result.labels[f"{TEAM}.{name}"] for name in (better, other)]
    rule = "paired difference of mean task regret, 95 % interval below 0"
    finding = _quantity(f"{labels[0]} - {labels[1]}", gap)
    note = _median_note(result, better, [other])
    return _verdict(result, f"{result.setting.title}: {text}", "beats", all_below([gap], 0.0), rule, [finding], note)


def _of_people(result: SettingResult, people: Sequence[str]) -> Iterator[Verdict]:
    leaders = [leader for leader in people if (leader, BANK) in result.pairs]
    windows = [window for window in WINDOWS if all((leader, window) in result.pairs for leader in leaders)]
    if not leaders or not windows:
        return
    curves = _curves(leaders)
    level = 1.0 - ALPHA / len(windows)
    gaps = {w: result.average_difference(curves(BANK), curves(w), level) for w in windows}
    yield _verdict(
        result,
        "The casino's length: over the human-like leaders, bank has less regret on average than every window.",
        "beats",
        all_below(gaps.values(), 0.0),
        "paired differences of mean task regret, averaged over the leaders, simultaneous 95 % intervals below 0",
        [_quantity(f"bank - {window}", gap) for window, gap in gaps.items()],
    )
    level = 1.0 - ALPHA / len(leaders)
    ratios = {leader: best_window_ratio(result, leader, BANK, windows, level) for leader in leaders}
    yield _verdict(
        result,
        "The casino's length: bank is nowhere more than 10 % worse than the best window.",
        "ratio",
        all_below(ratios.values(), NEAR_BEST_WINDOW),
        f"ratio of means with each leader, simultaneous 95 % intervals below {NEAR_BEST_WINDOW}",
        [_quantity(f"beside {leader}", ratio) for leader, ratio in ratios.items()],
        "The best window is chosen for each leader afterwards, by the same runs, which favours it.",
    )


def _curves(leaders: Sequence[str]) -> Callable[[str], list[str]]:
    return lambda follower: [f"{PAIR}.{leader}.{follower}" for leader in leaders]


def all_below(intervals: Iterable[Interval], limit: float) -> Outcome:
    """Return all below the limit: holds; any above it: does not."""
    listed = list(intervals)
    if all(interval.high < limit for interval in listed):
        return "holds"
    return "does not hold" if any(interval.low > limit for interval in listed) else "undecided"


def _quantity(name: str, interval: Interval) -> Quantity:
    return Quantity(name, interval.value, interval.low, interval.high)


def _verdict(
    result: SettingResult,
    text: str,
    kind: str,
    outcome: Outcome,
    rule: str,
    findings: Sequence[Quantity],
    note: str = "",
) -> Verdict:
    return Verdict(text, kind, outcome, rule, tuple(findings), result.runs, note)
