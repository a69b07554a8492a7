"""Episodes: exactly once, in order, the AI's move first, rebuilt from the log, and a view that tells nothing."""

import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.records import fingerprint
from cobandit.studies import (
    AlreadyPlayed,
    BrokenLog,
    Episode,
    EpisodeOver,
    OutOfOrder,
    ParticipantPlan,
    Round,
    load_design,
    parse_design,
    participant_view,
    rehearse,
    verify_episode,
)

BURGER, CASINO, THREE = load_design("burger"), load_design("casino"), load_design("three-by-three")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=40, episodes=1, practice=replace(CASINO.practice, rounds=10))
KNOWN = replace(BURGER, observation="missed-known", observability=(0.7, 0.5))
DESIGNS = {"burger": BURGER, "casino": SHORT, "three": THREE, "known": KNOWN}

TINY = """
name = "tiny"
version = 1
title = "t"
observability = [1.0, 0.5]
rounds = 6
order = "random"
swap_labels = true
[task]
kind = "grid"
participant = "p"
partner = "q"
arms = [["a", "b"], ["c", "d"]]
configuration = "c"
good = "g"
bad = "b"
instructions = ["i"]
[[conditions]]
name = "aware"
agent = "partner-aware-ucb"
options = { window = 2 }
[survey]
[[survey.items]]
id = "easy"
text = "e"
[consent]
version = "1"
text = "c"
"""

GOLDEN_DIGEST = "022a3d7979d6ff6b59670a241f52ae8bf71c472bfe586bd50f2326c72fa64d1e"
GOLDEN_ROUNDS = [(0, 1, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 1), (1, 1, 1, 0), (1, 0, 0, 0)]
GOLDEN_HEAD = "2:cb4f08fc1ee382ea51258535f74a848e3d86c7a7f942ed33d7370863202a9aae"
GOLDEN_HEAD_1 = "361478ca1b57ac5238c4af867305626ae23a93308c7f2284f57e3408f489e08b"


def arms_for(plan, seed=0):
    return np.random.default_rng(seed).integers(plan.design.arms[0], size=plan.rounds).tolist()


def played(plan, arms):
    episode = Episode.open(plan)
    for t, arm in enumerate(arms, start=1):
        episode.play(t, arm)
    return episode


@pytest.fixture(params=[(name, i) for name in DESIGNS for i in range(2)], ids=lambda p: f"{p[0]}-{p[1]}")
def plan(request):
    name, i = request.param
    full = ParticipantPlan(DESIGNS[name], 21, 0)
    return full.episode(len(full) - 2 + i)


