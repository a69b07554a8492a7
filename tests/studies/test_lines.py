"""Tasks with states: a burger that is stacked layer by layer, by a person and an agent of `cobandit.mdp`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit import mdp
from cobandit.analysis import analyse_data, default_plan, power_analysis, preregistration
from cobandit.analysis.choices import choices_of_tables
from cobandit.mdp.planning import World, optimal_values
from cobandit.studies import Episode, ParticipantPlan, StudyDesign, load_design, participant_view, rehearse
from cobandit.studies.crowd import simulate_participants
from cobandit.studies.export import schema
from cobandit.studies.export.tables import tables
from cobandit.studies.lines import line_regret, plates, state_number, states_of
from cobandit.studies.rehearsed_data import rehearsed_data
from cobandit.studies.verify import verify_study

LINE = load_design("burger-line")
THIRD = [[["Egg", "Bacon"], ["Onion", "Pickle"]], [["Ham", "Tofu"], ["Chilli", "Basil"]]]


def changed(**changes: Any) -> StudyDesign:
    plain = {"languages": ["en"], "translations": {}}
    return StudyDesign.from_dict(LINE.to_dict() | plain | changes)


def layered(*layers: Any, **changes: Any) -> StudyDesign:
    return changed(task=LINE.task.to_dict() | {"layers": list(layers)}, **changes)


SHORT = changed(rounds=8)
TALL = layered(*THIRD, rounds=12)


@pytest.fixture(scope="module")
def data() -> Any:
    return rehearsed_data(SHORT, [("softmax", seed, seed % 2) for seed in range(4)])


class TestStates:
    @pytest.mark.parametrize("layers", [2, 3])
    def test_numbers_are_those_of_the_library(self, layers):
        library = list(mdp.BurgerLine(layers).stacks())
        ours = [tuple(2 * i + j for i, j in plate) for plate in plates((2, 2), layers)]
        assert ours == library
        assert [state_number(plate, (2, 2)) for plate in plates((2, 2), layers)] == list(range(len(library)))

    @pytest.mark.parametrize("layers", [2, 3])
    def test_regret_is_that_of_backward_induction(self, layers):
        """Against `cobandit.mdp.planning`, which knows nothing of burgers."""
        rng = np.random.default_rng(layers)
        dynamics = mdp.BurgerLine(layers)
        world = dynamics.draw(rng)
        first = sum(4**layer for layer in range(layers - 1))
        means = world.means[first:].reshape((2, 2) * layers)
        gaps = optimal_values(World(world.transitions, world.means, world.start), layers).gaps
        actions = rng.integers(0, 2, (5 * layers, 2))
        states = states_of(actions, (2, 2), layers)
        wanted = [
            gaps[t % layers, state, 2 * i + j] for t, (state, (i, j)) in enumerate(zip(states, actions, strict=True))
        ]
        np.testing.assert_allclose(line_regret(means, actions, layers), wanted, atol=1e-12)
        burgers = actions.reshape(5, -1)
        lacking = means.max() - means[tuple(burgers.T)]
        np.testing.assert_allclose(line_regret(means, actions, layers).reshape(5, layers).sum(axis=1), lacking)


class TestEpisodes:
    @pytest.mark.parametrize("design", [SHORT, TALL], ids=["two layers", "three"])
    def test_only_finished_burgers_pay_what_the_plan_says(self, design):
        layers = design.task.steps
        for episode in rehearse(design, "softmax", 3, 0):
            plan, played = episode.plan, episode.rounds
            luck = plan.luck()
            for t, one_round in enumerate(played, start=1):
                if t % layers:
                    assert one_round.reward == 0.0
                else:
                    stack = tuple(arm for below in played[t - layers : t] for arm in below.arms)
                    assert one_round.reward == luck[(t // layers - 1, *stack)]
            assert Episode.rebuild(plan, played).head == episode.head
            half = Episode.rebuild(plan, played[: layers + 1])  # in the middle of a burger
            assert [half.play(r.t, r.arms[0]) for r in played[layers + 1 :]] == list(played[layers + 1 :])
            assert half.head == episode.head

    def test_conditions_share_luck_and_the_second_set_is_reversed_in_all_layers(self):
        plan = ParticipantPlan(SHORT, 7, 0)
        first, second = plan.episodes
        np.testing.assert_array_equal(first.means, np.flip(second.means))
        np.testing.assert_array_equal(first.luck(), np.flip(second.luck(), axis=(1, 2, 3, 4)))

    def test_the_agent_plans_for_the_states(self):
        """With W = 1 a partner-aware follower foresees the last arm that the person chose in this state."""
        agents = {"aware": "partner-aware-ucbvi", "naive": "naive-ucbvi"}
        design = changed(rounds=40, conditions=[{"name": name, "agent": agent} for name, agent in agents.items()])
        episode = Episode.open(ParticipantPlan(design, 1, 0).episode(0))
        latest: dict[tuple[Any, ...], int] = {}
        foreseen = 0
        for t in range(1, 41):
            state, arm = episode.plate, (t * t // 3) % 2
            played = episode.play(t, arm)
            predicted = played.predictions[1][0]
            if state in latest and predicted is not None:
                assert predicted == latest[state]
                foreseen += 1
            latest[state] = arm
        assert foreseen > 20

    def test_the_view_counts_the_burgers_that_began_alike(self):
        episode = rehearse(changed(rounds=40), "softmax", 3, 0)[0]
        view = participant_view(Episode.rebuild(episode.plan, episode.rounds[:31]))
        burgers = [r.arms for r in episode.rounds[:31]]
        assert view["plate"] == [list(burgers[30])]
        assert (view["latest"]["good"], view["good"] + view["bad"]) == (None, 15)
        for cell in view["counts"]:
            alike = [t for t in range(0, 30, 2) if (burgers[t], burgers[t + 1]) == (burgers[30], tuple(cell["arms"]))]
            assert cell["good"] == sum(episode.rounds[t + 1].reward for t in alike)
            assert cell["good"] + cell["bad"] == len(alike)
        assert view["counts"][0]["labels"] == ["Egg", "Onion"]


class TestData:
    def test_it_is_verified_and_a_changed_arm_is_found(self, data):
        assert verify_study(data) == []
        other = rehearsed_data(SHORT, [("softmax", 9, 0)])
        log = other.participants[0].episodes[0]
        log.arms[2, 0] = 1 - log.arms[2, 0]  # the first layer of the second burger
        assert {"hash"} < {difference.field for _, difference in verify_study(other)}

    def test_rounds_have_layer_state_and_labels_of_the_layer(self, data):
        long = tables(data)["long"]
        assert long["layer"].tolist()[:4] == [1, 2, 1, 2]
        assert set(long["state"][long["layer"] == 1]) == {0}
        second = long["layer"] == 2
        assert set(long["label_0"][second]) <= {"Egg", "Bacon"}
        before = np.flatnonzero(second) - 1
        np.testing.assert_array_equal(long["state"][second], 1 + 2 * long["arm_0"][before] + long["arm_1"][before])
        column = next(column for column in schema(SHORT)["long"] if column.name == "state")
        assert "2: Patty+Lettuce" in column.values

    def test_regret_and_texts(self, data):
        found = analyse_data(data)
        assert "A burger had 2 layers. In every layer" in found.methods
        assert "Each of the 16 combinations" in found.methods
        assert "in each of 2 layers" in preregistration(SHORT, default_plan(SHORT), "osf")
        with pytest.raises(cb.InvalidInput, match="tasks without states"):
            choices_of_tables(SHORT, tables(data))

    def test_crowds_and_power_play_what_rehearsals_play(self):
        crowd = simulate_participants(SHORT, "win-stay-lose-shift", 2)
        with pytest.raises(cb.InvalidInput, match="tasks with states"):
            simulate_participants(SHORT, "softmax", 2, engine="fast")
        played = rehearse(SHORT, "win-stay-lose-shift", int(crowd.seeds[0]), int(crowd.orders[0]))[-1]
        place = 0, crowd.conditions.index(played.plan.condition), 0
        assert crowd.good[place] == sum(r.reward for r in played.rounds)
        assert crowd.task_regret[place] == played.trajectory().task_regret[-1]
        power = power_analysis(SHORT, "softmax", [4], 2)
        assert {curve.points[0].n for curve in power.curves} == {4}
        with pytest.raises(cb.InvalidInput, match="needs the means of single choices"):
            rehearse(SHORT, "optimal", 0, 0)


def test_the_shipped_design_is_analysed_and_its_power_computed():
    found = analyse_data(rehearsed_data(LINE, [("softmax", seed, seed % 2) for seed in range(4)]))
    row = found.result("H1-regret")
    assert (row.finding.n, row.finding.test) == (4, "paired t")
    assert "the participant (Patty or Cheese, then Egg or Bacon) and the AI (Tomato or Lettuce, then" in found.methods
    assert "the outcome of the finished burger was 'satisfied' or 'unsatisfied'" in found.methods
    assert "played 60 rounds of one layer with each of 2 AI algorithms, naive-ucbvi (exploration" in found.methods
    assert "Task regret is the best chance of a good outcome that could still be reached before" in found.methods
    assert "The number of satisfied customers" in found.results_text
    power = power_analysis(LINE, "softmax", [4], 2)
    assert {"H1-regret", "H1-good"} <= {curve.hypothesis.id for curve in power.curves}
    assert all(0 <= curve.points[0].planned.value <= 1 for curve in power.curves)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": 9}, "rounds must be a multiple of the 2 layers of a burger, got 9"),
        (
            {"conditions": [{"name": "a", "agent": "naive-ucb"}, {"name": "b", "agent": "naive-ucbvi"}]},
            r"conditions\.a\.agent must be one of",
        ),
        (
            {"conditions": [{"name": "a", "agent": "optimal"}, {"name": "b", "agent": "naive-ucbvi"}]},
            r"conditions\.a\.agent must be one of",
        ),
        ({"observation": "flipped"}, "observation must be 'missed' or 'missed-known'"),
        ({"means": {"drift": "random-walk"}}, "means must be drawn, and must not drift"),
        ({"warm_start": {"agent": "naive-ucb", "rounds": 4}}, "warm_start must be left out"),
        ({"practice": {"agent": "naive-ucbvi", "rounds": 3}}, "practice.rounds must be a multiple of the 2 layers"),
        ({"rewards": {"kind": "points"}, "observation": "missed-known"}, "task.kind must be 'grid'"),
        ({"task": LINE.task.to_dict() | {"layers": []}}, "task.layers and task.kind = 'burger-line' require"),
        ({"task": LINE.task.to_dict() | {"layers": [[["a", "b"], ["c", "d", "e"]]]}}, "task.layers must have as many"),
    ],
)
def test_what_does_not_fit_is_named(changes, words):
    with pytest.raises(cb.InvalidInput, match=words):
        changed(**changes)


def test_agents_with_states_need_a_task_with_states():
    conditions = [{"name": "a", "agent": "naive-ucbvi"}, {"name": "b", "agent": "naive-ucb"}]
    with pytest.raises(cb.InvalidInput, match=r"conditions\.a\.agent is 'naive-ucbvi', which needs task\.kind"):
        StudyDesign.from_dict(load_design("three-by-three").to_dict() | {"conditions": conditions})
