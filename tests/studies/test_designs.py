"""Design files: the two studies have the paper's numbers, and every mistake is named."""

import contextlib
import itertools
import tomllib
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import pytest

import cobandit as cb
from cobandit import InvalidInput
from cobandit.studies import StudyDesign, design_tables, design_text, load_design, parse_design, shipped_designs
from cobandit.studies.journey import task_payload

FIXTURES = Path(__file__).parents[1] / "fixtures"
LAYOUT_1 = FIXTURES / "layout-1"
DIGEST_OF_VERSION_1 = "36c90b0a36a89ca4fa14f355d7dad08de56410d564b50b9806ef4f102236e061"


def edited(of="burger", /, **changes):
    data = tomllib.loads(design_text(of))
    for path, value in changes.items():
        *tables, key = path.split("__")
        at = data
        for table in tables:
            at = at[int(table) if table.isdigit() else table]  # type: ignore[index]
        if value is None:
            del at[key]
        else:
            at[key] = value
    return StudyDesign.from_dict(data)


def agents(design):
    return {condition.name: (condition.agent, condition.options.to_dict()) for condition in design.conditions}


class TestBurger:
    design = load_design("burger")

    def test_conditions(self):
        assert agents(self.design) == {
            "naive-ucb": ("naive-ucb", {"exploration": 0.01}),
            "partner-aware-ucb": ("partner-aware-ucb", {"exploration": 0.01, "repeat": 1, "window": 2}),
        }

    def test_numbers(self):
        design = self.design
        assert design.arms == (2, 2)
        assert (design.observation, design.observability) == ("missed", (1.0, 0.5))
        assert (design.rounds, design.episodes, design.practice) == (20, 1, None)
        assert (design.warm_start.rounds, design.warm_start.agent) == (20, "naive-ucb")  # type: ignore[union-attr]
        assert design.order == "counterbalanced"
        assert design.swap_labels
        assert (design.means.draw, design.means.per, design.means.low, design.means.high) == (
            "uniform", "participant", 0.0, 1.0,
        )  # fmt: skip

    def test_words(self):
        assert self.design.version == 3
        assert [(check.after_set, check.apart) for check in self.design.attention] == [(1, True), (2, True)]
        assert self.design.task.arms == (("Patty first", "Cheese first"), ("Tomato second", "Lettuce second"))
        assert self.design.task.fillings == (("Patty", "Cheese"), ("Tomato", "Lettuce"))
        assert [item.id for item in self.design.demographics] == ["age", "gender", "ai_researcher"]

    @pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
    def test_words_name_the_fillings_of_the_drawing(self, language):
        """What is called patty is drawn as one, in the choices, in the instructions and in the quiz."""
        texts = self.design.texts(language)
        names = [[texts[f"task.fillings.{seat}.{arm}"] for arm in (0, 1)] for seat in (0, 1)]
        for seat, arm in itertools.product((0, 1), repeat=2):
            assert names[seat][arm].lower() in texts[f"task.arms.{seat}.{arm}"].lower()
            assert names[seat][arm].lower() in texts["task.instructions.0"].lower()
        right = self.design.quiz[1]
        assert right.id == "order"
        assert texts["task.arms.0.1"] in texts["quiz.order"]
        assert texts["task.arms.1.1"] in texts["quiz.order"]
        order = [*names[0][1:], *names[1][1:], *names[0][:1], *names[1][:1]]
        assert texts[f"quiz.order.{right.answer}"].lower() == ", ".join(order).lower()


class TestBurgerOfTwoFillings:
    """Version 1, and designs of one's own that were copied from it."""

    old = load_design(LAYOUT_1 / "burger.toml")

    def test_is_what_it_was(self):
        assert (self.old.version, self.old.task.fillings) == (1, ())
        assert self.old.digest == DIGEST_OF_VERSION_1
        assert "fillings" not in self.old.essence()["task"]
        assert not [key for key in self.old.texts() if "fillings" in key]

    def test_may_have_more_arms(self):
        plain = self.old.to_dict() | {"arms": [2, 3], "translations": {}, "name": "mine"}
        plain["task"]["arms"][1].append("Onion")
        assert StudyDesign.from_dict(plain).task.arms[1] == ("Tomato", "Lettuce", "Onion")


