"""A stored study in memory: columns that give back the very rounds, times with their zone, and nonsense refused."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import numpy as np
import pytest

import cobandit as cb
from cobandit.studies import (
    Answer,
    EpisodeData,
    EventData,
    ParticipantData,
    ParticipantPlan,
    StudyData,
    check_answers,
    journey,
    load_design,
    moment,
    rehearse,
    rehearsed_data,
    verify_episode,
)
from cobandit.studies.data import moments
from cobandit.studies.design import Question

BURGER = load_design("burger")
KNOWN = replace(BURGER, observation="missed-known")
NOON = datetime(2024, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def person(**changes):
    made = ParticipantData(id="p-1", kind="real", status="active", seed=3, order=0, language="en")
    return replace(made, **changes)


class TestEpisodes:
    @pytest.mark.parametrize("design", [BURGER, KNOWN])
    def test_the_very_rounds_come_back(self, design):
        for episode in rehearse(design, "epsilon-greedy", 8, 0):
            kept = EpisodeData.of_rounds(episode.rounds, head=episode.head)
            assert kept.rounds() == episode.rounds
            assert verify_episode(episode.plan, kept.rounds(), finished=True, head=kept.head) == []

    def test_what_was_not_seen_is_none_again(self):
        rounds = rehearse(KNOWN, "epsilon-greedy", 8, 0)[0].rounds
        assert any(made.seen[1] is None for made in rounds)
        assert np.isnan(EpisodeData.of_rounds(rounds).seen[:, 1]).any()

    def test_tampering_is_still_found(self):
        episode = rehearse(BURGER, "softmax", 3, 1)[0]
        rounds = list(episode.rounds)
        rounds[4] = replace(rounds[4], reward=1.0 - rounds[4].reward)
        rounds[7] = replace(rounds[7], previous="0" * 64)
        found = verify_episode(episode.plan, EpisodeData.of_rounds(rounds).rounds())
        assert {(one.t, one.field) for one in found} == {(5, "reward"), (5, "hash"), (8, "previous"), (8, "hash")}

    def test_from_columns_as_a_database_keeps_them(self):
        episode = rehearse(BURGER, "softmax", 3, 1)[0]
        names = ("t", "arms", "reward", "seen", "predictions", "hash")
        columns = {name: [getattr(made, name) for made in episode.rounds] for name in names}
        columns["answered_at"] = [1_700_000_000_000 + t for t in range(20)]
        columns["reaction_ms"] = [None, *range(1, 20)]
        kept = EpisodeData.of_columns(columns, start=episode.rounds[0].previous)
        assert kept.rounds() == episode.rounds
        assert kept.answered_at[1] == np.datetime64("2023-11-14T22:13:20.001")
        assert np.isnan(kept.reaction_ms[0])
        with pytest.raises(cb.InvalidInput, match="leave out 'previous'"):
            EpisodeData.of_columns(columns)

    def test_no_rounds(self):
        kept = EpisodeData.of_rounds([])
        assert len(kept) == 0
        assert kept.rounds() == ()

    def test_a_hash_is_kept_once(self):
        kept = EpisodeData.of_rounds([replace(r, previous=f"{r.previous}") for r in rehearse(BURGER, seed=1)[0].rounds])
        assert all(kept.previous[i] is kept.hash[i - 1] for i in range(1, len(kept)))

    @pytest.mark.parametrize(
        ("column", "values"),
        [
            ("arms", [(0, 0.5)]),
            ("arms", [(0, "1")]),
            ("arms", [(0, None)]),
            ("arms", [(0, float("nan"))]),
            ("arms", [(False, True)]),
            ("arms", [(0, 2**70)]),
            ("arms", [(0, 1), (0, 1)]),
            ("arms", [0]),
            ("arms", ["01"]),
            ("seen", [(1.0,)]),
            ("seen", [(1.0, "good")]),
            ("predictions", [((None,), (0,))]),
            ("reward", ["good"]),
            ("reward", [[1.0]]),
            ("reward", []),
            ("hash", []),
            ("answered_at", [datetime(2024, 5, 1)]),
            ("answered_at", [10**20]),
            ("answered_at", ["today"]),
            ("reaction_ms", ["fast"]),
            ("arm_0", [0]),
        ],
    )
    def test_nonsense_is_refused(self, column, values):
        made = rehearse(BURGER, seed=1)[0].rounds[0].to_dict()
        with pytest.raises(cb.InvalidInput):
            EpisodeData.of_columns({name: [value] for name, value in made.items()} | {column: values})


class TestTimes:
    def test_zones(self):
        there = NOON.astimezone(timezone(timedelta(hours=-7)))
        assert Answer({}, at=there).at == NOON
        assert Answer({}, at=there).at.tzinfo is UTC  # type: ignore[union-attr]
        assert moments([there, None])[0] == np.datetime64("2024-05-01T12:00:00.123")

    def test_milliseconds(self):
        assert moment(None) is None
        assert moment(-1) == datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC)
        assert moments([moment(1_714_564_800_123)])[0].astype(int) == 1_714_564_800_123
        assert np.isnat(moments([None])).all()
        assert moments([]).dtype == np.dtype("datetime64[ms]")

    @pytest.mark.parametrize("bad", [datetime(2024, 5, 1), "2024-05-01", 3])
    def test_a_time_without_zone_is_refused(self, bad):
        for make in (
            lambda: Answer({}, at=bad),
            lambda: EventData(bad, "hidden"),
            lambda: person(started_at=bad),
            lambda: EpisodeData.of_rounds([], opened_at=bad),
        ):
            with pytest.raises(cb.InvalidInput, match="time zone"):
                make()

    @pytest.mark.parametrize("bad", [True, 1.5, 10**18, "now"])
    def test_no_milliseconds(self, bad):
        with pytest.raises(cb.InvalidInput, match="A time must be"):
            moment(bad)


class TestStudies:
    @pytest.mark.parametrize(
        "changes",
        [
            {"order": 2},
            {"seed": -1},
            {"answers": {"survey-3": Answer({})}},
            {"answers": {"\ud800": Answer({})}},
            {"episodes": {2: EpisodeData.of_rounds([])}},
            {"order": None, "episodes": {0: EpisodeData.of_rounds([])}},
        ],
    )
    def test_what_the_design_does_not_have(self, changes):
        with pytest.raises(cb.InvalidInput):
            StudyData(BURGER, (person(**changes),))

    def test_nobody_is_there_twice(self):
        with pytest.raises(cb.InvalidInput, match="twice"):
            StudyData(BURGER, (person(), person(seed=4)))

    @pytest.mark.parametrize("changes", [{"kind": "robot"}, {"status": "lost"}, {"kind": None}])
    def test_known_words_only(self, changes):
        with pytest.raises(cb.UnknownName):
            person(**changes)

    def test_kinds(self):
        data = StudyData(BURGER, (person(), person(id="d-1", kind="demo"), person(id="p-2")))
        assert data.kinds == ("real", "demo")

    def test_the_plan_has_its_digest(self):
        assert StudyData(BURGER, (), plan="alpha = 0.05").plan_digest == sha256(b"alpha = 0.05").hexdigest()
        assert StudyData(BURGER, (), plan="alpha = 0.05", plan_digest="kept").plan_digest == "kept"
        assert StudyData(BURGER, ()).plan_digest is None

    def test_invited_people_have_no_plan_yet(self):
        invited = person(seed=None, order=None, language=None, status="invited")
        assert StudyData(BURGER, (invited,)).participants[0].plan(BURGER) is None
        assert person().plan(BURGER) == ParticipantPlan(BURGER, 3, 0)


class TestRehearsals:
    people = (("softmax", 1, 0), ("naive-ucb", 2, 1), ("softmax", 3, None))

    @pytest.mark.parametrize("answers", ["neutral", "drawn", lambda rng, plan, place, item: 1 + place])
    def test_answers_are_ones_a_page_could_have_sent(self, answers):
        note = Question(id="note", text="Anything else?", answer="text")
        design = replace(BURGER, demographics=(*BURGER.demographics, note))
        for one in rehearsed_data(design, self.people, answers=answers).participants:
            steps = [step for step in journey(design).steps if step.kind not in ("episode", "thanks")]
            assert list(one.answers) == [step.id for step in steps]
            for step in steps:
                given = one.answers[step.id].values
                assert check_answers(design, step, given) == given

    def test_rounds(self):
        data = rehearsed_data(BURGER, self.people, answers="none")
        assert data.kinds == ("rehearsal",)
        assert [one.order for one in data.participants][:2] == [0, 1]
        assert all(one.answers == {} for one in data.participants)
        for (behaviour, seed, order), one in zip(self.people, data.participants, strict=True):
            for episode in rehearse(BURGER, behaviour, seed, order):
                assert one.episodes[episode.plan.index].rounds() == episode.rounds

    def test_one_seed_one_study(self):
        one, two = (rehearsed_data(BURGER, self.people, answers="drawn") for _ in range(2))
        assert [p.answers for p in one.participants] == [p.answers for p in two.participants]
        assert one.participants[0].answers != one.participants[1].answers

    def test_nonsense(self):
        with pytest.raises(cb.UnknownName):
            rehearsed_data(BURGER, self.people, answers="nice")
        with pytest.raises(cb.InvalidInput, match="from 1 to 5"):
            rehearsed_data(BURGER, self.people, answers=lambda rng, plan, place, item: 6)
