"""What services of a design will cost, whether they answer, and what recorded calls did cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cobandit.base.errors import CobanditError
from cobandit.remote.chat import Style, estimated_tokens
from cobandit.remote.prompt import messages
from cobandit.remote.usage import token_cost
from cobandit.studies.design import StudyDesign
from cobandit.studies.episode import Episode
from cobandit.studies.group_checks import players_of, service_options
from cobandit.studies.plan import ParticipantPlan
from cobandit.studies.rehearse import rehearse
from cobandit.studies.seats import NoMove, SeatView, make_player, seat_view
from cobandit.studies.service_tables import SECRET, LanguageModelService

ANSWER_TOKENS, REASONING_TOKENS = 10, 200
"""About how many tokens an answer has, without reasoning and with it."""


@dataclass(frozen=True)
class ServiceUse:
    """One service seat in one condition: ``calls`` is how many moves each participant's or team's episodes need."""

    condition: str
    seat: int
    name: str
    options: dict[str, Any]
    calls: int

    @property
    def kind(self) -> str:
        """The kind of service."""
        return str(self.options["kind"])


@dataclass(frozen=True)
class ServiceTrial:
    """The result of one trial request to a service."""

    use: ServiceUse
    arm: str | None
    outcome: str
    milliseconds: int = 0


@dataclass
class RecordedUse:
    """Sums over records of moves: calls with all attempts, tokens, and how the moves ended."""

    moves: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def cost(self) -> float | None:
        """The price of the tokens, where COBANDIT_LLM_PRICES gives prices."""
        return token_cost(self.input_tokens, self.output_tokens)

    def add(self, other: RecordedUse) -> None:
        """Add the sums of other records."""
        self.moves += other.moves
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.outcomes += other.outcomes

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as plain data, with the price."""
        sums = {key: getattr(self, key) for key in ("calls", "input_tokens", "output_tokens", "cost")}
        return {"moves": self.moves} | sums | {"outcomes": dict(self.outcomes)}


def services_of(design: StudyDesign) -> list[ServiceUse]:
    """Return every service seat of every condition."""
    return [
        ServiceUse(
            condition.name,
            seat,
            design.seating[seat].name,
            service_options(design, condition.name, seat),
            design.episodes * design.rounds_of(condition.name),
        )
        for condition in design.conditions
        for seat, player in enumerate(players_of(design, condition.name))
        if player == "service" and not condition.alone
    ]


def policies_of(design: StudyDesign) -> set[tuple[str, str]]:
    """Return the address and the name of the secret of every policy behind HTTP that a design asks."""
    policies = set()
    for condition in design.conditions:
        for seat, player in enumerate(players_of(design, condition.name)):
            options = service_options(design, condition.name, seat) if player == "service" else {}
            if options.get("kind") == "http":
                policies.add((str(options["url"]), str(options.get("secret", SECRET))))
    return policies


def estimated_use(design: StudyDesign, use: ServiceUse) -> tuple[int, int] | None:
    """Return about how many input and output tokens a language model needs for one participant or team.

    The prompts are those of a rehearsal, in which the takeover agent plays the seat. None: no language model.
    """
    if use.kind != "language-model":
        return None
    from cobandit.studies.services import prompt_view

    table = LanguageModelService.read("service", {key: value for key, value in use.options.items() if key != "kind"})
    style = Style(table.history, table.template or "", table.reasoning)
    order = next(i for i, names in enumerate(design.orders) if names[0] == use.condition)
    episodes = [own for own in rehearse(design, "softmax", 0, order) if own.plan.condition == use.condition]
    if not episodes:
        return None
    last = prompt_view(seat_view(episodes[0], use.seat), table.memory)
    said = messages(last, history=style.history, template=style.template, reasoning=style.reasoning)
    return use.calls * estimated_tokens(said), use.calls * (REASONING_TOKENS if table.reasoning else ANSWER_TOKENS)


def try_service(design: StudyDesign, use: ServiceUse, seconds: float = 30.0) -> ServiceTrial:
    """Ask a service for the first move of its condition, as a server would, and return the result."""
    try:
        view = _first_view(design, use)
        move = make_player(use.options).choose(view, seconds)
    except NoMove as error:
        return ServiceTrial(use, None, str(error), int(error.record.get("milliseconds", 0)))
    except CobanditError as error:  # no endpoint, no secret
        return ServiceTrial(use, None, str(error))
    return ServiceTrial(use, view.arms[use.seat][move.arm], "answer", int(move.record.get("milliseconds", 0)))


def _first_view(design: StudyDesign, use: ServiceUse) -> SeatView:
    order = next(i for i, names in enumerate(design.orders) if names[0] == use.condition)
    plan = ParticipantPlan(design, 0, order)
    plans = [plan.episode(index) for index in range(len(plan))]
    return seat_view(Episode.open(next(own for own in plans if own.condition == use.condition)), use.seat)


def recorded_use(records: Iterable[Mapping[str, Any]]) -> RecordedUse:
    """Return the sums over the records of service moves, those of takeovers included."""
    used = RecordedUse()
    for record in records:
        used.moves += 1
        used.calls += len(record.get("attempts", ()))
        used.input_tokens += int(record.get("input_tokens", 0))
        used.output_tokens += int(record.get("output_tokens", 0))
        used.outcomes[str(record.get("outcome", "unknown"))] += 1
    return used