class TestCasino:
    design = load_design("casino")

    def test_conditions(self):
        assert agents(self.design) == {
            "naive-ucb": ("naive-ucb", {"exploration": 0.01}),
            "partner-aware-ucb": ("partner-aware-ucb", {"exploration": 0.01, "repeat": 1, "window": 5}),
        }

    def test_numbers(self):
        design = self.design
        assert design.observability == (1.0, 0.4)
        assert (design.rounds, design.episodes, design.warm_start) == (1000, 25, None)
        assert (design.practice.rounds, design.practice.episodes) == (1000, 1)  # type: ignore[union-attr]
        assert design.order == "random"
        assert design.shared_luck
        assert not design.swap_labels
        assert (design.means.draw, design.means.per) == ("uniform", "study")


@pytest.mark.parametrize("name", ["burger", "casino"])
def test_the_five_items(name):
    survey = load_design(name).survey
    assert survey.points == 5
    against = {item.id: item.reversed for item in survey.items}
    assert against == {"ability": False, "insisting": True, "easy": False, "annoying": True, "alone": True}


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("burger-pair-1", "e79eb79ae37638b03ec73d4bb581636be08ec03d3321f17114378870027795f5"),
        ("casino-pair-1", "3e1a0af39dbac73f7c85d63f94a471bb4fdc1717e16cfb40098a79cfdf151637"),
    ],
)
def test_earlier_versions_keep_their_digests(name, digest):
    earlier = load_design(FIXTURES / "designs" / f"{name}.toml")
    assert (earlier.version, earlier.digest) == (1, digest)
    newest = load_design(earlier.name)
    assert newest.version == 2
    # Only words have changed: what is played is the same.
    assert (newest.rounds, newest.seats, newest.conditions) == (earlier.rounds, earlier.seats, earlier.conditions)
    assert [question.answer for question in newest.quiz] == [question.answer for question in earlier.quiz]


def test_shipped_designs():
    names = (
        "burger", "burger-line", "burger-mixed", "burger-pair", "casino", "casino-between", "casino-pair",
        "three-by-three", "three-seats",
    )  # fmt: skip
    assert shipped_designs() == names
    assert load_design("three-by-three").arms == (3, 3)


@pytest.mark.parametrize("name", shipped_designs())
class TestEveryDesign:
    def test_goes_to_plain_data_and_back(self, name):
        design = load_design(name)
        again = StudyDesign.from_dict(design.to_dict())
        assert again == design
        assert hash(again) == hash(design)
        assert again.digest == design.digest

    def test_is_frozen(self, name):
        with pytest.raises(FrozenInstanceError):
            load_design(name).rounds = 3  # type: ignore[misc]

    def test_a_partner_of_another_name_and_look_comes_in_each_part(self, name):
        design = load_design(name)
        if design.group is not None:  # teams of people have no invented partners
            assert not design.partners
            return
        assert len({partner.look for partner in design.partners}) == design.sets
        assert design.sets == (1 if name == "casino-between" else 2)
        assert len({partner.name for partner in design.partners}) == design.sets
        assert all(len(partner.seats) == len(design.agent_seats) for partner in design.partners if partner.seats)

    def test_texts_tell_neither_conditions_nor_answers(self, name):
        design = load_design(name)
        assert not any(c.name in text or c.agent in text for c in design.conditions for text in design.texts().values())
        assert not any("answer" in key for key in design.texts())


class TestDigest:
    def test_depends_on_what_is_meant_and_not_on_how_it_is_written(self):
        assert edited(observability=[1, 0.5]).digest == load_design("burger").digest
        assert parse_design("# a remark\n" + design_text("burger")).digest == load_design("burger").digest

    def test_a_field_at_its_default_may_be_left_out(self):
        assert edited(shared_luck=None, arms=None, survey__points=None).digest == load_design("burger").digest

    def test_changes_with_any_field(self):
        design = load_design("burger")
        others = [replace(design, rounds=21), replace(design, title="x"), edited(conditions__0__options={})]
        assert len({design.digest, *(other.digest for other in others)}) == 4


class TestTranslations:
    def test_what_is_not_translated_stays(self):
        half = edited("three-by-three", translations__de={"task.arms.0.1": "Grün"})
        texts = half.texts("de")
        assert texts["task.arms.0.1"] == "Grün"
        assert texts["task.arms.1.1"] == "Ginger"

    @pytest.mark.parametrize("name", shipped_designs())
    def test_the_shipped_designs_speak_german_throughout(self, name):
        design = load_design(name)
        assert design.languages[:2] == ("en", "de")
        assert set(dict(dict(design.translations.pairs)["de"].pairs)) == set(design.texts())

    def test_unknown_language(self):
        with pytest.raises(cb.UnknownName, match="Known: en, de, fr, es"):
            load_design("three-by-three").texts("it")

    def test_unknown_key(self):
        with pytest.raises(cb.UnknownName, match=r"Did you mean 'survey\.easy'"):
            edited("three-by-three", translations__de={"survey.eazy": "x"})


