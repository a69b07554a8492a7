"""Feedback delay, roles, noise and rounds by condition in studies: played as the engine plays them, and described."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import cobandit as cb
from cobandit.agents import make_agent
from cobandit.analysis import analyse_data, default_plan, preregistration
from cobandit.engine.choice import NotCompiled
from cobandit.engine.partner import Partner
from cobandit.report.study.figures.base import StudyFigure
from cobandit.report.study.figures.regret import regret_drawing, regret_over_time
from cobandit.studies import Episode, ParticipantPlan, StudyDesign, load_design, rehearse
from cobandit.studies.behaviours import make_behaviour
from cobandit.studies.crowd import _prepared, simulate_participants
from cobandit.studies.episode import participant_view
from cobandit.studies.export import schema
from cobandit.studies.export.tables import tables
from cobandit.studies.rehearsed_data import rehearsed_data
from cobandit.studies.verify import verify_study

GRID = load_design("three-by-three")
PLAIN = {"partners": [], "languages": ["en"], "translations": {}}
AWARE = {"agent": "partner-aware-ucb", "options": {"window": 2}}


def changed(**changes: object) -> StudyDesign:
    return StudyDesign.from_dict(GRID.to_dict() | changes)


def conditions(*own: dict[str, Any], assignment: str = "within", **changes: object) -> StudyDesign:
    """Return the grid with a condition of the aware agent for each table, called a, b, ..."""
    tables_ = [{"name": "abcd"[i]} | AWARE | table for i, table in enumerate(own)]
    factors = [{"name": "kind", "assignment": assignment}]
    return changed(conditions=tables_, factors=factors, rounds=12, episodes=1, **PLAIN, **changes)


class TestDelay:
    """With a delay of d, everybody learns round t - d after round t, as in `Problem.delay`."""

    @pytest.fixture
    def episode(self):
        warm = {"agent": "very-naive-ucb", "rounds": 5}
        design = conditions({"delay": 3}, assignment="within", warm_start=warm)
        return rehearse(design, "softmax", 3, 0)[0]

    def test_the_ai_chooses_as_with_the_same_delay_in_the_engine(self, episode):
        plan = episode.plan
        ai = Partner.around(plan.ready_agents()[1])
        rounds = [*episode.warm_start, *episode.rounds]
        for place, played in enumerate(rounds):
            assert ai.choose() == played.arms[1]
            late = rounds[place - 3] if place >= 3 else None
            ai.observe(late.arms, late.seen[1], override=True) if late else ai.pass_round()
        assert len(rounds) == 17
        at_once = rehearse(conditions({}, warm_start=plan.design.warm_start.to_dict()), "softmax", 3, 0)[0]
        assert [r.arms for r in at_once.rounds] != [r.arms for r in episode.rounds]

    def test_a_page_shows_a_round_only_when_it_is_known(self, episode):
        again = Episode.open(episode.plan)
        for t, played in enumerate(episode.rounds, start=1):
            again.play(t, played.arms[0])
            view = participant_view(again)
            known = episode.rounds[: t if t == 12 else max(0, t - 3)]
            assert again.known_after(t) == (known[-4:] if t == 12 else known[-1:])
            assert (view["played"], view["delay"]) == (t, 3)
            assert view["good"] + view["bad"] == sum(r.seen[0] is not None for r in known)
            assert (view["latest"] or {"t": 0})["t"] == len(known)
        assert view["good"] == sum(bool(r.seen[0]) for r in episode.rounds)

    def test_it_is_verified_rebuilt_and_simulated(self):
        design = conditions({"delay": 2}, {}, assignment="between")
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(2)])
        assert verify_study(data) == []
        played = rehearse(design, "softmax", 1, 0)[0]
        half = Episode.rebuild(played.plan, played.rounds[:7])
        assert participant_view(half)["latest"]["t"] == 5
        for later in played.rounds[7:]:
            assert half.play(later.t, later.arms[0]) == later
        crowd = simulate_participants(design, "softmax", 2)
        with pytest.raises(NotCompiled, match="feedback delay"):
            _prepared(design, crowd.behaviours)
        same = rehearse(design, "softmax", int(crowd.seeds[0]), int(crowd.orders[0]))[0]
        column = crowd.conditions.index(same.plan.condition)
        assert crowd.task_regret[0, column, 0] == same.trajectory().task_regret[-1]

    def test_texts_tell_of_it(self):
        design = conditions({"delay": 2}, {}, delay=1)
        assert "feedback delay 2 rounds" in preregistration(design, default_plan(design), "osf")
        methods = analyse_data(rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(4)])).methods
        assert "Choices and outcomes of a round were known 2 or 1 rounds later (depending on the condition)." in methods

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"delay": 101}, "delay must be .*100"),
            ({"delay": 1.5}, "delay must be an integer"),
            ({"conditions": [{"name": "a", "agent": "mucb"}], "delay": 1, **PLAIN}, "'mucb'.*needs feedback"),
        ],
    )
    def test_mistakes(self, changes, words):
        with pytest.raises(cb.InvalidInput, match=words):
            changed(**changes)

    def test_other_pages_refuse_it(self):
        with pytest.raises(cb.InvalidInput, match="delay must be 0 unless task"):
            StudyDesign.from_dict(load_design("casino").to_dict() | {"delay": 1})


class TestHiddenChoices:
    """With hidden actions people and AIs learn outcomes alone."""

    HIDDEN: ClassVar[dict[str, Any]] = {"agent": "mucb", "options": {}, "actions": "hidden"}

    def test_a_page_counts_by_own_choice(self):
        episode = rehearse(conditions(self.HIDDEN), "win-stay-lose-shift", 3, 0)[0]
        view = participant_view(episode)
        assert view["hidden"]
        assert view["latest"]["arms"] == [episode.rounds[-1].arms[0], None]
        assert len(view["latest"]["labels"]) == 1
        own = [0, 0, 0]
        for played in episode.rounds:
            own[played.arms[0]] += 1
        assert [(cell["arms"], cell["good"] + cell["bad"]) for cell in view["counts"]] == [
            ([arm, None], count) for arm, count in enumerate(own)
        ]

    def test_it_is_verified_simulated_and_described(self):
        design = conditions(self.HIDDEN, {"agent": "mucb", "options": {}}, assignment="between")
        data = rehearsed_data(design, [("win-stay-lose-shift", seed, seed % 2) for seed in range(4)])
        assert verify_study(data) == []
        assert "never shown in some conditions" in analyse_data(data).methods
        with pytest.raises(NotCompiled, match="hidden choices"):
            _prepared(design, [make_behaviour("win-stay-lose-shift")])
        with pytest.raises(cb.InvalidInput, match="needs the arms of its partners"):
            simulate_participants(design, "softmax", 2)

    def test_agents_that_need_choices_and_other_pages_are_refused(self):
        with pytest.raises(cb.InvalidInput, match="needs the arms of its partners"):
            conditions({"actions": "hidden"})
        with pytest.raises(cb.InvalidInput, match="actions must be 'observed' unless task"):
            StudyDesign.from_dict(load_design("casino").to_dict() | {"actions": "hidden"})


class TestRoundsByCondition:
    """The horizon as a factor: a short and a long condition."""

    @pytest.fixture(params=["within", "between"])
    def design(self, request):
        return conditions({"rounds": 6}, {"rounds": 15}, assignment=request.param)

    def test_each_episode_has_its_own_length(self, design):
        orders = [design.orders.index(order) for order in (design.orders[0], design.orders[-1])]
        plans = [plan for order in orders for plan in ParticipantPlan(design, 1, order).episodes]
        assert {(plan.condition, plan.rounds) for plan in plans if not plan.practice} == {("a", 6), ("b", 15)}
        assert design.most_rounds == 15
        assert sum(design.rounds_in(order) for order in range(len(design.orders))) == (21 if design.sets == 1 else 42)

    def test_it_is_analysed_with_lines_of_two_lengths(self, design):
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(6)])
        assert verify_study(data) == []
        long = tables(data, practice=False)["long"]
        analysis = analyse_data(data)
        regret = long["round_regret"][long["condition"] == "a"].sum()
        assert np.nansum(analysis.measures.totals("task_regret")[:, 0]) == pytest.approx(regret)
        assert not analysis.measures.gaps
        drawing, figure = regret_drawing(analysis), regret_over_time(analysis)[0]
        assert drawing is not None
        assert isinstance(figure, StudyFigure)
        short, full = drawing.lines
        assert (short.rounds[-1], full.rounds[-1]) == (6, 15)
        assert [row[0] for row in figure.rows][-1] == "15"
        assert figure.rows[-1][1] == "\N{EN DASH}"
        assert "6 to 15 rounds" in analysis.methods
        with pytest.raises(NotCompiled, match="rounds by condition"):
            _prepared(design, [make_behaviour("softmax")])

    def test_crowds_play_what_rehearsals_play(self, design):
        crowd = simulate_participants(design, "softmax", 2)
        for episode in rehearse(design, "softmax", int(crowd.seeds[0]), int(crowd.orders[0])):
            if not episode.plan.practice:
                column = crowd.conditions.index(episode.plan.condition)
                assert crowd.task_regret[0, column, 0] == episode.trajectory().task_regret[-1]

    def test_drift_has_to_end_before_the_shortest(self):
        means = {"drift": "piecewise", "changes_at": [7]}
        with pytest.raises(cb.InvalidInput, match="rounds up to 6, got 7"):
            conditions({"rounds": 6}, {"rounds": 15}, means=means)


def test_roles_decide_who_leads():
    design = conditions({"roles": [1, 0]}, {}, assignment="within")
    leads, follows = (design.problem_of(name).known_ranks() for name in "ab")
    assert (leads, follows) == ((1, 0), (0, 1))
    agent = ParticipantPlan(design, 0, 0).episode(len(ParticipantPlan(design, 0, 0)) - 2).ready_agents()[1]
    assert agent.briefing.ranks == (1, 0)
    assert make_agent("partner-aware-ucb").name == agent.name
    assert "ranks 1 and 0" in preregistration(design, default_plan(design), "osf")
    assert changed(roles=[1, 0]).problem.known_ranks() == (1, 0)
    for wrong in ([0, 0], [0, 1, 2], [1, 2], "elected", "nobody"):
        with pytest.raises(cb.InvalidInput, match="roles"):
            changed(roles=wrong)


class TestDrawnRoles:
    """Ranks that are drawn for each episode."""

    def test_each_episode_draws_the_same_in_all_sets(self):
        design = conditions({"roles": "drawn"}, {"roles": "drawn"}, {})
        design = StudyDesign.from_dict(design.to_dict() | {"episodes": 3})
        drawn: dict[str, list[tuple[int, ...]]] = {"a": [], "b": [], "c": []}
        for seed in range(20):
            for plan in ParticipantPlan(design, seed, 0).episodes:
                if not plan.practice:
                    drawn[plan.condition].append(plan.ranks)
                    assert plan.ready_agents()[1].briefing.ranks == plan.ranks
        assert drawn["a"] == drawn["b"]
        assert set(drawn["a"]) == {(0, 1), (1, 0)}
        assert set(drawn["c"]) == {(0, 1)}
        own = StudyDesign.from_dict(design.to_dict() | {"shared_luck": False})
        ranks = [[plan.ranks for plan in ParticipantPlan(own, seed, 0).episodes[-9:]] for seed in range(20)]
        assert any(first[:3] != first[3:6] for first in ranks)

    def test_it_is_verified_exported_simulated_and_described(self):
        design = changed(roles="drawn")
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(4)])
        assert verify_study(data) == []
        long = tables(data)["long"]
        assert set(zip(long["rank_0"].tolist(), long["rank_1"].tolist(), strict=True)) == {(0, 1), (1, 0)}
        assert [column.name for column in schema(design)["long"]] == list(long)
        assert "rank_0" not in tables(rehearsed_data(changed(), [("softmax", 0, 0)]))["long"]
        with pytest.raises(NotCompiled, match="roles that are drawn"):
            _prepared(design, [make_behaviour("softmax")])
        crowd = simulate_participants(design, "softmax", 2)
        episode = rehearse(design, "softmax", int(crowd.seeds[0]), int(crowd.orders[0]))[-1]
        place = 0, crowd.conditions.index(episode.plan.condition), episode.plan.number
        assert crowd.task_regret[place] == episode.trajectory().task_regret[-1]
        assert "Which of them led was drawn for each episode." in analyse_data(data).methods
        plan = default_plan(design)
        assert "Which of them leads is drawn for each episode." in preregistration(design, plan, "osf")


def test_noise_may_vary_between_conditions():
    noisy: dict[str, Any] = {
        "observation": "noisy",
        "observability": [1.0, 1.0],
        "rewards": {"kind": "gaussian", "noise": [0.1, 0.2]},
    }
    design = conditions({"noise": [0.1, 3.0]}, {}, **noisy)
    assert [design.problem_of(name).observation.levels for name in "ab"] == [(0.1, 3.0), (0.1, 0.2)]
    with pytest.raises(cb.InvalidInput, match="noise of the condition 'a' goes with observation = 'noisy'"):
        conditions({"noise": [0.1, 3.0]}, {})
    with pytest.raises(cb.InvalidInput, match="noise of the condition 'a' must have one number"):
        conditions({"noise": [0.1]}, {}, **noisy)


def test_a_condition_may_do_without_the_robot():
    data = load_design("burger").to_dict()
    data["conditions"][0]["robot"] = False
    design = StudyDesign.from_dict(data)
    assert [design.has_robot(entry.name) for entry in design.conditions] == [False, True]
    assert design.has_robot("practice")
    with pytest.raises(cb.InvalidInput, match="robot of the condition 'a' must be left out"):
        conditions({"robot": False}, {})


def test_shipped_designs_keep_their_digests():
    fields = ("delay", "roles", "actions", "noise", "rounds", "robot")
    for name in ("burger", "casino-between"):
        essence = load_design(name).essence()
        assert not any(field in entry for entry in essence["conditions"] for field in fields)
        assert not {"delay", "roles", "actions"} & essence.keys()
