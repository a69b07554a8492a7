"""What a model is told: the view of its seat, and nothing that this seat may not know."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cobandit as cb
from cobandit import InvalidInput
from cobandit.remote import prompt
from cobandit.remote.prompt import PromptView, arm_names, messages

PAST = [((0, 1), 1.0), ((0, 1), 0.0), ((1, 0), None)]
VIEW = PromptView.from_rounds(1, (("Patty", "Cheese"), ("Tomato", "Lettuce")), 50, PAST, observation="missed-known")


def test_a_summary() -> None:
    assert messages(VIEW)[1]["content"].splitlines() == [
        "Round 4 of 50. You are player 2.",
        "Options of player 1: Patty, Cheese",
        "Options of player 2 (you): Tomato, Lettuce",
        "",
        "History, for each combination that was played (player 1 first):",
        "- Patty + Lettuce: played 2, rewards seen 2, sum 1, mean 0.500",
        "- Cheese + Tomato: played 1, rewards seen 0",
        "",
        'Which option do you choose? Answer with JSON only, in this form: {"arm": "Tomato"}',
    ]


def test_rounds() -> None:
    lines = messages(VIEW, history="rounds", reasoning=True)[1]["content"].splitlines()
    assert lines[4:8] == [
        "History, the latest 3 rounds (player 1 first):",
        "- round 1: Patty + Lettuce: reward seen 1",
        "- round 2: Patty + Lettuce: reward seen 0",
        "- round 3: Cheese + Tomato: reward not seen",
    ]
    assert lines[-1].endswith('{"reasoning": "...", "arm": "Tomato"}')


def test_only_the_latest_rounds() -> None:
    view = PromptView.from_rounds(0, arm_names((2, 2)), 50, PAST * 5, memory=2)
    assert [t for t, _, _ in view.rounds] == [14, 15]


@pytest.mark.parametrize(
    ("observation", "words"),
    [("missed", "you see 0"), ("flipped", "you see 1"), ("noisy", "random noise"), ("own model", "may differ")],
)
def test_the_rules_name_the_sight(observation: str, words: str) -> None:
    view = PromptView.from_rounds(0, arm_names((2, 2)), 50, [], binary=False, observation=observation)
    rules, question = messages(view)
    assert words in rules["content"]
    assert "a number" in rules["content"]
    assert "no rounds yet" in question["content"]


def test_no_prompt_depends_on_what_others_saw_or_on_the_means() -> None:
    """Two worlds that differ in nothing but that: the prompts of the seat are the same, letter by letter."""
    prompts = []
    for means, others in (([[0.9, 0.1], [0.1, 0.9]], 1.0), ([[0.2, 0.3], [0.4, 0.5]], 0.0)):
        agent = cb.LanguageModelAgent()
        agent.reset(cb.Briefing(0, (2, 2), (0, 1), 20), np.random.default_rng(0))
        partner = cb.Partner("optimal", (2, 2), 1, 20, means=means)
        for t in range(6):
            partner.choose()
            action = (t % 2, t // 3)
            agent.choose()
            agent.observe(action, float(t % 2))
            partner.observe(action, others, override=True)
        prompts.append(json.dumps(messages(agent.view())))
    assert prompts[0] == prompts[1]


def test_names_of_arms_without_names() -> None:
    (names,) = arm_names((30,))
    assert names[:2] + names[25:28] == ("A", "B", "Z", "AA", "AB")
    assert len(set(names)) == 30


def test_a_template_of_ones_own() -> None:
    template = "Player {player}/{players}, {horizon} rounds. {{JSON}} {sight}"
    assert cb.LanguageModelAgent(template=template).template == template
    rules = messages(VIEW, template=template)[0]["content"]
    assert rules == ("Player 2/2, 50 rounds. {JSON} You do not see every reward; the history says which ones you saw.")
    assert prompt.template_digest("") == prompt.template_digest(prompt.TEMPLATE) != prompt.template_digest("{player}")


@pytest.mark.parametrize(
    "template", ["{means}", "{player.__class__}", "{player!r}", "{0}", "{", "{player:>9}", 3, "x" * 20_001]
)
def test_a_template_with_other_places(template: object) -> None:
    with pytest.raises(InvalidInput, match=r"^template must "):
        cb.LanguageModelAgent(template=template)  # type: ignore[arg-type]


def test_the_schema_allows_own_arms_only() -> None:
    schema = prompt.answer_schema(VIEW, reasoning=True)["json_schema"]["schema"]
    assert schema["properties"]["arm"]["enum"] == ["Tomato", "Lettuce"]
    assert schema["required"] == ["reasoning", "arm"]
    assert schema["additionalProperties"] is False
