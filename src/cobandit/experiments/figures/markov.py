"""Panels beyond the paper: teams in Markov decision processes, what they must show, and attempts at a cure.

They are played where they are asked for: ``cobandit reproduce mdp-chain``, or all of them by ``cobandit reproduce
mdp``.
"""

from __future__ import annotations

from typing import Any

from cobandit.experiments.claims import Beats, Claim, Linear, Sublinear
from cobandit.experiments.spec import Curve, Panel
from cobandit.mdp import MarkovProblem, Team, make_problem

ENVIRONMENTS: dict[str, tuple[str, MarkovProblem, int]] = {
    "mdp-chain": ("Chain", make_problem("chain"), 40_000),
    "mdp-burger-line-2": ("Burger line, 2 steps", make_problem("burger-line", steps=2), 40_000),
    "mdp-burger-line-3": ("Burger line, 3 steps", make_problem("burger-line", steps=3), 30_000),
    "mdp-box-push": ("Box push", make_problem("box-push"), 36_000),
    "mdp-random": ("Random, 5 states", make_problem("random"), 50_000),
    "mdp-random-3x3": (
        "Random, 3 x 3 arms",
        make_problem("random", states=4, steps=4, arms=(3, 3), concentration=0.5),
        24_000,
    ),
    "mdp-same-door": ("Same door", make_problem("same-door"), 30_000),
    "mdp-delayed-chain": ("Delayed-reward chain", make_problem("delayed-chain"), 18_000),
    "mdp-chain-three": (
        "Chain, three agents",
        make_problem("chain", agents=3, observability=(1.0, 0.5, 0.5)),
        20_000,
    ),
    "mdp-random-three": (
        "Random, three agents",
        make_problem("random", arms=(2, 2, 2), observability=(1.0, 0.5, 0.5)),
        15_000,
    ),
}
"""Title, problem and rounds of every environment; the last two have three agents."""

TEAMS: dict[str, tuple[str, Team]] = {
    "one-brain": ("One brain, the leader's eyes", Team.of("centralised-ucbvi", eyes="best")),
    "steered": ("Steered", Team.of("steered-ucbvi")),
    "partner-aware": ("Partner-aware", Team.of("partner-aware-ucbvi")),
    "joint-max": ("Partner-aware, joint-max backup", Team.of("joint-max-ucbvi")),
    "very-naive": ("Very naive", Team.of("very-naive-ucbvi")),
    "naive": ("Naive", Team.of("naive-ucbvi")),
}


def _cure(**options: Any) -> Team:
    return Team.of("partner-aware-ucbvi", **options)


CURES: dict[str, tuple[str, Team]] = {
    "partner-aware": ("Partner-aware", _cure()),
    "bank": ("State-wise bank", _cure(prediction="bank")),
    "stale": ("Staleness 1", _cure(staleness=1.0)),
    "repeat": ("Repeat L = 3", _cure(repeat=3)),
    "restart": ("Restarts from episode 100", _cure(restart=100)),
    "very-naive": ("Very naive", Team.of("very-naive-ucbvi")),
    "steered": ("Steered", Team.of("steered-ucbvi")),
}

CURED: dict[str, str] = {f"{name}-cures": name for name in ("mdp-burger-line-2", "mdp-burger-line-3")}
"""Panels of attempts at a cure, and the environment of each."""

MARKOV = (*ENVIRONMENTS, *CURED)
"""Every panel of Markov problems."""


def _claims(title: str) -> tuple[Claim, ...]:
    return (
        Linear("naive", f"{title}: the regret of naive UCBVI is linear."),
        Sublinear("partner-aware", f"{title}: the regret of partner-aware UCBVI is sublinear."),
        Beats("partner-aware", ("naive",), f"{title}: partner-aware UCBVI ends with less regret than naive UCBVI."),
        Beats(
            "partner-aware",
            ("joint-max",),
            f"{title}: a backup over the predicted policy ends with less regret than the joint maximum.",
        ),
    )


def markov_panel(name: str) -> Panel:
    """Return the panel of that name."""
    title, problem, rounds = ENVIRONMENTS[CURED.get(name, name)]
    teams = CURES if name in CURED else TEAMS
    claims = _claims(title)
    if name in CURED:
        attempts = [key for key in CURES if key not in ("partner-aware", "very-naive", "steered")]
        claims = tuple(
            Beats(key, ("partner-aware",), f"{title}: {CURES[key][0]} lowers the regret of partner-aware UCBVI.")
            for key in attempts
        )
    return Panel(
        name=name,
        title=f"{title}: attempts at a cure" if name in CURED else title,
        varies="what the follower predicts and hopes" if name in CURED else "the algorithm of all agents",
        fixed=f"{problem.states} states, {problem.steps} steps, W = 1, c = .025, companion index",
        curves=tuple(Curve(key, label, problem, team) for key, (label, team) in teams.items()),
        horizon=rounds,
        claims=claims,
    )
