"""The page of an arena: claims with their verdicts, league tables, heat maps, and every setting in numbers."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from cobandit import __version__
from cobandit.base.numbers import DASH, PAGE, count
from cobandit.experiments.arena import FAMILIES, ArenaResult, Entry, LeagueRow, SettingResult, Standing, follower_league
from cobandit.experiments.arena.entries import WINDOWS
from cobandit.experiments.arena.league import PAIR, TEAM, best_window_ratio
from cobandit.experiments.arena.settings import MARKOV
from cobandit.experiments.claims import Quantity
from cobandit.experiments.store import this_machine
from cobandit.report.kit.html import OUTCOMES, Frame, dated, named_facts, write_html
from cobandit.stats import Interval

NAME = "report.html"
STEPS = (0.5, 0.7, 0.85, 0.95, 1.05, 1.2, 1.5, 2.0)
"""The limits of the colours of a heat map: ratios up to the first have the first colour, and so on."""
STUDY_WINDOW = "window-5"
"""The follower of the casino study."""
YARDSTICKS = {False: ("partner-aware UCB", "centralised UCB"), True: ("partner-aware UCBVI", "centralised UCBVI")}
"""What the two teams that ratios are taken to are called, without states and with them."""


def write_arena_report(
    result: ArenaResult, out: str | os.PathLike[str], about: Mapping[str, object] | None = None
) -> Path:
    """Write ``out/report.html``; where the page is. ``about`` is that of `write_report`."""
    facts = dated(about)
    outcomes: Counter[str] = Counter(verdict.outcome for _, verdict in result.verdicts)
    counts = {outcome: outcomes[outcome] for outcome in OUTCOMES}
    judged = ", ".join(f"{counts[outcome]} {word}" for outcome, (_, _, word) in OUTCOMES.items() if counts[outcome])
    claims = f"; {count(len(result.verdicts), 'claim')} checked: {judged}" if result.verdicts else ""
    played = f"{count(len(result.places), 'setting')}, {count(_curves(result), 'team')}"
    frame = Frame(
        title=str(facts.get("title", "Bandit teams: the arena")),
        lead=str(facts.get("lead", f"{played}, {count(result.settings.runs, 'run')} each{claims}")),
        version=str(facts.get("version", __version__)),
        styles=("report.css", "arena.css"),
    )
    content = {
        "facts": _facts(result, facts),
        "counts": counts,
        "claims": [_claim(name, verdict) for name, verdict in result.verdicts],
        "leagues": _leagues(result),
        "heats": [
            (names, _team_heat(result, markov, "to_aware"), _team_heat(result, markov, "to_aware_median"))
            for markov, names in YARDSTICKS.items()
            if any(place.setting.markov == markov for place in result.places)
        ],
        "people": [_people(result, place) for place in result.places if _has_people(result, place)],
        "families": _families(result),
        "steps": _legend(),
        "places": [_place(result, place) for place in result.places],
    }
    return write_html(Path(out) / NAME, "arena/report.html", frame, content)


def _curves(result: ArenaResult) -> int:
    return sum(len(place.finals) for place in result.places)


def _facts(result: ArenaResult, about: Mapping[str, object]) -> dict[str, object]:
    given = named_facts({"version": __version__, "machine": this_machine()} | dict(about))
    seconds = sum(place.seconds for place in result.places)
    engines = sorted({engine for place in result.places for engine in place.engines.values()})
    known = {
        "Made": given.get("Made"),
        "Version": given["Version"],
        "Runs": f"{count(result.settings.runs, 'run')} of each team in each setting",
        "Seed": result.settings.seed,
        **({"Arms": "relabelled at random in each run"} if result.arena.relabel else {}),
        "Engine": f"{' and '.join(engines)}, {seconds:.0f} s of play in all",
    }
    return known | given


def _families(result: ArenaResult) -> list[tuple[str, str, list[str]]]:
    """Return each family that was played: its name, what it is, and its settings."""
    listed = []
    for family, words in FAMILIES.items():
        titles = [place.setting.title for place in result.places if place.setting.family == family]
        if titles:
            listed.append((family, words, titles))
    return listed


# Numbers


def ratio_words(interval: Interval | None) -> str:
    """Return a ratio with its limits."""
    if interval is None or not math.isfinite(interval.value):
        return DASH
    if not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        return PAGE.format(interval.value, 2)
    return "{} ({} to {})".format(*(PAGE.format(x, 2) for x in (interval.value, interval.low, interval.high)))


def heat_step(ratio: float) -> int:
    """Return the colour of a ratio: 0 is far below 1, the last far above it."""
    return sum(ratio > limit for limit in STEPS)


def _cell(interval: Interval) -> dict[str, object]:
    if not math.isfinite(interval.value):
        return {"text": DASH, "step": None, "title": ""}
    return {
        "text": PAGE.format(interval.value, 2),
        "step": heat_step(interval.value),
        "title": ratio_words(interval),
    }


def _legend() -> list[tuple[int, str]]:
    words = [f"up to {STEPS[0]:g}", *(f"{a:g} to {b:g}" for a, b in pairwise(STEPS))]
    return list(enumerate([*words, f"above {STEPS[-1]:g}"]))


def _claim(setting: str, verdict: Any) -> dict[str, object]:
    undecided = verdict.outcome == "undecided"
    worst = max(verdict.findings, key=lambda f: f.low if verdict.outcome == "does not hold" else f.high)
    return {
        "setting": setting,
        "text": verdict.claim,
        "outcome": verdict.outcome,
        "word": f"undecided at {count(verdict.runs, 'run')}" if undecided else verdict.outcome,
        "decided_by": worst.name,
        "deciding": _finding(worst),
        "rule": verdict.rule,
        "note": verdict.note,
    }


def _finding(finding: Quantity) -> str:
    return ratio_words(Interval(finding.value, finding.low, finding.high))


# Leagues and heat maps


def _leagues(result: ArenaResult) -> list[tuple[str, tuple[str, str], list[dict[str, str]]]]:
    """Return the leagues: of the bandits that were looked at, of the held-out ones, and of Markov decision
    processes.
    """
    known = [family for family in FAMILIES if family not in ("held out", MARKOV)]
    titled = {
        "Settings that were looked at while the agents were made": known,
        "Held-out settings": ["held out"],
        "Markov decision processes": [MARKOV],
    }
    listed = []
    for title, families in titled.items():
        rows = result.league(families)
        if rows:
            names = YARDSTICKS[families == [MARKOV]]
            listed.append((title, names, [_league_row(row, row.team in result.arena.brains) for row in rows]))
    return listed


def _league_row(row: LeagueRow, brain: bool) -> dict[str, str]:
    return {
        "label": row.label,
        "to_aware": PAGE.format(row.to_aware, 2),
        "to_aware_median": PAGE.format(row.to_aware_median, 2),
        "to_central": PAGE.format(row.to_central, 2),
        "won": "one brain" if brain else f"{row.won} of {row.settings}",
    }


def _team_heat(result: ArenaResult, markov: bool, ratio: str) -> dict[str, object]:
    """Return the table of whole teams by settings, with or without states: ratios to partner-aware UCB or UCBVI."""
    places = [place for place in result.places if place.setting.markov == markov]
    rows = []
    for row in result.league([MARKOV] if markov else ()):
        standings: list[Standing | None] = [place.standings.get(f"{TEAM}.{row.team}") for place in places]
        cells = [None if standing is None else _cell(getattr(standing, ratio)) for standing in standings]
        rows.append((row.label, cells))
    return {"heads": [place.setting.name for place in places], "rows": rows}


def _has_people(result: ArenaResult, place: SettingResult) -> bool:
    return bool(_leaders_with_windows(result, place)) and place.setting.name == "casino"


def _leaders_with_windows(result: ArenaResult, place: SettingResult) -> list[str]:
    pairs = set(place.pairs)
    return [name for name in result.arena.people if all((name, window) in pairs for window in WINDOWS)]


def _labels(entries: Sequence[Entry]) -> dict[str, str]:
    return {entry.name: entry.label for entry in entries}


def _people(result: ArenaResult, place: SettingResult) -> dict[str, object]:
    """Return the ranking of followers with human-like leaders."""
    leaders = _leaders_with_windows(result, place)
    labels, followers = _labels(result.arena.leaders), _labels(result.arena.followers)
    league = follower_league(place, leaders, followers, WINDOWS, STUDY_WINDOW)
    rows = [
        {
            "label": row.label,
            "mean": PAGE.format(row.mean, 1),
            "difference": ratio_words(row.difference) if row.follower != STUDY_WINDOW else DASH,
            "worst": f"{PAGE.format(row.worst, 2)}, with {labels[row.worst_leader]}",
        }
        for row in league
    ]
    order = [row.follower for row in league]
    heat = [
        (labels[leader], [_cell(best_window_ratio(place, leader, name, WINDOWS)) for name in order])
        for leader in leaders
    ]
    return {
        "title": place.setting.title,
        "rounds": count(place.setting.horizon, "round"),
        "rows": rows,
        "heat": {"heads": [followers[name] for name in order], "rows": heat},
    }


# One setting


def _place(result: ArenaResult, place: SettingResult) -> dict[str, object]:
    setting = place.setting
    teams = [standing for name, standing in place.standings.items() if name.startswith(f"{TEAM}.")]
    limits = place.limits
    return {
        "name": setting.name,
        "title": setting.title,
        "family": FAMILIES[setting.family],
        "yardsticks": YARDSTICKS[setting.markov],
        "rounds": count(setting.horizon, "round"),
        "rows": [_standing_row(standing) for standing in teams],
        "with_limit": place.limit_regret is not None,
        "limits": None if limits is None else _limits(place),
        "pairs": _pair_heat(result, place) if place.pairs else None,
    }


def _standing_row(standing: Standing) -> dict[str, str]:
    decimals = PAGE.decimals_for([standing.mean, standing.median])
    return {
        "label": standing.label,
        "mean": f"{PAGE.format(standing.mean, decimals)} ± {PAGE.format(standing.se, decimals)}",
        "median": PAGE.format(standing.median, decimals),
        "to_aware": ratio_words(standing.to_aware),
        "to_aware_median": ratio_words(standing.to_aware_median),
        "to_central": ratio_words(standing.to_central),
        "to_central_median": ratio_words(standing.to_central_median),
        "to_limit": ratio_words(standing.to_limit),
    }


def _limits(place: SettingResult) -> list[tuple[str, str]]:
    """Return the exact limits as mean reward and as regret."""
    limits = place.limits
    assert limits is not None
    named = {
        "the Bayes-optimal single brain": limits.one_brain,
        "the best steered team": limits.steered_team,
        "the best team with a blind follower": limits.blind_team,
    }
    return [
        (name, f"reward {reward:.3f}, regret {limits.perfect - reward:.3f}")
        for name, reward in named.items()
        if reward is not None
    ]


def _pair_heat(result: ArenaResult, place: SettingResult) -> dict[str, object]:
    """Return the table of leaders by followers: the ratio of means to the team of partner-aware UCB."""
    pairs = set(place.pairs)
    followers = [entry for entry in result.arena.followers if any(follower == entry.name for _, follower in pairs)]
    rows = [
        (
            entry.label + (" (human-like)" if entry.human else ""),
            [
                _cell(place.standings[f"{PAIR}.{entry.name}.{follower.name}"].to_aware)
                if (entry.name, follower.name) in pairs
                else None
                for follower in followers
            ],
        )
        for entry in result.arena.leaders
    ]
    return {"heads": [follower.label for follower in followers], "rows": rows}
