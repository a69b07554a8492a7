"""The compiled loops play the reference engine's very trajectories: every kind at least once, and many together."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cobandit as cb
from cobandit.agents.beliefs import INDICES, LINES, UpperConfidence
from cobandit.agents.mucb import AGREED_INDICES
from cobandit.engine import fast, reference
from cobandit.engine.fast import lockstep
from cobandit.engine.fast.game import make_game
from cobandit.studies import load_design, simulate_participants

ONES = cb.Problem.bernoulli("random", [0.9, 0.4], arms=(3, 2))
DIM = cb.Problem.bernoulli("random", [0.4, 0.4], arms=(2, 2), roles="random")
KNOWN = cb.Problem.bernoulli("random", [0.3, 0.7], arms=(4, 3), observation="missed-known")
REALS = cb.Problem.gaussian("random", [0.1, 0.5], arms=(3, 4))
DRAWN = cb.Problem.bernoulli("random", [0.5, 0.9, 0.7], arms=(2, 3, 4), roles="random")
ELECTED = cb.Problem.bernoulli("random", [0.3, 0.9, 0.6], arms=(2, 3, 2), observation="missed-known", roles="elected")
MANY = cb.Problem.bernoulli("random", [1.0, 0.5], arms=(9, 7))
FLIPPED = cb.Problem.bernoulli("random", [0.9, 0.6, 0.8], arms=(2, 3, 2), observation="flipped")
WALK = cb.Problem.bernoulli(cb.RandomWalkMeans((3, 2), 0.1), [0.9, 0.4], observation="missed-known")
PHASES = cb.PiecewiseMeans.of([[[0.8, 0.4], [0.2, 0.6]], [[0.1, 0.4], [0.2, 0.9]], [[0.5, 0.4], [0.2, 0.3]]], [9, 150])
TURN_LATE = cb.Problem.bernoulli(PHASES, [0.5, 0.9], roles="random", delay=6)
TAILS = cb.Problem.of("random", cb.StudentT(3.0, 0.2), "noisy", noise=[0.1, 0.5], arms=(3, 4))
HEAVIER = cb.Problem.of("random", cb.StudentT(1.5, 0.2), "noisy", noise=[0.1, 0.5], arms=(2, 3), delay=1)
MOODS = cb.Problem.of(
    cb.RandomWalkMeans.of([[5, 2], [0, 7]], 0.5, -10, 10), cb.CorrelatedGaussian(0.5, 0.8), observability=[1.0, 0.5]
)
HIDDEN = cb.Problem.bernoulli("random", [0.9, 0.4], arms=(3, 2), actions="hidden")
HIDDEN_REALS = cb.Problem.gaussian("random", [0.0, 0.0, 0.5], arms=(2, 3, 2), roles="random", actions="hidden")
HIDDEN_LATE = cb.Problem.bernoulli("random", [0.9, 0.4], arms=(3, 2), delay=4, actions="hidden").relabelled()
CURIOUS_AND_HEEDING = cb.PartnerAwareUCB(
    index="kl-ucb", window=2, exploration=0.6, follower_exploration=1.0, heed=True, ties="random"
)

GAMES = {
    "scans": (ONES, [cb.PartnerAwareUCB(window=3, repeat=2), cb.PartnerAwareUCB(index="companion")]),
    "scans with random ties": (ONES, [cb.NaiveUCB(ties="random"), cb.PartnerAwareUCB(index="anytime", ties="random")]),
    "samplers": (ONES, [cb.KnowledgeGradient(), cb.PartnerAwareTS()]),
    "people": (ONES, [cb.Softmax(memory=3), cb.WinStayLoseShift()]),
    "people without a table": (ONES, [cb.Softmax(memory=40), cb.EpsilonGreedy()]),
    "own arms": (KNOWN, [cb.VeryNaiveUCB(), cb.VeryNaiveUCB(index="anytime", ties="random")]),
    "schedules": (ONES, [cb.MUCBIntervals(exploration=0.02), cb.MDSEE(ties="random")]),
    "real rewards": (REALS, [cb.KnowledgeGradient(discount=0.9), cb.PartnerAwareTS()]),
    "real rewards, an oracle": (REALS, [cb.Optimal(), cb.NaiveTS(ties="random")]),
    "drawn roles": (
        DRAWN,
        [cb.PartnerAwareUCB(window=4), CURIOUS_AND_HEEDING, cb.PartnerAwareTS(repeat=3)],
    ),
    "tournament and scan": (MANY, [cb.PartnerAwareUCB(), cb.PartnerAwareUCB(window=2)]),
    "kinetic tournament": (
        MANY,
        [cb.PartnerAwareUCB(index="anytime", repeat=2), cb.PartnerAwareUCB(index="companion")],
    ),
    "a protocol": (DRAWN, [cb.Steered(), cb.Steered(index="gittins", leader_sight=0.7), cb.Steered(index="ucb")]),
    "a protocol for real rewards": (REALS, [cb.Steered(), cb.Steered(stay=9)]),
    "a protocol with reports": (DIM, [cb.Steered(leader_sight=0.4, follower_sight=0.4)] * 2),
    "reports of many arms": (
        ONES,
        [cb.Steered(index=index, reports="on", leader_sight=0.9, follower_sight=0.4) for index in ("gittins", "ucb")],
    ),
    "an election": (DRAWN, [cb.Elected()] * 3),
    "an election of partner-aware agents": (FLIPPED, [cb.Elected(play="partner-aware")] * 3),
    "an elected leader who steers": (ELECTED, [cb.Steered(index="ucb")] * 3),
    "elected partner-aware agents": (
        ELECTED,
        [
            cb.PartnerAwareUCB(repeat=3, follower_exploration=0.3),
            cb.PartnerAwareTS(),
            cb.PartnerAwareUCB(index="companion", ties="random", follower_exploration=0.1),
        ],
    ),
    "elected samplers of real rewards": (
        dataclasses.replace(REALS, roles="elected"),
        [cb.PartnerAwareTS(window=3)] * 2,
    ),
    "a handshake": (DRAWN, [cb.Handshake()] * 3),
    "a handshake with a stranger": (ONES, [cb.Softmax(), cb.Handshake()]),
    "people and banks": (DRAWN, [cb.RecencySoftmax(values="own-arms"), cb.Bank(plan=True), cb.Bank()]),
    "people with real rewards": (REALS, [cb.RecencySoftmax(), cb.ForgetfulKnowledgeGradient()]),
    "people who explore": (KNOWN, [cb.SoftmaxUCB(lapse=0.2), cb.ForgetfulKnowledgeGradient(temperature=0.2)]),
    "forgetting, while means walk": (
        WALK,
        [
            cb.PartnerAwareDiscountedUCB(window=3, repeat=2, follower_exploration=0.1),
            cb.PartnerAwareSlidingUCB(memory=30, ties="random"),
        ],
    ),
    "forgetting, in moods": (MOODS, [cb.PartnerAwareSlidingUCB(repeat=2), cb.PartnerAwareDiscountedUCB(ties="random")]),
    "told late, while means turn": (TURN_LATE, [cb.PartnerAwareUCB(window=4), cb.Optimal()]),
    "heavy tails": (TAILS, [cb.PartnerAwareDiscountedUCB(recall=0.5), cb.PartnerAwareDiscountedUCB()]),
    "heavier tails, told late to one brain": (HEAVIER, cb.CentralisedTS(ties="random")),
    "hidden plans": (HIDDEN, [cb.MUCB(), cb.MUCB(index="anytime", exploration=0.1)]),
    "hidden plans of real rewards": (HIDDEN_REALS, [cb.MUCB(), cb.MUCB(), cb.MUCB(index="kl-ucb")]),
    "plans in the open": (KNOWN, [cb.MUCB(index="kl-ucb"), cb.NaiveUCB()]),
    "hidden schedules": (HIDDEN, [cb.MDSEE(ties="random"), cb.MDSEE(sweeps=2)]),
    "hidden own arms, told late": (HIDDEN_LATE, [cb.VeryNaiveUCB(index="anytime"), cb.WinStayLoseShift()]),
    "hidden own arms of people": (HIDDEN, [cb.RecencySoftmax(values="own-arms"), cb.Optimal()]),
    "one brain from which nothing is hidden": (HIDDEN, cb.CentralisedUCB()),
    "one brain": (KNOWN, cb.CentralisedUCB()),
    "one brain with a changing index": (MANY, cb.CentralisedUCB(index="companion")),
    "one brain with the index of a protocol": (FLIPPED, cb.CentralisedGittins(sight=0.9)),
    "one sampler for all": (FLIPPED, cb.CentralisedTS()),
    "one sampler of real rewards": (REALS, cb.CentralisedTS(ties="random")),
}

LONG = {
    "scans with random ties",
    "real rewards, an oracle",
    "drawn roles",
    "a protocol",
    "reports of many arms",
    "an election of partner-aware agents",
    "an elected leader who steers",
    "a handshake",
    "heavy tails",
    "hidden plans",
    "plans in the open",
    "hidden own arms, told late",
    "hidden own arms of people",
    "one sampler of real rewards",
}
"""Games whose kinds, rewards, means, observation and roles the other games have, too: `make long` compiles them."""


def team_of(players) -> cb.Team:
    return cb.Team(players) if isinstance(players, list) else cb.Team.of(players)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in GAMES])
def test_every_round_is_the_same(name: str) -> None:
    problem, players = GAMES[name]
    team = team_of(players)
    for run in (0, 3):
        plain = reference.run_trajectory(problem, team, 400, 7, run)
        quick = fast.run_trajectory(problem, team, 400, 7, run)
        assert plain.ranks == quick.ranks
        for part in ("means", "actions", "rewards", "seen", "predictions", "task_regret"):
            np.testing.assert_array_equal(getattr(plain, part), getattr(quick, part))
    points = np.array([1, 2, 50, 64, 100])
    game = make_game(problem, team, 100)
    plain_regrets, _ = reference.play_runs(problem, team, 100, 9, range(3, 8), points, lambda more: None)
    for threads in (1, 3):
        quick_regrets, _ = fast.play_runs(game, 9, range(3, 8), points, threads, lambda more: None)
        np.testing.assert_array_equal(plain_regrets, quick_regrets)


def test_every_compiled_kind_is_compiled_here() -> None:
    """What the games of `make test` are made of is all that the registered agents can become."""
    games = [game for name, game in GAMES.items() if name not in LONG]
    kinds = {type(kind) for problem, players in games for kind in make_game(problem, team_of(players), 9).players}
    wanted = set()
    for name, kind in cb.AGENTS.items():
        family = AGREED_INDICES if kind is cb.MUCB else INDICES
        indices = family if issubclass(kind, UpperConfidence) else (None,)
        for index in indices:
            for problem in (ONES, MANY, REALS, HIDDEN):
                team = cb.Team.of(name, **({} if index is None else {"index": index}))
                if problem.hides_actions and getattr(team.lineup[0], "needs_actions", False):
                    continue
                if fast.obstacle(problem, team, 9) is None:
                    wanted |= {type(player) for player in make_game(problem, team, 9).players}
    assert {kind.__name__ for kind in wanted - kinds} <= {"JointKeptUCB", "JointFreshUCB", "JointBetaThompson"}


@pytest.mark.long
@settings(derandomize=True, deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_lock_step_loop_plays_what_the_reference_plays(data: st.DataObject) -> None:
    arms = data.draw(
        st.sampled_from([(2, 2), (2, 2), (1, 3), (2, 3), (3, 4), (2, 2, 2), (3, 5), (2, 3, 4)]), label="arms"
    )
    sight = data.draw(st.sampled_from(["missed", "flipped"]), label="sight")
    levels = data.draw(st.lists(st.floats(0, 1), min_size=len(arms), max_size=len(arms)), label="levels")
    roles = data.draw(st.just("observability") | st.permutations(range(len(arms))).map(tuple), label="roles")
    index = data.draw(st.sampled_from(LINES), label="index")
    problem = cb.Problem.bernoulli("random", levels, arms=arms, observation=sight, roles=roles)  # type: ignore[arg-type]
    team = cb.Team(
        [
            cb.PartnerAwareUCB(
                window=data.draw(st.integers(1, 12)),
                repeat=data.draw(st.integers(1, 3)),
                exploration=data.draw(st.sampled_from([0.0, 0.025, 2.0])),
                index=index,
            )
            if data.draw(st.booleans())
            else cb.NaiveUCB(index=index)
            for _ in arms
        ]
    )
    game = make_game(problem, team, 50)
    steps = lockstep.can_play(game)
    assert steps or problem.cells > 8
    kernel = "lockstep" if steps else "general"
    points = np.array([1, 7, 50])
    plain, _ = reference.play_runs(problem, team, 50, 3, range(5, 75), points, lambda more: None)
    quick, _ = fast.play_runs(game, 3, range(5, 75), points, 1, lambda more: None, kernel=kernel)
    np.testing.assert_array_equal(plain, quick)


def test_long_runs_beyond_the_table_of_roots(monkeypatch) -> None:
    """Where a cell has been played more often than the table is long, its root is computed: the same bits."""
    problem = cb.Problem.bernoulli([[0.9, 0.1], [0.2, 0.3]], [1.0, 0.5])
    team = cb.Team.of("partner-aware-ucb")
    points = np.array([3000])

    def regrets() -> np.ndarray:
        game = make_game(problem, team, 3000)
        return fast.play_runs(game, 1, range(4), points, 1, lambda more: None, kernel="general")[0]

    whole = regrets()
    monkeypatch.setattr("cobandit.engine.fast.world.LONGEST_TABLE", 100)
    short = regrets()
    np.testing.assert_array_equal(whole, short)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_crowd_is_the_same(threads: int, monkeypatch) -> None:
    monkeypatch.setattr("cobandit.engine.fast.studies.ROUNDS_PER_BLOCK", 1000)
    mixture = [("softmax", 2), ("knowledge-gradient", 1), ("win-stay-lose-shift", 1)]
    made = [
        simulate_participants("burger", mixture, 40, 8, engine=engine, threads=threads, checkpoints=[1, 5, 20])
        for engine in ("fast", "reference")
    ]
    assert [one.engine for one in made] == ["fast", "reference"]
    assert load_design("burger").rounds == 20
    for name in ("seeds", "orders", "kinds", "checkpoints", "regret_curves", "good", "task_regret", "team_regret"):
        np.testing.assert_array_equal(getattr(made[0], name), getattr(made[1], name))
