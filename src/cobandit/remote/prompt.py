"""The prompt of a language model: the view of one seat, as chat messages and a JSON schema of the answer.

A view contains what its seat may know: the rules, the rewards that the seat saw, and all past arms. It has no field for
true means, for rewards that others saw or for arms of the current round, so a prompt cannot leak them.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.base.records import fingerprint

HISTORIES = ("summary", "rounds")
"""How the prompt describes past rounds: totals of every combination, or one line for each round."""

TEMPLATE = (
    "You are player {player} of {players} in a game of {horizon} rounds. In every round each player chooses one "
    "option, all at the same time; the players cannot talk. The combination of the chosen options decides the "
    "reward of the whole team. {reward} {sight} After each round everybody learns what the others chose.\n"
    "Your goal is the highest total reward of the team over all rounds. Try combinations that you know little about "
    "early on, and rely on the best ones later. Your partners learn, too, and react to what you choose."
)
"""The rules in the prompt; the ``template`` of a seat or an agent replaces them."""

PLACES = ("player", "players", "horizon", "reward", "sight")
"""The placeholders of a template."""

_SIGHT = {
    "missed": "You do not see every reward: where you miss it, you see 0.",
    "missed-known": "You do not see every reward; the history says which ones you saw.",
    "flipped": "What you see is not always right: where you miss the reward, you see 1.",
    "noisy": "What you see is the reward plus random noise.",
}
_REMINDER = "That answer could not be read. Answer with nothing but JSON in this form: {form}"

Action = tuple[int, ...]


@dataclass(frozen=True)
class Cell:
    """What a seat knows of one combination: how often it was played, how many rewards it saw, and their sum."""

    action: Action
    played: int
    seen: int
    total: float


@dataclass(frozen=True)
class PromptView:
    """What one seat may know at the start of a round; ``names`` holds the names of each seat's arms."""

    seat: int
    names: tuple[tuple[str, ...], ...]
    horizon: int
    round: int
    binary: bool = True
    observation: str = "missed"
    cells: tuple[Cell, ...] = ()
    rounds: tuple[tuple[int, Action, float | None], ...] = ()
    instructions: tuple[str, ...] = ()

    @classmethod
    def from_rounds(
        cls,
        seat: int,
        names: Sequence[Sequence[str]],
        horizon: int,
        rounds: Sequence[tuple[Action, float | None]],
        *,
        binary: bool = True,
        observation: str = "missed",
        memory: int = 50,
        instructions: Sequence[str] = (),
    ) -> PromptView:
        """Return the view after some rounds, each of them all arms and the own seen reward."""
        totals: dict[Action, list[float]] = {}
        for action, seen in rounds:
            row = totals.setdefault(tuple(action), [0, 0, 0.0])
            row[0] += 1
            if seen is not None:
                row[1] += 1
                row[2] += seen
        cells = tuple(Cell(action, int(n), int(k), total) for action, (n, k, total) in sorted(totals.items()))
        numbered = [(t, tuple(action), seen) for t, (action, seen) in enumerate(rounds, start=1)]
        lists, t, latest = tuple(tuple(own) for own in names), len(rounds) + 1, tuple(numbered[-memory:])
        return cls(seat, lists, horizon, t, binary, observation, cells, latest, tuple(instructions))

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of the own arms."""
        return self.names[self.seat]


def arm_names(arms: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Return names for arms that have none: A to Z, then AA, AB and so on."""
    return tuple(tuple(_letters(arm) for arm in range(size)) for size in arms)


def _letters(arm: int) -> str:
    rest, last = divmod(arm, 26)
    return (_letters(rest - 1) if rest else "") + string.ascii_uppercase[last]


