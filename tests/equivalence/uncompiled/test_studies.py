"""The compiled studies are those that are rehearsed round by round: every behaviour, every AI, every kind of design."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cobandit as cb
from cobandit.agents.registry import AGENTS
from cobandit.base.records import Table
from cobandit.engine.fast import studies as fast
from cobandit.engine.fast.kinds.softmax import _weights
from cobandit.studies import BEHAVIOURS, PEOPLE, crowd, load_design, make_behaviour, plan, rehearse
from cobandit.studies.crowd import compiled_study, participant_keys
from tests.agent_table import ONE_SEAT, label

BURGER, CASINO, THREE = load_design("burger"), load_design("casino"), load_design("three-by-three")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=60, episodes=3, practice=replace(CASINO.practice, rounds=5))

RECOMPUTED = [(name, options) for name, options in ONE_SEAT if getattr(AGENTS[name], "recomputable", True)]
CASES = [*RECOMPUTED, ("softmax", {"memory": 10**6})]
AGENT_CASES = [(name, options) for name, options in RECOMPUTED if name not in PEOPLE]
SIGHTS = ("missed", "missed-known", "flipped")


def with_arms(design, rows, columns):
    """The design with other numbers of arms, in one language and for any number of sets.

    Its translations name the arms that it had; its partners and attention checks go by the sets.
    """
    labels = tuple(tuple(f"{side} {arm}" for arm in range(n)) for side, n in (("row", rows), ("column", columns)))
    return replace(
        design,
        arms=(rows, columns),
        task=replace(design.task, arms=labels, fillings=()),
        languages=design.languages[:1],
        translations=Table(),
        partners=(),
        attention=(),
    )


def conditions(*cases):
    """Conditions with these AIs."""
    return tuple(
        replace(BURGER.conditions[0], name=f"ai-{i}", agent=name, options=options)
        for i, (name, options) in enumerate(cases)
    )


def warm(name, options, rounds=20):
    return replace(BURGER.warm_start, agent=name, options=options, rounds=rounds)  # type: ignore[type-var]


def assert_same(design, behaviour, seed, order):
    """Every round of the participant, and of the warm starts, in both ways of playing."""
    study = compiled_study(design, [behaviour])
    keys = participant_keys(design, np.array([seed], dtype=np.uint64))
    quick = fast.run_rounds(study, keys[0], seed, order, 0)
    names = [condition.name for condition in design.conditions]
    for episode in rehearse(design, behaviour, seed, order):
        if episode.plan.practice:
            continue
        where = names.index(episode.plan.condition), episode.plan.number
        rounds = [*episode.warm_start, *episode.rounds]
        assert len(rounds) == study.total
        unknown: dict[float | None, float] = {None: np.nan}
        np.testing.assert_array_equal(quick.arms[where], [(r.arms[0], r.arms[1]) for r in rounds])
        np.testing.assert_array_equal(quick.rewards[where], [r.reward for r in rounds])
        seen = [tuple(unknown.get(saw, saw) for saw in r.seen[:2]) for r in rounds]
        np.testing.assert_array_equal(quick.seen[where], seen)
        foreseen = [-1 if r.predictions[1][0] is None else r.predictions[1][0] for r in rounds]
        np.testing.assert_array_equal(quick.predictions[where][..., 1, 0], foreseen)


def test_everything_registered_is_covered():
    assert {name for name, _ in ONE_SEAT} == set(BEHAVIOURS)


@pytest.mark.parametrize("place", range(len(CASES)), ids=[label(case) for case in CASES])
def test_each_behaviour_in_each_shipped_study(place):
    """Each in one order of each; every order is met by many."""
    name, options = CASES[place]
    person = make_behaviour(name, **options)
    for seed, design in enumerate((BURGER, SHORT, replace(THREE, rounds=40))):
        assert_same(design, person, seed, place % len(design.orders))


@pytest.mark.parametrize("place", range(len(AGENT_CASES)), ids=[label(case) for case in AGENT_CASES])
def test_each_agent_as_the_ai_and_as_its_warm_partner(place):
    """Each meets every sight and every shape; every pair of the two is met by many."""
    name, options = AGENT_CASES[place]
    for seed, (rows, columns, levels) in enumerate([(2, 2, (1.0, 0.5)), (3, 2, (0.4, 0.9)), (3, 4, (0.7, 0.7))]):
        design = replace(
            with_arms(BURGER, rows, columns),
            observation=SIGHTS[(place + seed) % len(SIGHTS)],
            observability=levels,
            conditions=conditions((name, options), ("partner-aware-ucb", {"window": 3})),
            warm_start=warm(name, options),
        )
        assert_same(design, make_behaviour("softmax"), seed, seed % 2)


FIXED = np.array([[0.9, 0.1], [0.3, 0.5]])


MEANS = {
    "drawn": {"draw": "uniform", "low": 0.2, "high": 0.7},
    "per study": {"draw": "uniform", "per": "study"},
    "one matrix": {"draw": "fixed", "values": [FIXED.tolist()]},
    "one each": {"draw": "fixed", "values": [FIXED.tolist(), (1.0 - FIXED).tolist(), [[0.5, 0.5], [0.5, 0.5]]]},
}


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("means", MEANS)
def test_each_kind_of_design(sight, means):
    """Every pair of the four properties is met: luck and labels take turns over sights and means."""
    turn = SIGHTS.index(sight) + list(MEANS).index(means)
    shared_luck, swap_labels = turn % 2 == 0, turn // 2 % 2 == 0
    design = replace(
        with_arms(SHORT, 2, 2),
        rounds=25,
        observation=sight,
        shared_luck=shared_luck,
        swap_labels=swap_labels,
        means=type(SHORT.means).read("means", MEANS[means]),
        conditions=conditions(("naive-ucb", {}), ("partner-aware-ucb", {"window": 2}), ("optimal", {})),
        warm_start=warm("naive-ucb", {}, rounds=7),
    )
    for order in (turn, turn + 3):
        assert_same(design, make_behaviour("epsilon-greedy"), 2**63 + order, order % len(design.orders))


@settings(derandomize=True, deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_study(data):
    cases = st.sampled_from(AGENT_CASES)
    rows, columns = data.draw(st.tuples(st.integers(2, 5), st.integers(2, 5)), label="arms")
    ais = data.draw(st.lists(cases, min_size=1, max_size=3), label="AIs")
    warmed = data.draw(st.none() | st.tuples(cases, st.integers(1, 30)), label="warm start")
    design = replace(
        with_arms(SHORT, rows, columns),
        rounds=data.draw(st.integers(1, 40), label="rounds"),
        episodes=data.draw(st.integers(1, 3), label="episodes"),
        observation=data.draw(st.sampled_from(SIGHTS), label="sight"),
        observability=data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1)), label="levels"),
        conditions=conditions(*ais),
        shared_luck=data.draw(st.booleans(), label="shared"),
        swap_labels=data.draw(st.booleans(), label="swap"),
        warm_start=None if warmed is None else warm(*warmed[0], rounds=warmed[1]),  # type: ignore[misc]
        practice=data.draw(st.sampled_from([None, SHORT.practice]), label="practice"),
    )
    name, options = data.draw(st.sampled_from(CASES), label="behaviour")
    order = data.draw(st.integers(0, len(design.orders) - 1), label="order")
    assert_same(design, make_behaviour(name, **options), data.draw(st.integers(0, 2**64 - 1), label="seed"), order)


@pytest.mark.parametrize("key", [0, 7, 2**127, 2**128, 2**223 + 5, 2**224, 2**256 - 1])
def test_keys_of_any_length(key, monkeypatch):
    """SeedSequence leaves leading zeros out, so a key below 2**224 has fewer words."""
    for module in (plan, crowd):
        monkeypatch.setattr(module, "person_key", lambda *parts: key)
    assert_same(BURGER, make_behaviour("softmax"), 3, 1)


def test_the_powers_of_e_are_those_of_the_plain_version():
    """Element by element, as a row of four and as a whole table: NumPy may take another path for each."""
    table = _weights(8, 0.1).reshape(45, 45)
    states = [(n, s) for n in range(9) for s in range(n + 1)]
    values = np.array([(0.5 + s) / (1.0 + n) / 0.1 for n, s in states])
    for top in range(45):
        below = np.flatnonzero(values <= values[top])
        for four in np.array_split(below, -(-len(below) // 4)):
            np.testing.assert_array_equal(table[top, four], np.exp(values[four] - values[top]))


@pytest.mark.parametrize("threads", [1, 3])
def test_outcomes_agree_in_bulk(threads, monkeypatch):
    monkeypatch.setattr(fast, "ROUNDS_PER_BLOCK", 1000)
    people: list[tuple[str | cb.Agent, float]] = [("softmax", 2), ("knowledge-gradient", 1)]
    mixture = [*people, (cb.NaiveTS(), 1), ("win-stay-lose-shift", 1)]
    for design in (BURGER, replace(SHORT, rounds=30)):
        points = [1, 5, 20, design.rounds] if design.rounds > 20 else [1, 5, 20]
        made = [
            crowd.simulate_participants(design, mixture, 40, 8, engine=engine, threads=threads, checkpoints=points)
            for engine in ("fast", "reference")
        ]
        assert [one.engine for one in made] == ["fast", "reference"]
        for name in ("seeds", "orders", "kinds", "checkpoints", "regret_curves", "good", "task_regret", "team_regret"):
            np.testing.assert_array_equal(getattr(made[0], name), getattr(made[1], name))