class TestPlay:
    def test_rounds_in_order(self):
        episode = Episode.open(ParticipantPlan(BURGER, 1, 0).episode(0))
        assert (episode.played, episode.left, episode.finished) == (0, 20, False)
        assert [episode.play(t, t % 2).t for t in range(1, 21)] == list(range(1, 21))
        assert (episode.played, episode.left, episode.finished) == (20, 0, True)

    def test_an_ai_that_follows_explores_by_a_constant_of_its_own(self):
        def actions(options):
            plan = ParticipantPlan(parse_design(TINY.replace("window = 2", options)), 3, 0).episode(0)
            return [entry.arms for entry in played(plan, [0] * 6).rounds]

        apart = actions("exploration = 2.0, follower_exploration = 0.0")
        assert apart == actions("exploration = 0.0") != actions("exploration = 2.0")

    def test_an_ai_that_leads_may_heed(self):
        text = TINY.replace("[1.0, 0.5]", "[0.5, 1.0]")
        heeding = text.replace("window = 2", "window = 2, exploration = 2.0, heed = true")
        assert played(ParticipantPlan(parse_design(heeding), 3, 0).episode(0), [0] * 6).finished
        with pytest.raises(cb.InvalidInput, match=r"exploration must be above 0\.5 for a heeding leader"):
            parse_design(text.replace("window = 2", "window = 2, exploration = 0.1, heed = true"))

    def test_the_same_move_again_gives_the_same_round(self, plan):
        arms = arms_for(plan)
        straight, stuttering = played(plan, arms), Episode.open(plan)
        for t, arm in enumerate(arms, start=1):
            first = stuttering.play(t, arm)
            assert stuttering.play(t, arm) is first
            assert stuttering.play(1, arms[0]) == straight.rounds[0]
        assert stuttering.rounds == straight.rounds

    def test_refusals_change_nothing(self, plan):
        arms = arms_for(plan)
        straight, pestered = played(plan, arms), Episode.open(plan)
        for t, arm in enumerate(arms, start=1):
            for bad in (-1, plan.design.arms[0], 0.5, "0", None, True):
                with pytest.raises(cb.InvalidInput):
                    pestered.play(t, bad)
            with pytest.raises((OutOfOrder, EpisodeOver)):
                pestered.play(t + 1, arm)
            pestered.play(t, arm)
            with pytest.raises(AlreadyPlayed, match=f"Round {t} was played with arm {arm}"):
                pestered.play(t, (arm + 1) % plan.design.arms[0])
        assert pestered.rounds == straight.rounds

    def test_out_of_order(self):
        episode = Episode.open(ParticipantPlan(BURGER, 1, 0).episode(0))
        with pytest.raises(OutOfOrder, match="round 1 comes next"):
            episode.play(2, 0)
        with pytest.raises(cb.InvalidInput):
            episode.play(0, 0)

    def test_after_the_end(self, plan):
        episode = played(plan, arms_for(plan))
        with pytest.raises(EpisodeOver, match=f"has {plan.rounds} rounds"):
            episode.play(plan.rounds + 1, 0)

    def test_the_ai_decides_before_it_can_know(self, plan):
        arms = arms_for(plan)
        for t in range(0, plan.rounds, 7):
            moves = {played(plan, [*arms[:t], arm]).rounds[-1].arms[1] for arm in range(plan.design.arms[0])}
            assert len(moves) == 1

    def test_rewards_are_the_pre_drawn_ones(self, plan):
        episode = played(plan, arms_for(plan))
        luck = plan.luck()[plan.warm_rounds :]
        assert [r.reward for r in episode.rounds] == [luck[r.t - 1, r.arms[0], r.arms[1]] for r in episode.rounds]

    def test_the_ai_sees_about_half_of_the_good_outcomes(self):
        rounds = [r for seed in range(40) for e in rehearse(BURGER, "naive-ucb", seed) for r in e.rounds]
        good = [r for r in rounds if r.reward]
        assert all(r.seen[0] == r.reward for r in rounds)
        assert all(r.seen[1] == 0 for r in rounds if not r.reward)
        assert 0.45 < sum(r.seen[1] for r in good) / len(good) < 0.55


class TestWarmStart:
    def test_is_played_with_a_naive_partner_and_not_counted(self):
        plan = ParticipantPlan(BURGER, 4, 0).episode(0)
        episode = Episode.open(plan)
        assert [r.t for r in episode.warm_start] == list(range(-19, 1))
        assert episode.rounds == ()
        assert episode.warm_start == Episode.open(plan).warm_start
        assert episode.play(1, 0).previous == episode.warm_start[-1].hash

    def test_the_ai_goes_on_from_it(self):
        episode = Episode.open(ParticipantPlan(BURGER, 4, 1).episode(0))
        assert episode._agents[1].round == 21
        assert episode._agents[1].agent._memory.counts.sum() == 20

    def test_is_the_match_of_two_agents_of_the_library(self):
        plan = ParticipantPlan(replace(BURGER, shared_luck=False), 4, 0).episode(0)
        one, two = plan.ready_warm_partner(), plan.ready_agents()[1]
        luck, eyes = plan.luck(), plan.observers()
        for stored in Episode.open(plan).warm_start:
            action = one.choose(), two.choose()
            reward = float(luck[one.round - 1][action])
            seen = [plan.design.problem.observation.see(1, i, reward, rng) for i, rng in enumerate(eyes)]
            assert (stored.arms[0], stored.arms[1], stored.reward, stored.seen[1]) == (*action, reward, seen[1])
            for agent, saw in ((one, seen[0]), (two, seen[1])):
                agent.observe(action, saw)

    def test_sight_counts_all_rounds_from_one(self, monkeypatch):
        rounds, see = [], cb.Missed.see

        def noted(self, t, agent, reward, rng):
            rounds.append((t, agent))
            return see(self, t, agent, reward, rng)

        monkeypatch.setattr(cb.Missed, "see", noted)
        episode = Episode.open(ParticipantPlan(BURGER, 4, 0).episode(0))
        assert rounds == [(t, agent) for t in range(1, 21) for agent in (0, 1)]
        episode.play(1, 0)
        assert rounds[-2:] == [(21, 0), (21, 1)]

    def test_none_in_the_casino(self):
        assert Episode.open(ParticipantPlan(SHORT, 4, 0).episode(1)).warm_start == ()


