"""Episodes with several recorded seats: several people, services, and agents that take over."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import cobandit as cb
from cobandit.studies import (
    AlreadyPlayed,
    Choice,
    Episode,
    EpisodeData,
    OutOfOrder,
    ParticipantPlan,
    Round,
    TeamPlace,
    count_moves,
    journey,
    participant_view,
    rehearse,
    rehearse_team,
    rehearsed_data,
    simulate_participants,
    tables,
    task_payload,
    verify_episode,
    verify_study,
)
from cobandit.studies.journey import partner_payload, seat_texts, steps_skipped
from cobandit.studies.seats import seat_view
from tests.team_designs import service_design, team_design

PAIR = team_design()


def plan_of(design=PAIR, seat=0, condition="human", roster="ab"):
    order = next(i for i, names in enumerate(design.orders) if names[0] == condition)
    return ParticipantPlan(design, 5, order, team=TeamPlace(7, seat, roster)).episode(0)


def played(plan, moves):
    episode = Episode.open(plan)
    for t, choices in enumerate(moves, start=1):
        episode.play(t, choices)
    return episode


def both(first, second, by="person"):
    return {0: Choice(first), 1: Choice(second, by)}


class TestDesigns:
    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"group": None}, "the design has 2; add .group."),
            ({"warm_start": {"agent": "naive-ucb", "rounds": 3}}, "warm_start must be left out"),
            ({"partners": [{"name": "A", "look": "teal"}, {"name": "B", "look": "rose"}]}, "partners|names 0 seats"),
            ({"group": {"short_pay": "1.00"}}, "needs the currency"),
            ({"group": {"when_short": "wait"}}, "ending of a wait"),
        ],
    )
    def test_every_mistake_is_named(self, changes, message):
        with pytest.raises(cb.CobanditError, match=message):
            team_design(**changes)

    def test_a_group_needs_two_people(self):
        with pytest.raises(cb.InvalidInput, match=r"the design has 1; leave .group. out"):
            service_design(group={})

    def test_conditions_keep_people_in_their_seats(self):
        data = service_design().to_dict()
        data["conditions"][1]["players"] = ["agent", "participant"]
        with pytest.raises(cb.InvalidInput, match="must be theirs in all conditions"):
            type(PAIR).from_dict(data)

    def test_a_service_needs_a_kind_and_a_limit(self):
        data = service_design().to_dict()
        data["seats"][1]["service"] = {}
        with pytest.raises(cb.InvalidInput, match="has no kind"):
            type(PAIR).from_dict(data)
        data["seats"][1] |= {"service": {"kind": "echo"}, "timeout_seconds": 0}
        with pytest.raises(cb.InvalidInput, match="a service needs a limit"):
            type(PAIR).from_dict(data)

    def test_designs_of_old_keep_their_digests(self):
        # Noted before designs had groups; a digest that changes would cut every stored study off its design.
        known = {"burger": 3, "casino": 3, "three-seats": 1}
        for name in known:
            design = cb.studies.load_design(name)
            assert "group" not in design.essence()
            assert all(set(c) <= {"name", "agent", "options"} for c in design.essence()["conditions"])

    def test_text_keys_of_a_group_can_be_translated(self):
        design = team_design(languages=["en", "de"], translations={"de": {"group.people": "eine andere Person"}})
        assert design.texts("de")["group.people"] == "eine andere Person"


class TestPlans:
    def test_luck_and_sight_are_the_teams(self):
        first, second = plan_of(seat=0), plan_of(seat=1)
        assert np.array_equal(first.luck(), second.luck())
        assert np.array_equal(first.means, second.means)

    def test_the_order_of_survey_items_is_the_persons(self):
        survey = PAIR.survey.to_dict() | {"shuffled": True}
        design = team_design(survey=survey)
        plans = [ParticipantPlan(design, seed, 0, team=TeamPlace(7, 0)) for seed in range(20)]
        assert len({plan.survey_order(0) for plan in plans}) > 1

    def test_who_plays_where(self):
        assert plan_of().players == ("participant", "participant")
        assert plan_of(condition="naive-ucb").players == ("participant", "agent")
        assert plan_of(condition="naive-ucb", seat=1).players == ("agent", "participant")

    def test_versions_of_hashes(self):
        assert plan_of().version == 3
        assert plan_of(condition="naive-ucb").version == 2

    def test_members_who_play_alone_have_chains_of_their_own(self):
        starts = {plan_of(condition="naive-ucb", seat=seat).start(2) for seat in (0, 1)}
        assert len(starts) == 2

    def test_the_roster_is_in_the_chain(self):
        assert plan_of(roster="a").start(3) != plan_of(roster="b").start(3)


class TestEpisodes:
    def test_a_round_keeps_who_chose(self):
        episode = played(plan_of(), [both(0, 1), both(1, 1)])
        assert episode.rounds[0].arms == (0, 1)
        assert episode.rounds[0].by == ("person", "person")
        assert episode.head.startswith("3:")
        assert Round.from_dict(episode.rounds[1].to_dict()) == episode.rounds[1]

    def test_the_hash_covers_who_chose_and_the_evidence(self):
        own = played(plan_of(), [both(0, 1)]).rounds[0]
        for change in ({"by": ("person", "takeover")}, {"evidence": (None, "ff")}):
            assert dataclasses.replace(own, **change).own_hash(3) != own.hash

    def test_the_same_moves_again_and_others_too_late(self):
        episode = played(plan_of(), [both(0, 1)])
        assert episode.play(1, both(0, 1)) is episode.rounds[0]
        with pytest.raises(AlreadyPlayed):
            episode.play(1, both(1, 1))
        with pytest.raises(OutOfOrder):
            episode.play(3, both(1, 1))

    @pytest.mark.parametrize(
        "moves", [0, {0: Choice(0)}, both(0, 2), both(0, 1, "agent"), {0: Choice(0), 2: Choice(0)}]
    )
    def test_wrong_moves_change_nothing(self, moves):
        episode = Episode.open(plan_of())
        with pytest.raises(cb.InvalidInput):
            episode.play(1, moves)
        assert episode.played == 0

    def test_one_recorded_seat_is_played_as_before(self):
        one, two = (Episode.open(plan_of(condition="naive-ucb")) for _ in range(2))
        assert one.play(1, 1) == two.play(1, {0: Choice(1)})
        assert one.head.startswith("2:")

    def test_each_person_is_shown_what_their_seat_saw(self):
        design = team_design(rounds=60)
        episode = played(plan_of(design), [both(0, 0)] * 60)
        views = [participant_view(episode, seat=seat) for seat in (0, 1)]
        good = [sum(bool(r.seen[seat]) for r in episode.rounds) for seat in (0, 1)]
        assert [view["good"] for view in views] == good
        assert good[1] < good[0]

    def test_rebuilding_gives_the_same_episode(self):
        episode = Episode.open(plan_of())
        episode.play(1, both(0, 1))
        episode.play(2, {0: Choice(1), 1: Choice(episode.takeover(1), "takeover")})
        again = Episode.rebuild(episode.plan, episode.rounds)
        assert (again.head, again.takeover(1)) == (episode.head, episode.takeover(1))


class TestTakeovers:
    def test_moves_do_not_depend_on_when_it_took_over(self):
        early, late = Episode.open(plan_of()), Episode.open(plan_of())
        early.takeover(1)
        for t, arms in enumerate([(0, 1), (1, 0), (0, 0)], start=1):
            early.play(t, both(*arms))
            late.play(t, both(*arms))
        assert early.takeover(1) == late.takeover(1)

    def test_another_arm_is_refused(self):
        episode = Episode.open(plan_of())
        arm = episode.takeover(1)
        with pytest.raises(cb.InvalidInput, match=f"plays arm {arm} in round 1"):
            episode.play(1, {0: Choice(0), 1: Choice(1 - arm, "takeover")})
        assert episode.played == 0

    def test_its_moves_are_recomputed(self):
        episode = Episode.open(plan_of())
        episode.play(1, {0: Choice(0), 1: Choice(episode.takeover(1), "takeover")})
        stored = episode.rounds[0]
        forged = dataclasses.replace(stored, arms=(0, 1 - stored.arms[1])).sealed(3)
        assert verify_episode(episode.plan, [stored]) == []
        assert {d.field for d in verify_episode(episode.plan, [forged])} >= {"arm_1"}

    def test_the_agent_of_the_seat_comes_before_that_of_the_condition(self):
        data = PAIR.to_dict()
        data["seats"][1]["takeover"] = {"agent": "naive-ucb"}
        design = type(PAIR).from_dict(data)
        assert plan_of(design).ready_takeover(1).name == "naive-ucb"
        assert plan_of().ready_takeover(1).name == "partner-aware-ucb"


class TestServices:
    def test_a_service_is_recorded_with_its_evidence(self):
        plan = ParticipantPlan(service_design(), 5, 0).episode(0)
        assert plan.players == ("participant", "service")
        episode = Episode.open(plan)
        episode.play(1, {0: Choice(1), 1: Choice(0, "service", "ab12")})
        assert episode.rounds[0].evidence == (None, "ab12")
        assert verify_episode(plan, episode.rounds) == []

    def test_its_view_holds_what_its_seat_saw(self):
        episode = Episode.open(ParticipantPlan(service_design(), 5, 0).episode(0))
        for t in range(1, 4):
            episode.play(t, {0: Choice(1), 1: Choice(0, "service", "ab")})
        view = seat_view(episode, 1)
        assert (view.t, view.rounds) == (4, 4)
        assert [(r.arms, r.seen) for r in view.history] == [(r.arms, r.seen[1]) for r in episode.rounds]


class TestWays:
    def test_the_lobby_comes_before_the_first_episode(self):
        kinds = [step.kind for step in journey(PAIR).steps]
        assert kinds.index("lobby") < kinds.index("episode")
        assert kinds.count("partner") == 2

    def test_who_left_goes_on_to_the_survey(self):
        done = {"consent", "instructions", "lobby"} | steps_skipped(PAIR, 0)
        assert journey(PAIR).current(done).id == "survey-1"
        assert journey(PAIR).current(done | {"survey-1"}).kind == "thanks"

    def test_the_page_tells_people_from_ais(self):
        plan = ParticipantPlan(PAIR, 5, 0, team=TeamPlace(7, 1))
        partners = [partner_payload(plan, journey(PAIR).find(f"partner-{i}")) for i in (1, 2)]
        names = [partner and partner["name"] for partner in partners]
        assert names == ["another participant", "an AI"]
        assert task_payload(PAIR, seat=1)["seat"] == 1
        assert seat_texts(PAIR, 1) == {"task.participant": "Seat 1", "task.partner": "Seat 0"}


class TestData:
    people = (("softmax", 1, 0), ("epsilon-greedy", 2, 0), ("softmax", 3, 1), ("softmax", 4, 1))

    def test_members_share_what_they_played_together(self):
        first, second = rehearse_team(PAIR, ["softmax", "epsilon-greedy"], 3, 0)
        assert first[0] is second[0]
        assert first[1].plan.players == ("participant", "agent")
        assert second[1].plan.players == ("agent", "participant")
        assert [e.head for e in rehearse(PAIR, "softmax", 3, 0)] == [
            e.head for e in rehearse_team(PAIR, ["softmax"] * 2, 3, 0)[0]
        ]

    def test_a_rehearsed_study_verifies_and_counts_its_moves(self):
        data = rehearsed_data(PAIR, self.people)
        assert verify_study(data) == []
        # Two teams: 4 rounds of two people together; alone, each of two people and the AI chose four times.
        assert str(count_moves(data)) == "16 moves recomputed, 32 recorded"

    def test_left_over_people_are_refused(self):
        with pytest.raises(cb.InvalidInput, match="1 simulated people are left over; teams of 2"):
            rehearsed_data(PAIR, self.people[:3])

    def test_the_export_says_who_chose(self):
        made = tables(rehearsed_data(PAIR, self.people))
        long, wide = made["long"], made["wide"]
        assert set(long["by_0"]) == {"person", "agent"}
        assert long["takeover_1"].sum() == 0
        assert set(long["team"]) == {"t-0001", "t-0002"}
        assert wide["seat"].tolist() == [0, 1, 0, 1]
        assert wide["lobby"].tolist() == ["team"] * 4

    def test_columns_keep_who_chose(self):
        episode = played(plan_of(), [both(0, 1), both(1, 1)])
        data = EpisodeData.of_rounds(episode.rounds, head=episode.head)
        assert data.rounds() == episode.rounds

    def test_a_forged_move_is_found(self):
        data = rehearsed_data(PAIR, self.people[:2])
        person = data.participants[0]
        log = person.episodes[0]
        arms = log.arms.copy()
        arms[1, 1] = 1 - arms[1, 1]
        changed = dataclasses.replace(person, episodes={**person.episodes, 0: dataclasses.replace(log, arms=arms)})
        forged = dataclasses.replace(data, participants=(changed, data.participants[1]))
        assert {name for name, _ in verify_study(forged)} == {person.id}

    def test_crowds_are_simulated_by_the_compiled_engine(self):
        crowd = simulate_participants(PAIR, "softmax", 2, engine="fast")
        assert crowd.engine == "fast"
