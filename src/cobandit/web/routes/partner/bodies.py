"""The JSON bodies of the partner service."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from cobandit.base.json_types import JsonObject
from cobandit.engine.partner_game import DefaultReward
from cobandit.problem.observation import ObservationName
from cobandit.web.routes.bodies import LARGEST, Key, StrictBody, storable
from cobandit.web.services.partner.settings import MOST_CELLS, MOST_SEATS, TeamSetting

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._-]+$", examples=["drinks"])]
Event = Annotated[
    str,
    Field(min_length=1, max_length=200, description="The app's own name for a round", examples=["order-17"]),
    AfterValidator(storable),
]
Round = Annotated[int, Field(ge=1, le=LARGEST, description="The number of a round, from 1")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Option = bool | int | Number | Annotated[str, Field(max_length=200), AfterValidator(storable)] | None


class DefaultBody(StrictBody):
    """The reward that counts if none comes: after a number of further rounds, or seconds after the action."""

    reward: Number | None = Field(description="The reward; null: the partner saw nothing (missed-known)")
    rounds: int | None = Field(None, ge=1, le=LARGEST)
    seconds: float | None = Field(None, gt=0, le=1e9, allow_inf_nan=False)


class TeamBody(StrictBody):
    """A team: which agent plays in which seat, and with whom. Every game of the team is made from it."""

    team: Name = Field(description="The name of the team, part of addresses")
    agent: str = Field(max_length=100, description="The registered name of the agent", examples=["partner-aware-ucb"])
    arms: list[Annotated[int, Field(ge=1, le=MOST_CELLS)]] = Field(
        min_length=1, max_length=MOST_SEATS, description="The number of arms of every seat", examples=[[2, 2]]
    )
    seat: int = Field(ge=0, lt=MOST_SEATS, description="The agent's seat, from 0", examples=[1])
    horizon: int = Field(1000, ge=1, le=LARGEST, description="How many rounds the agent plans for")
    options: Annotated[dict[Annotated[str, Field(max_length=100)], Option], Field(max_length=40)] = Field(
        default={}, description="Options of the agent", examples=[{"window": 5}]
    )
    observability: list[Share] | None = Field(
        None, max_length=MOST_SEATS, description="What share of the rewards each seat sees", examples=[[1.0, 0.4]]
    )
    observation: ObservationName = Field("missed", description="What a seat sees of a reward")
    noise: list[Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = Field(
        None, max_length=MOST_SEATS, description="The noise of each seat, under noisy observation"
    )
    roles: Literal["observability", "elected", "random"] | list[Annotated[int, Field(ge=0, lt=MOST_SEATS)]] = Field(
        "observability",
        description="Who leads: the seat that sees most; elected by the agents; drawn for each game; or ranks",
    )
    binary: bool | None = Field(None, description="Whether seen rewards are all 0 or 1")
    shadow: bool = Field(False, description="The app decides; the agent learns and tells what it would have chosen")
    default: DefaultBody | None = Field(None, description="The reward that counts after a deadline")

    def setting(self) -> TeamSetting:
        """Return the setting of the team."""
        return TeamSetting(
            self.agent,
            tuple(self.arms),
            self.seat,
            self.horizon,
            self.options,
            None if self.observability is None else tuple(self.observability),
            self.observation,
            None if self.noise is None else tuple(self.noise),
            tuple(self.roles) if isinstance(self.roles, list) else self.roles,
            self.binary,
            self.shadow,
            None if self.default is None else DefaultReward(**self.default.model_dump()),
        )


class GameBody(StrictBody):
    """A new game, or one that continues from an exported state."""

    game: Name = Field(description="The name of the game, part of addresses")
    seed: int | None = Field(None, ge=0, le=2**63 - 1, description="Random seed; left out: a new one")
    state: JsonObject | None = Field(None, description="An exported game, or `Partner.state()` of the library")

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.seed is not None and self.state is not None:
            raise ValueError("seed and state exclude each other")
        return self


class ChooseBody(StrictBody):
    """Which round: by number, by event, or the current one."""

    round: Round | None = None
    event: Event | None = None
    after: int | None = Field(
        None, ge=0, le=LARGEST, description="The newest round that the client has seen end; the current one is later"
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.after is not None and (self.round is not None or self.event is not None):
            raise ValueError("after cannot be combined with round or event")
        return self


class ObserveBody(StrictBody):
    """Feedback on a round: the team action, the reward that the partner's seat saw, or both."""

    round: Round | None = None
    event: Event | None = None
    action: list[int] | None = Field(None, max_length=MOST_SEATS, description="The arms of all seats")
    reward: Number | None = Field(None, description="Left out: it comes later; null: nothing was seen")
    override: bool = Field(False, description="A person has overruled the partner's choice")
    key: Key | None = Field(
        None, description="The name of this request, 8 to 64 letters, digits and dashes: a retry has the same"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.round is None and self.event is None:
            raise ValueError("round or event is needed")
        if self.action is None and "reward" not in self.model_fields_set:
            raise ValueError("action or reward is needed")
        return self


class ChoiceView(BaseModel):
    """The partner's arm in a round, and the arms of other seats that it foresaw."""

    round: int = Field(description="The number of the round, from 1")
    arm: int = Field(description="The partner's arm, from 0")
    predictions: dict[str, int] | None = Field(None, description="The arms of other seats that it foresaw, by seat")
    event: str | None = Field(None, description="The app's own name for the round")
    shadow: bool = Field(False, description="The app decides: it is what the partner would have chosen")


class ObservedView(BaseModel):
    """What became of feedback; ``complete``: action and reward of the round are known."""

    round: int = Field(description="The round that was reported")
    duplicate: bool = Field(description="The report was stored before, and nothing has changed")
    complete: bool = Field(description="Action and reward of the round are known")
    next: ChoiceView = Field(description="The choice of the newest round")


class TeamView(BaseModel):
    """A team as it was created."""

    team: str
    created_at: int
    agent: str
    arms: list[int]
    seat: int
    horizon: int
    options: JsonObject
    observability: list[float] | None
    observation: str
    noise: list[float] | None
    roles: str | list[int]
    binary: bool | None
    shadow: bool
    default: JsonObject | None


class TeamsView(BaseModel):
    """Teams by name."""

    teams: list[TeamView]


class GameView(BaseModel):
    """Where a game is; ``open`` are earlier rounds that wait for feedback, ``ranks`` are 0 for the leader."""

    team: str
    game: str
    seed: str = Field(description="The random seed, as text: it may be too large for a number of JavaScript")
    created_at: int
    imported: bool = Field(description="The game began from a state")
    ranks: list[int] = Field(description="The rank of each seat as given, drawn or elected so far; 0 leads")
    open: list[int] = Field(description="Earlier rounds that wait for their action or reward")
    next: ChoiceView = Field(description="The choice of the newest round")


class ListedGame(BaseModel):
    """A game in a list."""

    game: str
    created_at: int


class GamesView(BaseModel):
    """Games by name."""

    games: list[ListedGame]


class RoundView(BaseModel):
    """A round of the history; without ``reward`` while it waits for one; ``default``: the default counts."""

    round: int
    arm: int | None = Field(description="The partner's choice")
    action: list[int] | None = Field(description="What all seats played; null: it was not reported yet")
    predictions: dict[str, int] = Field({}, description="The arms of other seats that the partner foresaw, by seat")
    reward: float | None = Field(None, description="Left out: the round waits for it; null: nothing was seen")
    event: str | None = Field(None, description="The app's own name for the round")
    at: int | None = Field(None, description="When the action was reported")
    reward_at: int | None = Field(None, description="When the reward was reported")
    default: bool = Field(False, description="The default reward counts, because none came in time")


class HistoryView(BaseModel):
    """Rounds in order; ``more``: there are further ones."""

    rounds: list[RoundView]
    more: bool = Field(description="There are further rounds: ask again with after")
    next: ChoiceView = Field(description="The choice of the newest round")


class StateView(BaseModel):
    """An exported game."""

    team: JsonObject = Field(description="The setting of the team")
    state: JsonObject = Field(description="The game: memory of the agent, open rounds, random generator")