def checked_template(name: str, value: object) -> str:
    """Check a template: a text with known placeholders only."""
    if not isinstance(value, str) or not value.strip() or len(value) > 20_000:
        raise InvalidInput(f"{name} must be a text of at most 20,000 characters, got {short_repr(value)}.")
    try:
        parsed = list(string.Formatter().parse(value))
        _filled(value, dict.fromkeys(PLACES, ""))
    except (ValueError, KeyError, IndexError, AttributeError) as error:
        raise InvalidInput(
            f"{name} must be a text with no other placeholders than {', '.join(f'{{{p}}}' for p in PLACES)}, "
            f"got {short_repr(value)} ({error}); write {{{{ and }}}} for braces."
        ) from None
    for _, field, form, conversion in parsed:
        if field is not None and (field not in PLACES or form or conversion):
            raise InvalidInput(f"{name} must hold plain placeholders such as {{player}}, got {{{field}}}.")
    return value


def _filled(template: str, values: dict[str, str]) -> str:
    return string.Formatter().vformat(template, (), values)


def template_digest(template: str) -> str:
    """Return the SHA-256 of the template that plays."""
    return fingerprint(template or TEMPLATE)


def answer_form(view: PromptView, reasoning: bool) -> str:
    """Return an example of the answer that is asked for."""
    example = f'"{view.own_names[0]}"'
    return f'{{"reasoning": "...", "arm": {example}}}' if reasoning else f'{{"arm": {example}}}'


def answer_schema(view: PromptView, reasoning: bool) -> JsonObject:
    """Return the ``response_format`` of a request: a JSON schema that allows the own arms only."""
    properties: JsonObject = {"reasoning": {"type": "string"}} if reasoning else {}
    properties["arm"] = {"type": "string", "enum": list(view.own_names)}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "choice", "strict": True, "schema": schema}}


def messages(
    view: PromptView, *, history: str = "summary", template: str = "", reasoning: bool = False
) -> list[dict[str, str]]:
    """Return the chat messages of a round: the rules, then the state of the game and the question."""
    rules = _filled(
        template or TEMPLATE,
        {
            "player": str(view.seat + 1),
            "players": str(len(view.names)),
            "horizon": str(view.horizon),
            "reward": "The reward of a round is 0 or 1." if view.binary else "The reward of a round is a number.",
            "sight": _SIGHT.get(view.observation, "What you see may differ from the reward."),
        },
    )
    if view.instructions:
        rules = "\n".join([rules, "", "The instructions for people in this game:", *view.instructions])
    lines = [f"Round {view.round} of {view.horizon}. You are player {view.seat + 1}."]
    for seat, names in enumerate(view.names):
        lines.append(f"Options of player {seat + 1}{' (you)' if seat == view.seat else ''}: {', '.join(names)}")
    lines += ["", *(_summary(view) if history == "summary" else _past_rounds(view)), ""]
    if reasoning:
        lines.append("Think about it in a few sentences, then choose.")
    lines.append(f"Which option do you choose? Answer with JSON only, in this form: {answer_form(view, reasoning)}")
    return [{"role": "system", "content": rules}, {"role": "user", "content": "\n".join(lines)}]


def reminder(view: PromptView, reasoning: bool) -> str:
    """Return the message to a model after an answer that could not be parsed."""
    return _REMINDER.format(form=answer_form(view, reasoning))


def _combination(view: PromptView, action: Action) -> str:
    return " + ".join(names[arm] for names, arm in zip(view.names, action, strict=True))


def _summary(view: PromptView) -> list[str]:
    if not view.cells:
        return ["History: no rounds yet."]
    lines = ["History, for each combination that was played (player 1 first):"]
    for cell in view.cells:
        line = f"- {_combination(view, cell.action)}: played {cell.played}, rewards seen {cell.seen}"
        if cell.seen:
            line += f", sum {cell.total:.10g}, mean {cell.total / cell.seen:.3f}"
        lines.append(line)
    return lines


def _past_rounds(view: PromptView) -> list[str]:
    if not view.rounds:
        return ["History: no rounds yet."]
    lines = [f"History, the latest {len(view.rounds)} rounds (player 1 first):"]
    for t, action, seen in view.rounds:
        reward = "reward not seen" if seen is None else f"reward seen {seen:.10g}"
        lines.append(f"- round {t}: {_combination(view, action)}: {reward}")
    return lines
