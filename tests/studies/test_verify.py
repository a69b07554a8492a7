"""Verification: an honest log has no difference, and whatever is changed shows."""

from dataclasses import replace

import pytest

import cobandit as cb
from cobandit.studies import ParticipantPlan, load_design, rehearse, verify_episode, verify_participant

BURGER = load_design("burger")
EPISODES = rehearse(BURGER, "knowledge-gradient", seed=3, order=1)
AWARE = EPISODES[0]


def resealed(rounds):
    """A forger who knows the code: every hash made to fit."""
    made, before = [], rounds[0].previous
    for r in rounds:
        made.append(replace(r, previous=before).sealed())
        before = made[-1].hash
    return made


def changed(t, **change):
    rounds = list(AWARE.rounds)
    rounds[t - 1] = replace(rounds[t - 1], **change)
    return rounds


def another_arm(t, seat):
    """The arms of a round with another one in a seat."""
    return tuple(1 - arm if i == seat else arm for i, arm in enumerate(AWARE.rounds[t - 1].arms))


def found_in(rounds, **options):
    return [(d.t, d.field) for d in verify_episode(AWARE.plan, rounds, **options)]


def test_honest_logs_have_no_difference():
    for episode in EPISODES:
        assert verify_episode(episode.plan, episode.rounds, finished=True, head=episode.head) == []


@pytest.mark.parametrize("design", ["three-by-three", "burger"])
@pytest.mark.parametrize("seed", range(3))
def test_whole_participants(design, seed):
    study = load_design(design)
    episodes = rehearse(study, "softmax", seed, order=0)
    plan = ParticipantPlan(study, seed, 0)
    logs = {episode.plan.index: episode.rounds for episode in episodes}
    assert verify_participant(plan, logs, finished=True) == []
    assert [(d.episode, d.t, d.field) for d in verify_participant(plan, {0: logs[0]}, finished=True)] == [(1, 1, "t")]
    assert verify_participant(plan, {0: logs[0]}) == []
    with pytest.raises(cb.InvalidInput, match="episode 2"):
        verify_participant(plan, {2: ()})


class TestChanges:
    def test_reward(self):
        flipped = 1.0 - AWARE.rounds[4].reward
        (reward, own) = verify_episode(AWARE.plan, changed(5, reward=flipped))
        assert (reward.episode, reward.t, reward.field, reward.stored) == (0, 5, "reward", flipped)
        assert reward.recomputed == 1.0 - flipped
        assert own.field == "hash"
        assert str(reward).startswith(f"episode 0, round 5: reward is stored as {flipped}, recomputed")

    def test_reward_with_forged_hashes(self):
        rounds = resealed(changed(5, reward=1.0 - AWARE.rounds[4].reward))
        assert found_in(rounds) == [(5, "reward")]

    def test_ai_arm(self):
        assert found_in(changed(5, arms=another_arm(5, 1))) == [(5, "arm_1"), (5, "hash")]

    def test_what_the_ai_saw_or_foresaw(self):
        assert (5, "seen_1") in found_in(resealed(changed(5, seen=(AWARE.rounds[4].seen[0], 0.5))))
        assert (5, "predicted_1_0") in found_in(resealed(changed(5, predictions=((None, None), (None, None)))))

    @pytest.mark.parametrize("t", [1, 9, 20])
    def test_participants_arm(self, t):
        found = found_in(changed(t, arms=another_arm(t, 0)))
        assert (t, "hash") in found
        assert min(at for at, _ in found) == t

    def test_participants_arm_with_forged_hashes_shows_against_the_kept_head(self):
        rounds = resealed(changed(20, arms=another_arm(20, 0)))
        assert (20, "head") in found_in(rounds, head=AWARE.head)

    def test_impossible_arm(self):
        assert found_in(changed(5, arms=(9, AWARE.rounds[4].arms[1]))) == [(5, "arm_0"), (5, "hash")]

    def test_another_number_of_seats(self):
        assert found_in(changed(5, arms=(0, 0, 0)))[0] == (5, "seats")

    def test_hash(self):
        assert found_in(changed(5, hash="0" * 64)) == [(5, "hash"), (6, "previous")]

    def test_link(self):
        assert found_in(changed(5, previous="0" * 64)) == [(5, "previous"), (5, "hash")]

    def test_removed_round(self):
        rounds = AWARE.rounds[:4] + AWARE.rounds[5:]
        assert found_in(rounds) == [(6, "t"), (6, "previous")]

    def test_removed_at_the_end(self):
        assert found_in(AWARE.rounds[:18]) == []
        assert found_in(AWARE.rounds[:18], finished=True) == [(19, "t")]
        assert found_in(AWARE.rounds[:18], head=AWARE.head) == [(18, "head")]

    def test_doubled_round(self):
        rounds = (*AWARE.rounds[:5], *AWARE.rounds[4:])
        assert (5, "t") in found_in(rounds)

    def test_rounds_of_another_participant(self):
        other = rehearse(BURGER, "knowledge-gradient", seed=4, order=1)[0]
        assert (1, "previous") in found_in(other.rounds)

    def test_wrong_seed(self):
        plan = ParticipantPlan(BURGER, 99, 1).episode(0)
        assert verify_episode(plan, AWARE.rounds)
