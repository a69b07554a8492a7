"""Scores, drifting means and weights in studies: drawn, replayed, verified, exported, simulated and described."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.analysis import analyse_data, default_plan, preregistration
from cobandit.analysis.words import condition_label
from cobandit.engine.choice import NotCompiled
from cobandit.studies import Episode, ParticipantPlan, StudyDesign, load_design, rehearse
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.crowd import _prepared, simulate_participants
from cobandit.studies.episode import participant_view
from cobandit.studies.export.tables import tables
from cobandit.studies.journey import task_payload
from cobandit.studies.rehearsed_data import rehearsed_data
from cobandit.studies.verify import verify_study

GRID = load_design("three-by-three")
PRACTICE = {"agent": "softmax", "rounds": 5}
PLAIN = {"partners": [], "languages": ["en"], "translations": {}}
MATRIX = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]


def changed(**changes: object) -> StudyDesign:
    return StudyDesign.from_dict(GRID.to_dict() | changes)


SCORES = {"observation": "missed-known"}
GAUSS = {"kind": "gaussian", "sd": 1.0}
POINTS = {"rewards": {"kind": "points", "highest": 10}, "means": {"low": 0.0, "high": 10.0}}
WALK: dict[str, object] = {"means": {"drift": "random-walk", "step": 0.1}}
PHASES: dict[str, object] = {"means": {"drift": "piecewise", "changes_at": [11, 21]}}
KINDS: dict[str, dict[str, object]] = {
    "points": {"observation": "missed-known", **POINTS},
    "gaussian": {
        "observation": "noisy",
        "observability": [1.0, 1.0],
        "rewards": {"kind": "gaussian", "sd": 1.0, "noise": [0.5, 2.0]},
        "means": {"low": 2.0, "high": 8.0},
    },
    "spreads": {
        "observation": "missed-known",
        "rewards": {"kind": "gaussian", "spreads": [[0.0, 0.1, 0.2], [0.3, 0.4, 0.5], [0.6, 0.7, 0.8]]},
    },
    "student-t": {"observation": "missed-known", "rewards": {"kind": "student-t", "df": 2.0, "scale": 0.5}},
    "correlated": {
        "observation": "missed-known",
        "rewards": {"kind": "correlated-gaussian", "sd": 1.0, "correlation": 0.8},
        "means": {"drift": "random-walk"},
    },
    "walk": WALK,
    "phases": PHASES,
    "weights": {"rewards": {"weights": [1.0, 3.0]}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_is_played_verified_and_exported(kind):
    design = changed(**KINDS[kind])
    data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(2)])
    assert verify_study(data) == []
    long = tables(data, practice=False)["long"]
    assert len(long["reward"]) == 2 * len(design.conditions) * design.episodes * design.rounds
    assert long["round_regret"].min() >= 0.0
    episode = rehearse(design, "softmax", 0, 0)[-1]
    own = (long["participant"] == "r-0001") & (long["episode"] == episode.plan.index)
    np.testing.assert_allclose(long["task_regret"][own], episode.trajectory().task_regret)
    assert Episode.rebuild(episode.plan, episode.rounds).head == episode.head


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_reward_is_found(kind):
    data = rehearsed_data(changed(**KINDS[kind]), [("softmax", 4, 0)])
    index = max(data.participants[0].episodes)
    data.participants[0].episodes[index].reward[3] += 1.0
    fields = {difference.field for _, difference in verify_study(data)}
    assert "reward" in fields
    assert "hash" in fields


def test_the_digest_of_earlier_designs_stays():
    assert GRID.digest == "5b2020c27282fa8af1044c841a4f82a1b86ba9db4ca83c91b379757153f51a3a"
    assert changed(rewards={}).digest == GRID.digest


def rewards(**changes: object) -> np.ndarray:
    design = changed(**changes, swap_labels=False)
    return np.array([ParticipantPlan(design, seed, 0).episode(1).luck() for seed in range(60)])


class TestScores:
    def test_points_are_integers_with_the_mean_of_the_cell(self):
        fixed = {"draw": "fixed", "values": [(10 * np.array(MATRIX)).tolist()]}
        scores = rewards(**POINTS | {"observation": "missed-known", "means": {"low": 0, "high": 10} | fixed})
        assert set(np.unique(scores)) <= set(range(11))
        np.testing.assert_allclose(scores.mean(axis=(0, 1)), 10 * np.array(MATRIX), atol=0.2)

    def test_gaussian_scores_have_their_spread(self):
        fixed = {"draw": "fixed", "values": [MATRIX]}
        scores = rewards(observation="missed-known", rewards={"kind": "gaussian", "sd": 0.5}, means=fixed)
        np.testing.assert_allclose(scores.mean(axis=(0, 1)), MATRIX, atol=0.06)
        assert (scores - MATRIX).std() == pytest.approx(0.5, rel=0.03)

    def test_each_team_action_may_have_its_spread(self):
        sd = np.array(changed(**KINDS["spreads"]).to_dict()["rewards"]["spreads"])
        scores = rewards(**KINDS["spreads"], means={"draw": "fixed", "values": [MATRIX]})
        np.testing.assert_allclose((scores - MATRIX).std(axis=(0, 1)), sd, rtol=0.08)
        episodes = ParticipantPlan(changed(**KINDS["spreads"], swap_labels=True), 3, 0).episodes
        plain, swapped = [plan for plan in episodes if not plan.practice and plan.number == 0][:2]
        np.testing.assert_array_equal(swapped.luck(), plain.luck()[:, ::-1, ::-1])
        assert len(set(plain.luck()[:, 0, 0])) == 1 < len(set(swapped.luck()[:, 0, 0]))

    def test_heavy_tails_reach_further(self):
        fixed = {"draw": "fixed", "values": [MATRIX]}
        scores = rewards(
            observation="missed-known", rewards={"kind": "student-t", "df": 2.0, "scale": 0.5}, means=fixed
        )
        assert np.abs(scores - MATRIX).max() > 5.0

    def test_correlated_scores_share_the_shock_of_the_round(self):
        fixed = {"draw": "fixed", "values": [MATRIX]}
        table = {"kind": "correlated-gaussian", "sd": 1.0, "correlation": 0.9}
        shocks = rewards(observation="missed-known", rewards=table, means=fixed) - MATRIX
        assert np.ptp(shocks, axis=(2, 3)).max() < 1e-12
        z = shocks[:, :, 0, 0]
        assert np.corrcoef(z[:, :-1].ravel(), z[:, 1:].ravel())[0, 1] == pytest.approx(0.9, abs=0.05)

    def test_luck_is_shared_between_conditions_and_swapped_with_the_labels(self):
        design = changed(**KINDS["points"], swap_labels=True, shared_luck=True)
        plan = ParticipantPlan(design, 5, 0)
        first, second = (plan.episode(len(plan) - design.episodes * k) for k in (2, 1))
        assert (first.swapped, second.swapped) == (False, True)
        np.testing.assert_array_equal(first.luck(), second.luck()[:, ::-1, ::-1])

    def test_the_page_gets_scores_and_no_good_or_bad(self):
        episode = rehearse(changed(**KINDS["points"]), "softmax", 1, 0)[-1]
        view = participant_view(episode)
        seen = [played.seen[0] for played in episode.rounds if played.seen[0] is not None]
        assert view["latest"]["good"] is None
        assert view["latest"]["score"] == episode.rounds[-1].seen[0]
        assert (view["score"], view["good"], view["bad"]) == (sum(seen), len(seen), 0)
        assert sum(cell["score"] for cell in view["counts"]) == view["score"]

    def test_agents_know_that_rewards_are_not_binary(self):
        plan = ParticipantPlan(changed(**KINDS["points"]), 1, 0).episode(1)
        assert not plan.ready_agents()[1].briefing.binary


class TestDrift:
    def test_a_walk_begins_at_the_means_and_stays_inside(self):
        plan = ParticipantPlan(changed(**WALK), 3, 0).episode(1)
        path = plan.round_means()
        np.testing.assert_array_equal(path[0], plan.means)
        assert path.min() >= 0.0
        assert path.max() <= 1.0
        assert np.diff(path, axis=0).std() == pytest.approx(0.1, rel=0.2)

    def test_phases_begin_in_their_rounds(self):
        table = {
            "draw": "fixed",
            "values": [MATRIX],
            "drift": "piecewise",
            "changes_at": [11],
            "phases": [MATRIX[::-1]],
        }
        plan = ParticipantPlan(changed(means=table), 3, 0).episode(len(ParticipantPlan(GRID, 3, 0)) - 1)
        shown = np.flip(MATRIX) if plan.swapped else np.array(MATRIX)
        np.testing.assert_array_equal(plan.round_means()[9], shown)
        later = np.flip(MATRIX[::-1]) if plan.swapped else np.array(MATRIX[::-1])
        np.testing.assert_array_equal(plan.round_means()[10], later)
        cost = plan.round_regret(np.zeros((20, 2), dtype=np.int64))
        np.testing.assert_allclose(cost[[9, 10]], [0.9 - shown[0, 0], 0.9 - later[0, 0]])

    def test_nothing_drifts_in_a_warm_start(self):
        warm = {"agent": "naive-ucb", "rounds": 7}
        plan = ParticipantPlan(changed(**WALK, warm_start=warm), 3, 0).episode(1)
        assert plan.luck().shape[0] == 7 + plan.rounds
        np.testing.assert_array_equal(plan.round_means()[0], plan.means)

    def test_means_of_the_study_drift_alike_for_all(self):
        design = changed(means={"drift": "random-walk", "per": "study"})
        paths = [ParticipantPlan(design, seed, 0, "secret").episode(1).round_means() for seed in (1, 2)]
        np.testing.assert_array_equal(paths[0], paths[1])
        assert not np.array_equal(paths[0], ParticipantPlan(design, 1, 0, "other").episode(1).round_means())

    def test_a_round_beyond_the_episode_is_refused(self):
        plan = ParticipantPlan(changed(**WALK), 3, 0).episode(1)
        with pytest.raises(cb.InvalidInput, match="t must be rounds from 1 to"):
            plan.round_regret(np.zeros((1, 2), dtype=np.int64), np.array([plan.rounds + 1]))


@pytest.mark.parametrize("kind", ["points", "walk"])
def test_crowds_play_what_rehearsals_play(kind):
    design = changed(**KINDS[kind])
    crowd = simulate_participants(design, "softmax", 2, seed=1)
    with pytest.raises(cb.InvalidInput, match="one round at a time"):
        simulate_participants(design, "softmax", 2, engine="fast")
    episode = rehearse(design, "softmax", int(crowd.seeds[0]), int(crowd.orders[0]))[-1]
    place = 0, crowd.conditions.index(episode.plan.condition), episode.plan.number
    assert crowd.good[place] == sum(played.reward for played in episode.rounds)
    assert crowd.task_regret[place] == episode.trajectory().task_regret[-1]


class TestMeansByCondition:
    """A condition may have means of its own, here as a factor between subjects: an easy and a hard task."""

    @pytest.fixture
    def design(self):
        easy = {"name": "easy", "agent": "naive-ucb", "means": {"draw": "fixed", "values": [MATRIX]}}
        hard = {"name": "hard", "agent": "naive-ucb", "means": {"low": 0.4, "high": 0.6, "drift": "random-walk"}}
        factors = [{"name": "difficulty", "assignment": "between"}]
        return changed(conditions=[easy, hard], factors=factors, rounds=20, episodes=2, **PLAIN)

    def test_each_episode_has_the_means_of_its_condition(self, design):
        easy, hard = (ParticipantPlan(design, 5, order).episode(1) for order in (0, 1))
        np.testing.assert_array_equal(easy.unswapped_means, MATRIX)
        assert not easy.means_rule.drifts
        assert 0.4 <= hard.round_means().min() < hard.round_means().max() <= 0.6
        assert rehearse(design, "softmax", 5, 0)[0].trajectory().round_regret is None
        practice = ParticipantPlan(changed(**{**design.to_dict(), "practice": PRACTICE}), 5, 0).episode(0)
        assert practice.means_rule == design.means

    def test_it_is_verified_simulated_and_exported(self, design):
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(2)])
        assert verify_study(data) == []
        long = tables(data, practice=False)["long"]
        regret = long["round_regret"][long["condition"] == "hard"]
        assert 0.0 <= regret.min() < regret.max() <= 0.2
        assert set(np.round(long["round_regret"][long["condition"] == "easy"], 9)) <= {k / 10 for k in range(9)}
        crowd = simulate_participants(design, "softmax", 4)
        assert crowd.engine == "reference"
        played = rehearse(design, "softmax", int(crowd.seeds[0]), int(crowd.orders[0]))[0]
        column = crowd.conditions.index(played.plan.condition)
        assert crowd.task_regret[0, column, 0] == played.trajectory().task_regret[-1]

    def test_the_digest_changes_only_with_them(self, design):
        plain = [{"name": entry.name, "agent": entry.agent} for entry in design.conditions]
        assert changed(**{**design.to_dict(), "conditions": plain}).digest != design.digest
        assert "means" not in str(load_design("casino").essence()["conditions"])

    @pytest.mark.parametrize(
        ("means", "words"),
        [
            ({"draw": "fixed", "values": [[[0.5]]]}, r"conditions\.hard\.means\.values must hold matrices of shape"),
            ({"high": 2.0}, r"conditions\.hard\.means\.high must be from 0 to 1"),
            ({"drift": "piecewise", "changes_at": [21]}, "changes_at must be rounds up to 20, got 21"),
        ],
    )
    def test_mistakes_name_the_condition(self, design, means, words):
        data = design.to_dict()
        data["conditions"][1]["means"] = means
        with pytest.raises(cb.InvalidInput, match=words):
            StudyDesign.from_dict(data)

    def test_texts_say_which_means_belong_to_which_condition(self, design):
        plan = preregistration(design, default_plan(design), "osf")
        assert "means drawn uniformly from 0.4 to 0.6 for each participant" in plan
        methods = analyse_data(rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(6)])).methods
        assert "were given by the design in easy, and drawn uniformly from 0.4 to 0.6" in methods
        assert "changed at random (SD = 0.02) in hard" in methods


def by_condition(*own: dict[str, object], **changes: object) -> StudyDesign:
    """Return the grid with keys of their own in its conditions."""
    pairs = zip(GRID.to_dict()["conditions"], own, strict=True)
    return changed(conditions=[condition | keys for condition, keys in pairs], **changes)


class TestRewardsByCondition:
    """Kinds of scores and models of sight as levels of a factor."""

    @pytest.fixture
    def design(self):
        return by_condition(
            {"rewards": {"kind": "points", "highest": 4}},
            {"observation": "noisy", "noise": [0.5, 2.0], "observability": [1.0, 1.0]},
            observation="missed-known",
            rewards={"kind": "gaussian", "sd": 1.0, "decimals": 2},
            means={"low": 0.0, "high": 4.0},
        )

    def test_each_episode_pays_and_shows_as_its_condition_says(self, design):
        points, noisy = (
            next(e for e in rehearse(design, "softmax", 1, 0) if e.plan.condition == condition.name)
            for condition in design.conditions
        )
        assert {played.reward for played in points.rounds} <= set(range(5))
        assert {played.seen[1] for played in points.rounds} > {None}
        assert all(played.reward != round(played.reward) for played in noisy.rounds)
        assert all(played.seen[1] not in (None, played.reward) for played in noisy.rounds)
        assert "score" in participant_view(points)
        assert task_payload(design)["score"] == {"decimals": 2}

    def test_it_is_verified_exported_simulated_and_described(self, design):
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(4)])
        assert verify_study(data) == []
        assert tables(data, practice=False)["long"]["round_regret"].min() >= 0.0
        with pytest.raises(NotCompiled, match="rewards or observation by condition"):
            _prepared(design, [make_behaviour("softmax")])
        crowd = simulate_participants(design, "softmax", 2)
        episode = rehearse(design, "softmax", int(crowd.seeds[0]), int(crowd.orders[0]))[-1]
        place = 0, crowd.conditions.index(episode.plan.condition), episode.plan.number
        assert crowd.good[place] == pytest.approx(sum(played.reward for played in episode.rounds))
        methods = analyse_data(data).methods
        first, second = (condition_label(design, condition.name) for condition in design.conditions)
        assert (
            f"paid from 0 to 4 points in {first}, and a score, normal around its mean (SD = 1) in {second}" in methods
        )
        assert f"In {first}, the participant saw the outcome in" in methods
        assert f"In {second}, each seat saw the score with noise, SD = 0.5 (" in methods
        assert "observation noisy" in preregistration(design, default_plan(design), "osf")

    def test_good_outcomes_may_be_seen_in_different_ways(self):
        design = by_condition({"observation": "flipped"}, {})
        flipped, missed = (
            {
                (played.reward, played.seen[1])
                for episode in rehearse(design, "softmax", 2, 0)
                if episode.plan.condition == condition.name
                for played in episode.rounds
            }
            for condition in design.conditions
        )
        assert (0.0, 1.0) in flipped - missed
        assert (1.0, 0.0) in missed - flipped
        assert verify_study(rehearsed_data(design, [("softmax", 5, 1)])) == []

    @pytest.mark.parametrize(
        ("own", "words"),
        [
            ({"rewards": {"kind": "points"}}, r"conditions\..*\.rewards.kind must be a score where"),
            ({"observation": "noisy"}, "noise of the condition .* must have one number for each seat"),
            ({"observation": "noisy", "noise": [1, 1], "observability": [1, 1]}, "which needs a score"),
            ({"observation": "noisy", "noise": [1, 1]}, "observability of the condition .* must be 1"),
            ({"rewards": {"noise": [1, 1]}}, r"rewards\.noise must be left out: a condition has a key"),
            ({"observation": "seen"}, "observation model"),
        ],
    )
    def test_mistakes_name_the_condition(self, own, words):
        with pytest.raises(cb.InvalidInput, match=words):
            by_condition(own, {})

    def test_a_score_that_is_not_seen_is_not_a_bad_outcome(self):
        with pytest.raises(cb.InvalidInput, match=r"observation of the condition .* must be 'missed-known'"):
            by_condition({"observation": "missed"}, {}, **KINDS["points"])

    def test_means_have_to_fit_the_rewards_of_their_conditions(self):
        with pytest.raises(cb.InvalidInput, match=r"means.high must be from 0 to 4 with rewards.kind = 'points'"):
            by_condition({"rewards": {"kind": "points", "highest": 4}}, {}, **SCORES, rewards=GAUSS, means={"high": 8})


def test_texts_speak_of_scores():
    design = changed(**KINDS["spreads"])
    plan = default_plan(design)
    assert "The total score is" in next(row.text for row in plan.hypotheses if row.id == "H1-good")
    text = preregistration(design, plan, "osf")
    assert "the best mean score minus that of what was chosen" in text
    assert "- H1-good: the total score, " in text
    found = analyse_data(rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(4)]))
    assert "The second measure is the total score." in found.methods
    assert "normal around its mean (SD = 0 to 0.8, given by the design for each combination)" in found.methods
    assert "good outcome" not in found.methods + found.results_text + text


def test_weights_decide_team_regret():
    assert changed(rewards={"weights": [1.0, 0.0]}).problem.team_factor == pytest.approx(GRID.observability[0])
    weighted = simulate_participants(changed(rewards={"weights": [0.25, 0.75]}), "softmax", 2)
    factor = 0.25 * GRID.observability[0] + 0.75 * GRID.observability[1]
    np.testing.assert_allclose(weighted.team_regret, factor * weighted.task_regret)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rewards": {"kind": "coins"}}, "kind of reward"),
        ({"rewards": {"kind": "points"}}, "observation must be 'missed-known' or 'noisy' with rewards.kind = 'points'"),
        ({"rewards": {"sd": 1.0}}, "rewards.sd requires rewards.kind = 'gaussian' or 'correlated-gaussian'"),
        ({"rewards": {"spreads": [[1.0]]}}, "rewards.spreads requires rewards.kind = 'gaussian'"),
        ({**SCORES, "rewards": {"kind": "gaussian", "spreads": [[1.0, 2.0]]}}, "spreads must be a matrix of shape"),
        ({**SCORES, "rewards": {"kind": "gaussian", "spreads": [[-1.0]]}}, "must be a matrix of numbers from 0 to"),
        ({**SCORES, "rewards": {"kind": "gaussian", "spreads": MATRIX, "sd": 1}}, "rewards.sd must be left out where"),
        ({"rewards": {"weights": [1.0]}}, "rewards.weights must have one number for each of the 2 seats, got 1"),
        ({"rewards": {"weights": [0.0, 0.0]}}, "rewards.weights must have a weight above 0"),
        ({"observation": "noisy"}, "rewards.noise and observation = 'noisy' require each other"),
        ({"observation": "noisy", "rewards": {"noise": [0.0, 1.0]}}, "observability must be 1 for every seat"),
        ({"means": {"high": 2.0}}, "means.high must be from 0 to 1 with rewards.kind = 'bernoulli', got 2"),
        ({"means": {"step": 0.1}}, "means.step requires means.drift = 'random-walk'"),
        ({"means": {"drift": "piecewise"}}, "means.changes_at and means.drift = 'piecewise' require each other"),
        ({"means": {"drift": "piecewise", "changes_at": [5, 5]}}, "rounds in ascending order"),
        ({"means": {"drift": "piecewise", "changes_at": [100_000]}}, "means.changes_at must be rounds up to"),
        ({"means": {"phases": [MATRIX]}}, "means.phases must hold 0 matrices, got 1"),
        ({"rewards": {"kind": "student-t", "df": 1.0}, "observation": "missed-known"}, "df is 1"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(changes, words):
    with pytest.raises(cb.InvalidInput, match=words):
        changed(**changes)


def test_scores_need_a_page_that_shows_them():
    with pytest.raises(cb.InvalidInput, match=r"task\.kind must be 'grid' with rewards\.kind = 'points'"):
        replace(load_design("casino"), rewards=changed(**KINDS["points"]).rewards, observation="missed-known")
