"""What holds for every problem, team and seed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobandit import (
    AGENTS,
    Agent,
    CentralisedUCB,
    MUCBIntervals,
    NaiveUCB,
    PartnerAwareUCB,
    Problem,
    Team,
    VeryNaiveUCB,
    simulate,
)
from cobandit.agents.beliefs import INDICES
from cobandit.base.streams import Streams
from cobandit.engine.simulation import checked_checkpoints
from cobandit.problem.observation import ObservationName

CALM = settings(derandomize=True, deadline=None, database=None, max_examples=40)
"""The same examples every time, without a clock."""


def for_all(*strategies):
    """`given`, calmly."""
    return lambda test: CALM(given(*strategies)(test))


SEEDS = st.integers(0, 2**64 - 1)
HORIZONS = st.integers(1, 40)
SHAPES = st.one_of(
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 2)),
)
SHARES = st.integers(0, 20).map(lambda k: k / 20)
OTHERWISE: dict[ObservationName, float] = {"missed": 0.0, "missed-known": math.nan, "flipped": 1.0}

OPTIONS = {
    "partner-aware-ucb": st.fixed_dictionaries(
        {
            "window": st.integers(1, 30),
            "repeat": st.integers(1, 4),
            "index": st.sampled_from(INDICES),
            "ties": st.sampled_from(["first", "random"]),
        }
    ),
    "partner-aware-ts": st.fixed_dictionaries({"window": st.integers(1, 30), "repeat": st.integers(1, 4)}),
    "naive-ucb": st.fixed_dictionaries({"index": st.sampled_from(INDICES)}),
    "knowledge-gradient": st.fixed_dictionaries({"discount": st.sampled_from([None, 0.0, 0.9])}),
    "mucb-intervals": st.fixed_dictionaries({"exploration": st.sampled_from([0.0, 0.02, 0.5])}),
    "mdsee": st.fixed_dictionaries({"sweeps": st.integers(1, 2)}),
}


@st.composite
def means(draw, shape, low=0, high=100):
    cells = math.prod(shape)
    values = draw(st.lists(st.integers(low, high), min_size=cells, max_size=cells))
    return (np.array(values) / 100).reshape(shape)


@st.composite
def bernoulli(draw, shapes=SHAPES):
    shape = draw(shapes)
    return Problem.bernoulli(
        draw(means(shape)) if draw(st.booleans()) else "random",
        [draw(SHARES) for _ in shape],
        arms=shape,
        observation=draw(st.sampled_from(list(OTHERWISE))),
        roles=draw(st.sampled_from(["observability", "random"])),
    )


@st.composite
def gaussian(draw):
    shape = draw(SHAPES)
    return Problem.gaussian(
        draw(means(shape, -100, 200)),
        [draw(SHARES) for _ in shape],
        sd=(0.1, 0.5),
        roles=draw(st.permutations(range(len(shape)))),
    )


problems = st.one_of(bernoulli(), gaussian())


@st.composite
def teams(draw, agents=None):
    """A team of one kind, or of any kinds where the number of agents is given."""

    def one(name):
        return AGENTS[name].of(**draw(OPTIONS.get(name, st.just({}))))

    if agents is not None and draw(st.booleans()):
        singles = [name for name in AGENTS if not name.startswith("centralised")]
        return Team([one(draw(st.sampled_from(singles))) for _ in range(agents)], check_protocol=False)
    return Team.of(one(draw(st.sampled_from(list(AGENTS)))))


class Roamer(Agent):
    """Plays a random arm of its own in every round."""

    def choose(self):
        return int(self.rng.random() * self.briefing.own_arms)

    def observe(self, team_action, reward):
        pass


def mates():
    """One agent of any registered kind, or one who plays at random."""
    singles = [name for name in AGENTS if not name.startswith("centralised")]
    return st.one_of(st.builds(Roamer), st.sampled_from(singles).map(lambda name: AGENTS[name]()))


def played(problem, team, horizon, seed, run=0):
    result = simulate(problem, team, horizon, runs=1, seed=seed, engine="reference", first_run=run)
    return result.trajectory(run)


class TestCommonRandomNumbers:
    @for_all(bernoulli(), st.data(), HORIZONS, SEEDS, st.integers(0, 1000))
    def test_bernoulli_rewards_and_sight_are_draws_of_the_run_alone(self, problem, data, horizon, seed, run):
        streams = Streams.of(seed, run, problem.agents)
        instance = problem.instance(streams.setup)
        luck = streams.rewards.random(horizon)
        sight = np.array([rng.random(horizon) for rng in streams.observations]).T
        otherwise = OTHERWISE[problem.observation.name]
        for _ in range(2):
            trajectory = played(problem, data.draw(teams(problem.agents)), horizon, seed, run)
            assert np.array_equal(trajectory.means, instance.means)
            assert trajectory.ranks == instance.ranks
            expected = luck < instance.means[tuple(trajectory.actions.T)]
            assert np.array_equal(trajectory.rewards, expected)
            seen = np.where(sight < problem.observation.observability, trajectory.rewards[:, None], otherwise)
            assert np.array_equal(trajectory.seen, seen, equal_nan=True)

    @for_all(gaussian(), st.data(), HORIZONS, SEEDS)
    def test_gaussian_rewards_and_noise_are_draws_of_the_run_alone(self, problem, data, horizon, seed):
        streams = Streams.of(seed, 0, problem.agents)
        instance = problem.instance(streams.setup)
        luck = streams.rewards.standard_normal(horizon)
        noise = np.array([rng.standard_normal(horizon) for rng in streams.observations]).T
        for _ in range(2):
            trajectory = played(problem, data.draw(teams(problem.agents)), horizon, seed)
            cells = tuple(trajectory.actions.T)
            assert np.array_equal(trajectory.rewards, instance.means[cells] + instance.spreads[cells] * luck)
            assert np.array_equal(
                trajectory.seen, trajectory.rewards[:, None] + np.array(problem.observation.noise) * noise
            )

    @for_all(problems, HORIZONS, SEEDS)
    def test_the_shorter_run_is_the_beginning_of_the_longer_one(self, problem, horizon, seed):
        # Not for indices that know the horizon: very naive UCB with the anytime index does not.
        team = Team.of("very-naive-ucb", index="anytime")
        short, long = (played(problem, team, rounds, seed) for rounds in (horizon, horizon + 7))
        assert np.array_equal(short.actions, long.actions[:horizon])
        assert np.array_equal(short.seen, long.seen[:horizon], equal_nan=True)


class TestOwnChoices:
    @for_all(problems, HORIZONS, SEEDS, st.integers(0, 1000))
    def test_each_agent_draws_from_its_own_stream(self, problem, horizon, seed, run):
        streams = Streams.of(seed, run, problem.agents).choices
        actions = played(problem, Team.of(Roamer()), horizon, seed, run).actions
        for i, (rng, arms) in enumerate(zip(streams, problem.arms, strict=True)):
            assert np.array_equal(actions[:, i], (rng.random(horizon) * arms).astype(int))


class TestTheAgreedSchedule:
    """mUCB-Intervals beside anybody: the schedule is public, so the team actions alone tell where it stands."""

    @for_all(problems, st.data(), st.integers(20, 80), SEEDS)
    def test_it_is_kept_down_to_the_last_action(self, problem, data, horizon, seed):
        members = [data.draw(mates()) for _ in range(problem.agents)]
        place = data.draw(st.integers(0, problem.agents - 1))
        members[place] = MUCBIntervals(exploration=data.draw(st.sampled_from([0.0, 0.02, 0.5])))
        active = list(np.ndindex(*problem.arms))
        scheduled = active[0]
        team = Team(members, check_protocol=False)
        for action in played(problem, team, horizon, seed).actions.tolist():
            signed = (action[place] - scheduled[place]) % problem.arms[place]
            assert signed in (0, 1)
            if tuple(action) != scheduled and len(active) > 1:
                active.remove(scheduled)
            elif len(active) == 1:
                assert not signed  # nothing is left that could be better
            scheduled = next((cell for cell in active if cell > scheduled), active[0])


class TestRegret:
    @for_all(problems, st.data(), HORIZONS, SEEDS)
    def test_it_never_falls_and_team_regret_is_task_regret_by_the_factor(self, problem, data, horizon, seed):
        team = data.draw(teams(problem.agents))
        result = simulate(problem, team, horizon, runs=3, seed=seed, engine="reference")
        assert result.task_regret.shape == (3, len(result.checkpoints))
        assert (result.task_regret >= 0).all()
        assert (np.diff(result.task_regret, axis=1) >= 0).all()
        assert np.array_equal(result.team_regret, result.task_regret * problem.team_factor)
        assert result.checkpoints[-1] == horizon

    @for_all(problems, st.data(), HORIZONS, SEEDS)
    def test_it_is_bounded_by_the_largest_gap_in_every_round(self, problem, data, horizon, seed):
        result = simulate(problem, data.draw(teams(problem.agents)), horizon, runs=1, seed=seed, engine="reference")
        largest = np.ptp(result.trajectory(0).means)
        assert result.task_regret[0, -1] <= horizon * largest * (1 + 1e-12)

    @for_all(problems, st.data(), HORIZONS, SEEDS, st.integers(1, 12))
    def test_a_trajectory_is_the_row_of_its_run(self, problem, data, horizon, seed, points):
        team = data.draw(teams(problem.agents))
        result = simulate(problem, team, horizon, runs=3, seed=seed, engine="reference", checkpoints=points)
        for run in range(3):
            trajectory = result.trajectory(run)
            assert len(trajectory) == horizon
            kept = trajectory.task_regret[result.checkpoints - 1]
            assert np.allclose(kept, result.task_regret[run], rtol=1e-12, atol=1e-12)

    @for_all(problems, st.data(), HORIZONS, SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(0, 10**6))
    def test_pieces_make_the_whole(self, problem, data, horizon, seed, left, right, start):
        team = data.draw(teams(problem.agents))

        def piece(first, runs):
            return simulate(
                problem, team, horizon, runs=runs, seed=seed, engine="reference", first_run=first
            ).task_regret

        whole = piece(start, left + right)
        assert np.array_equal(np.concatenate([piece(start, left), piece(start + left, right)]), whole)

    @for_all(problems, HORIZONS, SEEDS)
    def test_the_optimal_team_has_none(self, problem, horizon, seed):
        result = simulate(problem, Team.of("optimal"), horizon, runs=2, seed=seed, engine="reference")
        assert (result.task_regret == 0).all()
        trajectory = result.trajectory(1)
        assert (trajectory.actions == trajectory.actions[0]).all()

    @for_all(bernoulli(), st.data(), HORIZONS, SEEDS, st.sampled_from([0.5, 2.0, 4.0]))
    def test_weights_scale_team_regret_and_leave_task_regret_alone(self, problem, data, horizon, seed, factor):
        team = data.draw(teams(problem.agents))
        heavy = Problem(
            problem.means,
            problem.reward,
            problem.observation,
            tuple(factor * w for w in problem.weights),
            problem.roles,
        )
        plain, scaled = (simulate(p, team, horizon, runs=2, seed=seed, engine="reference") for p in (problem, heavy))
        assert np.array_equal(plain.task_regret, scaled.task_regret)
        assert np.allclose(factor * plain.team_regret, scaled.team_regret, rtol=1e-12)

    @for_all(st.integers(1, 5000), st.integers(1, 300))
    def test_checkpoints_rise_to_the_last_round(self, horizon, count):
        points = checked_checkpoints(count, horizon)
        assert len(points) == min(count, horizon)
        assert points[0] >= 1
        assert points[-1] == horizon
        steps = np.diff(points, prepend=0)
        assert (steps >= 1).all()
        assert points.tolist() == [math.ceil(Fraction(k * horizon, len(points))) for k in range(1, len(points) + 1)]
        assert points.dtype == np.int64


class TestSameThing:
    """Settings that mean the same give the same runs."""

    @for_all(st.data(), HORIZONS, SEEDS, SHAPES)
    def test_full_sight_is_one_thing_under_any_name(self, data, horizon, seed, shape):
        mu = data.draw(means(shape))
        team = data.draw(teams(len(shape)))
        runs = [played(Problem.bernoulli(mu, observation=name), team, horizon, seed) for name in OTHERWISE]
        assert runs[0].same_as(runs[1])
        assert runs[0].same_as(runs[2])

    @for_all(problems, st.data(), HORIZONS, SEEDS, st.sampled_from(["centralised-ucb", "centralised-ts"]))
    def test_roles_are_nothing_to_one_brain(self, problem, data, horizon, seed, name):
        given = tuple(data.draw(st.permutations(range(problem.agents))))
        runs = [
            played(replace(problem, roles=roles), Team.of(name), horizon, seed)
            for roles in ("observability", "random", given)
        ]
        for run in runs[1:]:
            assert np.array_equal(run.actions, runs[0].actions)
            assert np.array_equal(run.seen, runs[0].seen, equal_nan=True)

    @for_all(st.data(), HORIZONS, SEEDS, SHAPES, st.sampled_from(["centralised-ucb", "centralised-ts"]))
    def test_one_brain_with_one_good_pair_of_eyes_needs_no_other(self, data, horizon, seed, shape, name):
        # Whoever leads: the others' eyes, however bad, are left alone.
        mu = data.draw(means(shape))
        best = data.draw(st.integers(0, len(shape) - 1))
        bad = [data.draw(st.integers(1, 19).map(lambda k: k / 20)) for _ in shape]
        roles = tuple(data.draw(st.permutations(range(len(shape)))))

        def actions(made, clear):
            levels = [clear if i == best else level for i, level in enumerate(bad)]
            return [played(made(sight), Team.of(name), horizon, seed).actions for sight in (levels, [clear] * len(bad))]

        some, everybody = actions(lambda s: Problem.bernoulli(mu, s, observation="flipped", roles=roles), 1.0)
        assert np.array_equal(some, everybody)
        some, everybody = actions(lambda s: Problem.gaussian(mu, s, roles=roles), 0.0)
        assert np.array_equal(some, everybody)

    @for_all(st.data(), HORIZONS, SEEDS, SHAPES, st.sampled_from(["paper", "anytime"]))
    def test_fact_1_naive_ucb_with_full_sight_is_a_single_agent(self, data, horizon, seed, shape, index):
        problem = Problem.bernoulli(data.draw(means(shape)))
        team = played(problem, Team.of(NaiveUCB(index=index)), horizon, seed)
        single = played(problem, Team.of(CentralisedUCB(index=index)), horizon, seed)
        assert np.array_equal(team.actions, single.actions)

    @for_all(
        bernoulli(st.tuples(st.just(1), st.integers(1, 4))),
        HORIZONS,
        SEEDS,
        st.sampled_from(INDICES),
    )
    def test_beside_a_partner_without_a_choice_all_of_ucb_is_one(self, problem, horizon, seed, index):
        kinds = [NaiveUCB, VeryNaiveUCB, PartnerAwareUCB]
        runs = [played(problem, Team.of(kind(index=index)), horizon, seed).actions for kind in kinds]
        assert np.array_equal(runs[0], runs[1])
        assert np.array_equal(runs[0], runs[2])

    @for_all(bernoulli(), HORIZONS, SEEDS)
    def test_a_leader_who_decides_every_round_is_naive_ucb(self, problem, horizon, seed):
        # Beside partners who do not react, the leader of Alg. 2 with L = 1 and a naive agent play the same arms.
        actions = []
        for kind in (PartnerAwareUCB, NaiveUCB):
            settled = Problem(problem.means, problem.reward, problem.observation, roles=tuple(range(problem.agents)))
            others = [AGENTS["mdsee"](sweeps=horizon) for _ in range(problem.agents - 1)]  # type: ignore[call-arg]
            actions.append(played(settled, Team([kind(), *others]), horizon, seed).actions)
        assert np.array_equal(actions[0], actions[1])

    @for_all(problems, st.data(), HORIZONS, SEEDS)
    def test_a_team_of_one_kind_is_that_kind_at_every_place(self, problem, data, horizon, seed):
        name = data.draw(st.sampled_from([n for n in AGENTS if not n.startswith("centralised")]))
        one = played(problem, Team.of(name), horizon, seed)
        many = played(problem, Team([AGENTS[name]() for _ in range(problem.agents)]), horizon, seed)
        assert one.same_as(many)

    @for_all(problems, st.data(), HORIZONS, SEEDS)
    def test_a_seed_is_all_there_is_to_a_run(self, problem, data, horizon, seed):
        team = data.draw(teams(problem.agents))
        assert played(problem, team, horizon, seed).same_as(played(problem, team, horizon, seed))


class TestPredictions:
    @for_all(bernoulli(), HORIZONS, SEEDS, st.integers(1, 5))
    def test_only_the_higher_ranked_are_foreseen_and_by_what_they_did(self, problem, horizon, seed, window):
        trajectory = played(problem, Team.of("partner-aware-ucb", window=window), horizon, seed)
        for i, rank in enumerate(trajectory.ranks):
            for j, other in enumerate(trajectory.ranks):
                foreseen = trajectory.predictions[:, i, j]
                if other >= rank:
                    assert (foreseen == -1).all()
                    continue
                assert 0 <= foreseen[0] < problem.arms[j]
                for t in range(1, horizon):
                    assert foreseen[t] in trajectory.actions[max(0, t - window) : t, j]

    @for_all(bernoulli(), HORIZONS, SEEDS, st.integers(2, 5))
    def test_the_leader_keeps_its_arm_as_long_as_it_should(self, problem, horizon, seed, repeat):
        trajectory = played(problem, Team.of("partner-aware-ts", repeat=repeat), horizon, seed)
        arms = trajectory.actions[:, trajectory.ranks.index(0)]
        for start in range(0, horizon, repeat):
            assert len(set(arms[start : start + repeat].tolist())) == 1


@pytest.mark.parametrize("engine", ["reference", "fast"])
@pytest.mark.parametrize(("horizon", "count"), [(110, 100), (110, 99), (200, 100), (1000, 7), (3, 100), (100, 1)])
def test_checkpoints_are_evenly_spread_to_the_round(engine, horizon, count):
    team = Team.of("partner-aware-ucb")
    result = simulate(Problem.bernoulli(), team, horizon, runs=2, seed=0, engine=engine, checkpoints=count)
    kept = min(horizon, count)
    assert result.checkpoints.tolist() == [math.ceil(Fraction(k * horizon, kept)) for k in range(1, kept + 1)]
    trajectory = result.trajectory(0)
    assert np.allclose(result.task_regret[0], trajectory.task_regret[result.checkpoints - 1], rtol=1e-12, atol=1e-12)


@for_all(st.integers(0, 2**32 - 2), SEEDS, st.integers(2, 4))
def test_streams_are_those_of_a_spawned_seed_sequence(run, seed, agents):
    # Run r of seed s: SeedSequence(s), its child r, its children 0, 1, 2, ...
    streams = Streams.of(seed, run % 5, agents)
    child = np.random.SeedSequence(seed).spawn(5)[run % 5]
    spawned = [np.random.Generator(np.random.SFC64(part)) for part in child.spawn(2 + 2 * agents)]
    made = [streams.setup, streams.rewards, *streams.observations, *streams.choices]
    assert [rng.random() for rng in made] == [rng.random() for rng in spawned]


@pytest.mark.parametrize("name", list(AGENTS))
@pytest.mark.parametrize("horizon", [1, 2])
def test_the_shortest_of_runs(name, horizon):
    for problem in (Problem.bernoulli(arms=(1, 1)), Problem.bernoulli(), Problem.gaussian(arms=(2, 1, 2))):
        result = simulate(problem, Team.of(name), horizon, runs=2, seed=1, engine="reference")
        assert result.task_regret.shape == (2, horizon)