class TestRebuild:
    def test_at_every_round_the_future_is_the_same(self, plan):
        arms = arms_for(plan)
        whole = played(plan, arms)
        for t in range(plan.rounds + 1):
            stored = [Round.from_dict(json.loads(json.dumps(r.to_dict()))) for r in whole.rounds[:t]]
            again = Episode.rebuild(plan, stored)
            assert participant_view(again) == participant_view(played(plan, arms[:t]))
            for later in range(t, plan.rounds):
                again.play(later + 1, arms[later])
            assert again.rounds == whole.rounds
            assert again.head == whole.head

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("reward", lambda r: {"reward": 0.5}),
            ("arm_1", lambda r: {"arms": (r.arms[0], 7)}),
            ("hash", lambda r: {"hash": "0" * 64}),
            ("predicted_1_0", lambda r: {"predictions": ((None, None), (5, None))}),
        ],
    )
    def test_a_changed_log_is_refused(self, name, change):
        plan = ParticipantPlan(BURGER, 4, 1).episode(0)
        rounds = list(played(plan, arms_for(plan)).rounds)
        rounds[6] = replace(rounds[6], **change(rounds[6]))
        with pytest.raises(BrokenLog, match=f"Round 7 of episode 0 is stored with {name}"):
            Episode.rebuild(plan, rounds)

    def test_a_log_of_another_number_of_seats_is_refused(self):
        plan = ParticipantPlan(BURGER, 4, 1).episode(0)
        rounds = list(played(plan, arms_for(plan)).rounds)
        rounds[6] = replace(rounds[6], arms=(0, 0, 0))
        with pytest.raises(BrokenLog, match="stored for 3 seats; the design has 2"):
            Episode.rebuild(plan, rounds)

    def test_a_gap_is_refused(self):
        plan = ParticipantPlan(BURGER, 4, 1).episode(0)
        rounds = list(played(plan, arms_for(plan)).rounds)
        with pytest.raises(BrokenLog, match="has round 4 where round 3 belongs"):
            Episode.rebuild(plan, rounds[:2] + rounds[3:])

    def test_the_log_of_another_episode_is_refused(self):
        one, two = ParticipantPlan(BURGER, 4, 1).episode(0), ParticipantPlan(BURGER, 5, 1).episode(0)
        with pytest.raises(BrokenLog):
            Episode.rebuild(two, played(one, arms_for(one)).rounds)


class TestHashes:
    def test_form_a_chain(self, plan):
        episode = played(plan, arms_for(plan))
        before = plan.start(2)
        for r in (*episode.warm_start, *episode.rounds):
            assert r.previous == before
            contents = r.to_dict()
            del contents["hash"]
            assert r.hash == f"2:{fingerprint(contents)}"
            before = r.hash
        assert episode.head == before

    def test_a_stored_study_stays_readable(self):
        """If this changes, studies in the field can no longer be rebuilt: it needs a migration, not a new number."""
        design = parse_design(TINY)
        episode = played(ParticipantPlan(design, 7, 0).episode(0), [0, 1, 1, 0, 0, 1])
        assert design.digest == GOLDEN_DIGEST
        rounds = [(r.arms[1], int(r.reward), int(r.seen[1]), r.predictions[1][0]) for r in episode.rounds]
        assert rounds == GOLDEN_ROUNDS
        assert episode.head == GOLDEN_HEAD

    def test_a_study_of_two_from_before_there_were_seats_goes_on(self):
        """Its hashes are of version 1, and so are all that follow."""
        plan = ParticipantPlan(parse_design(TINY), 7, 0).episode(0)
        old = Episode.open(plan, version=1)
        for t, arm in enumerate([0, 1, 1, 0, 0, 1], start=1):
            old.play(t, arm)
        assert old.head == GOLDEN_HEAD_1
        again = Episode.rebuild(plan, old.rounds[:3])
        for t, arm in enumerate([0, 0, 1], start=4):
            again.play(t, arm)
        assert again.head == GOLDEN_HEAD_1
        opened = Episode.rebuild(plan, [], head=Episode.open(plan, version=1).head)
        assert opened.head == Episode.open(plan, version=1).head
        assert verify_episode(plan, old.rounds, finished=True, head=GOLDEN_HEAD_1) == []
        assert verify_episode(plan, [], head=opened.head) == []