class TestFiles:
    def test_a_file_of_ones_own(self, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text(design_text("burger").replace('name = "burger"', 'name = "mine"', 1), encoding="utf-8")
        assert load_design(path).name == "mine"
        assert load_design(str(path)).digest != load_design("burger").digest

    def test_unknown_name(self):
        with pytest.raises(cb.UnknownName, match="Did you mean 'burger'"):
            load_design("burgers")

    @pytest.mark.parametrize("path", ["nowhere.toml", "/", 3, "a\0b.toml"])
    def test_no_such_file(self, path):
        with pytest.raises(cb.InvalidInput):
            load_design(path)

    def test_not_text(self, tmp_path):
        (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
        with pytest.raises(cb.InvalidInput, match="not UTF-8"):
            load_design(tmp_path / "x.toml")

    def test_not_toml(self):
        with pytest.raises(cb.InvalidInput, match="not valid TOML"):
            parse_design("rounds = = 3")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"round": 3}, "no key of the design called 'round'. Did you mean 'rounds'"),
        ({"task__goood": "x"}, "no key of task called 'goood'. Did you mean 'good'"),
        ({"conditions__0__option": {}}, r"no key of conditions\[0\] called 'option'. Did you mean 'options'"),
        ({"conditions__1__options": {"windw": 2}}, "no option of partner-aware-ucb called 'windw'. Did you"),
        ({"conditions__0__agent": "naive-ubc"}, "no agent 'naive-ubc'. Did you mean 'naive-ucb'"),
        ({"conditions__0__agent": "centralised-ucb"}, "one brain for the whole team"),
        ({"conditions__0__name": "practice"}, "practice rounds go by this name"),
        ({"conditions__0__name": "partner-aware-ucb"}, "conditions holds 'partner-aware-ucb' twice"),
        ({"conditions": []}, "conditions has 0 parts"),
        ({"limits__idle_second": 3}, "Did you mean 'idle_seconds'"),
        ({"order": "counter-balanced"}, "no order rule 'counter-balanced'. Did you mean 'counterbalanced'"),
        ({"rounds": 0}, "rounds must be an integer from 1"),
        ({"rounds": None}, "the design must have the field 'rounds'"),
        ({"consent__version": None}, "consent must have the field 'version'"),
        ({"observability": [1.0]}, "observability has 1 parts; exactly 2 are needed"),
        ({"observability": [1.0, 1.5]}, r"observability\[1\] must be"),
        ({"arms": [3, 2]}, "every arm needs one label"),
        ({"task": 3}, "task must be a table, got 3"),
        ({"task__kind": "grid"}, "task.fillings requires task.kind = 'burger', but task.kind is 'grid'"),
        ({"task__fillings": [["Patty", "Cheese"]]}, "task.fillings names those of one side; two of the participant"),
        ({"task__fillings": [["Patty", "Cheese", "Egg"], ["Tomato", "Lettuce"]]}, r"fillings\[0\] has 3 parts"),
        ({"task__fillings": [["Patty", "Patty"], ["Tomato", "Lettuce"]]}, r"fillings\[0\] holds 'Patty' twice"),
        ({"arms": [2, 3], "task__arms": [["a", "b"], ["c", "d", "e"]]}, r"order two arms .* arms is \(2, 3\)"),
        ({"task__icons": [["star", "leaf"]] * 2}, "icons of arms require task.kind = 'grid'"),
        ({"task__icons": [["star", "leef"]] * 2}, "no symbol 'leef'. Did you mean 'leaf'"),
        ({"task__icons": [["star", "leaf pink"]] * 2}, "no colour of a symbol 'pink'"),
        ({"task__icons": [["star", "leaf red blue"]] * 2}, r"icons\[0\]\[1\] must be a symbol and at most one colour"),
        ({"task__icons": [["star", "mint.PNG"]] * 2}, "must be the name of a file .* got 'mint.PNG'"),
        ({"task__icons": [["star", "🍋 🍋"]] * 2}, "must be one emoji or the name of a symbol"),
        ({"task__icons": [["star", "\u202e🍋"]] * 2}, "must be one emoji or the name of a symbol"),
        ({"task__icons": [["star", 3]] * 2}, "must be an emoji or the name of a symbol, got 3"),
        ({"task__icons": [["star", "leaf"]]}, "task.icons must be two lists"),
        ({"task__icons": [["star", "leaf", "cup"]] * 2}, "one icon for each of the 2 arms, got 3"),
        ({"swap_labels": "yes"}, "swap_labels must be true or false"),
        ({"means__draw": "fixed"}, "means.values and means.draw"),
        ({"means__low": 0.9, "means__high": 0.1}, "low must not be higher"),
        ({"means": {"draw": "fixed", "values": [[[0.1, 0.2, 0.3]]]}}, r"shape \(2, 2\), got \(1, 3\)"),
        ({"means": {"draw": "fixed", "values": [[[0.1, 1.2], [0.1, 0.1]]]}}, "must hold means from 0 to 1"),
        ({"means": {"draw": "fixed", "values": [[[0.1, 0.2], [0.1, 0.1]]] * 2}}, "one for each of the 1 episodes"),
        ({"quiz__0__answer": 3}, "The answer to 'layers' must be .*got 3"),
        ({"attention__0__answer": 6}, "The answer to 'attention' must be .*got 6"),
        ({"attention__0__id": "easy"}, "has the id of a survey item"),
        ({"demographics__0__answer": "choice"}, "two or more choices"),
        ({"survey__items__1__id": "ability"}, "survey.items holds 'ability' twice"),
        ({"title": " "}, "title must be a text that is not empty"),
        ({"name": "Burger!"}, "name must be"),
        ({"limits__warn_seconds": 9999}, "at most idle_seconds"),
        ({"translations": {"it": {}}}, "no further language 'it'"),
    ],
)  # fmt: skip
def test_every_mistake_is_named(changes, words):
    with pytest.raises(cb.InvalidInput, match=words):
        edited(**changes)


