"""Hidden actions: what three agents of arXiv 2109.03818 can and cannot do (not a figure of the paper).

What is tried: agents that never see their partners' arms, in the two settings of that article. Either both agents see
one common reward, or each of them a reward of its own with the same mean. To each agent alone the rewards of both
settings are the same, N(mu, 1/4^2).
What it must show: with common rewards mUCB has the sublinear regret of one brain; with rewards of their own its regret
is linear in an environment such as this, and that of mDSEE sublinear.
"""

from __future__ import annotations

from cobandit.agents import Team
from cobandit.experiments.claims import Beats, Claim, Linear, NoDifference, Sublinear
from cobandit.experiments.spec import Curve, Panel
from cobandit.problem import Problem

MEANS = [[0.0, 1.0], [0.9, 0.0]]
"""Two good actions that share no arm: agents that plan different ones meet in an action without reward."""

SPREAD = 0.25
"""Standard deviation of the rewards, common or not."""

EXPLORATION = 2.0 * SPREAD**2
"""c for which sqrt(c log(1/delta) / n) is the width of the interval of such rewards (Hoeffding)."""

COMMON = Problem.gaussian(MEANS, [0.0, 0.0], sd=SPREAD, actions="hidden")
OWN = Problem.gaussian(MEANS, [SPREAD, SPREAD], sd=0.0, actions="hidden")

TEAMS = {
    "mucb": ("mUCB", Team.of("mucb", exploration=EXPLORATION)),
    "mdsee": ("mDSEE", Team.of("mdsee", sweeps=4)),
    "very-naive": ("very naive UCB", Team.of("very-naive-ucb", exploration=EXPLORATION)),
}

CURVES = (
    *(Curve(f"{name}-common", f"{label}, common rewards", COMMON, team) for name, (label, team) in TEAMS.items()),
    Curve(
        "one-brain-common",
        "one brain (centralised UCB), common rewards",
        COMMON,
        Team.of("centralised-ucb", exploration=EXPLORATION),
    ),
    *(Curve(f"{name}-own", f"{label}, rewards of their own", OWN, team) for name, (label, team) in TEAMS.items()),
)

CLAIMS: tuple[Claim, ...] = (
    Sublinear("mucb-common", "With common rewards the regret of mUCB is sublinear, although actions are hidden."),
    NoDifference(
        ("one-brain-common", "mucb-common"),
        "With common rewards mUCB loses what one brain loses: agents with the same rewards make the same plans.",
    ),
    Beats(
        "mucb-common",
        ("mdsee-common", "very-naive-common"),
        "With common rewards mUCB loses less than mDSEE and very naive UCB.",
    ),
    Linear(
        "very-naive-common",
        "With common rewards the regret of very naive UCB is linear.",
        note="Both agents see the same rewards and break ties alike, so they always play arms of one number: never "
        "a good action here.",
    ),
    Linear(
        "mucb-own",
        "With rewards of their own the regret of mUCB is linear.",
        note="In about a third of the runs both agents settle on the second-best action, because the rewards of "
        "different plans have spoilt their estimates of the best one. In most problems drawn at random this is rare.",
    ),
    Sublinear(
        "mdsee-own",
        "With rewards of their own the regret of mDSEE is sublinear.",
        note="mDSEE has to tell the best action from the second best in its sweeps. With a smaller gap or more noise "
        "that takes longer than these rounds, and the growth is then near 2.",
    ),
    Beats(
        "mdsee-own",
        ("mucb-own", "very-naive-own"),
        "With rewards of their own mDSEE loses less than mUCB and very naive UCB.",
    ),
)

PANEL = Panel(
    name="hidden-actions",
    title="Hidden actions: common rewards, and rewards of their own",
    varies="the team, and whether agents see one reward or one each",
    fixed="2 x 2, hidden actions, N(mu, 1/4^2) for each agent, c = 1/8",
    curves=CURVES,
    horizon=50_000,
    claims=CLAIMS,
    logarithmic=True,
)