class TestRounds:
    def test_from_plain_data(self):
        episode = played(ParticipantPlan(KNOWN, 4, 1).episode(0), [0] * 20)
        assert any(r.seen[0] is None for r in episode.rounds)
        assert tuple(Round.from_dict(r.to_dict()) for r in episode.rounds) == episode.rounds

    @pytest.mark.parametrize(
        "change",
        [
            {"arm0": 1},
            {"reward": "much"},
            {"reward": float("nan")},
            {"t": 1.5},
            {"arms": None},
            {"arms": [0, None]},
            {"seen": [1.0]},
            {"seen": 1.0},
            {"predictions": [[None, None]]},
            {"predictions": [None, None]},
            {"predictions": [[None, None], [0.5, None]]},
        ],
    )
    def test_wrong_data(self, change):
        good = Episode.open(ParticipantPlan(BURGER, 4, 1).episode(0)).play(1, 0).to_dict()
        with pytest.raises(cb.InvalidInput):
            Round.from_dict(good | change)
        with pytest.raises(cb.InvalidInput, match="must have the field 'seen'"):
            Round.from_dict({key: value for key, value in good.items() if key != "seen"})


def keys_in(value):
    if isinstance(value, dict):
        return set(value) | set().union(*(keys_in(part) for part in value.values()))
    return set().union(*(keys_in(part) for part in value)) if isinstance(value, list) and value else set()


class TestView:
    def test_keys(self, plan):
        assert keys_in(participant_view(played(plan, arms_for(plan)[:5]))) == {
            "practice", "set", "sets", "episode", "episodes", "rounds", "played", "left", "finished",
            "counts", "arms", "labels", "good", "bad", "latest", "t", "outcome",
        }  # fmt: skip

    def test_counts_what_was_played(self, plan):
        episode = played(plan, arms_for(plan))
        view = participant_view(episode)
        for cell in view["counts"]:
            mine = [r.seen[0] for r in episode.rounds if list(r.arms) == cell["arms"]]
            assert (cell["good"], cell["bad"]) == (mine.count(1.0), mine.count(0.0))
        assert view["good"] == sum(r.seen[0] == 1.0 for r in episode.rounds)
        assert view["latest"]["arms"] == list(episode.rounds[-1].arms)
        assert json.loads(json.dumps(view)) == view

    def test_labels_and_outcome(self):
        episode = Episode.open(ParticipantPlan(BURGER, 4, 1).episode(1))
        assert participant_view(episode)["latest"] is None
        assert sum(cell["good"] + cell["bad"] for cell in participant_view(episode)["counts"]) == 0
        made = episode.play(1, 1)
        latest = participant_view(episode)["latest"]
        assert latest["labels"] == ["Cheese first", ["Tomato second", "Lettuce second"][made.arms[1]]]
        assert latest["outcome"] == ("satisfied" if made.reward else "unsatisfied")

    def test_in_another_language(self):
        view = participant_view(Episode.open(ParticipantPlan(THREE, 4, 1).episode(1)), "de")
        assert view["counts"][3]["labels"] == ["Grün", "Minze"]

    def test_practice(self):
        view = participant_view(Episode.open(ParticipantPlan(SHORT, 4, 1).episode(0)))
        assert (view["practice"], view["set"], view["rounds"]) == (True, 0, 10)

    @pytest.mark.parametrize("index", [0, 1])
    def test_tells_nothing_of_means_condition_or_future(self, index):
        """Whoever has the same past sees the same page, whatever lies ahead and whoever the AI is."""
        views = defaultdict(list)
        for seed in range(150):
            for order in range(2):
                episode = Episode.open(ParticipantPlan(BURGER, seed, order).episode(index))
                for t in range(4):
                    past = tuple((r.arms, r.reward) for r in episode.rounds)
                    future = episode._pending, episode._foreseen, episode._luck[20 + t]
                    views[past].append((participant_view(episode), future))
                    episode.play(t + 1, (seed + t) % 2)
        assert len(views[()]) == 300
        assert sum(len(group) > 1 for group in views.values()) > 30
        for group in views.values():
            assert all(view == group[0][0] for view, _ in group)
        assert len({str(future) for _, future in views[()]}) > 10