def places(data, path=()):
    yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*path, key))


ODD: list[object] = [
    None, 0, -1, 10**30, 0.5, float("nan"), float("inf"), True, "", "x", "\0", [], [[]], {}, {"x": 1}, [{"x": []}],
]  # fmt: skip

FULLEST = {"burger-mixed", "three-seats"}
"""Designs that have nearly every key between them."""


@pytest.mark.parametrize(
    ("name", "step"),
    [
        *(pytest.param(name, 4, marks=[pytest.mark.long] * (name not in FULLEST)) for name in shipped_designs()),
        pytest.param("three-by-three", 1, marks=pytest.mark.long),
    ],
)
def test_nothing_but_our_own_errors_comes_out(name, step):
    """Every value of a design, replaced by one in ``step`` odd values: a design that works, or one clear sentence."""
    whole: dict[str, object] = {"design": tomllib.loads(design_text(name))}
    for number, path in enumerate(list(places(whole["design"], ("design",)))):
        at: Any = whole
        for key in path[:-1]:
            at = at[key]
        given = at[path[-1]]
        for odd in ODD[number % step :: step]:
            at[path[-1]] = odd
            with contextlib.suppress(cb.InvalidInput):
                design = StudyDesign.from_dict(whole["design"])  # type: ignore[arg-type]
                assert StudyDesign.from_dict(design.to_dict()).digest == design.digest
        at[path[-1]] = given


def test_a_language_model_is_no_ai_that_can_be_computed_again():
    text = {"agent": "language-model", "name": "model"}
    with pytest.raises(InvalidInput, match=r"computed again, got 'language-model'; a language model is a service"):
        design_tables.Condition.read("conditions[0]", text)


class TestIcons:
    def test_emoji_and_symbols(self):
        icons = [["👩‍🍳", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "☕️"], ["leaf", "circle white", "⭐"]]
        design = edited("three-by-three", task__icons=icons)
        assert [list(seat.icons) for seat in design.seating] == icons
        assert task_payload(design)["icons"] == icons

    def test_they_are_part_of_the_design_and_optional(self):
        plain = edited("three-by-three", task__icons=None)
        assert plain.digest != load_design("three-by-three").digest
        assert "icons" not in plain.essence()["task"]
        assert "icons" not in task_payload(plain)

    def test_each_seat_has_its_own(self):
        seats = load_design("three-seats").seats
        assert task_payload(load_design("three-seats"))["icons"] == [list(seat.icons) for seat in seats]
        with pytest.raises(cb.InvalidInput, match="every seat needs them, or none"):
            edited("three-seats", seats__1__icons=None)
        with pytest.raises(cb.InvalidInput, match="must be left out if the design has seats"):
            edited("three-seats", task__icons=[["star", "leaf"]] * 2)
