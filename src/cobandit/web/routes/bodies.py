"""The JSON bodies of requests and responses."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from cobandit.base.json_types import JsonObject
from cobandit.web.services.admission import MOST_PEOPLE
from cobandit.web.services.links import MOST_LINKS
from cobandit.web.services.messages import LONGEST_MESSAGE
from cobandit.web.services.page_events import EVENT_KINDS
from cobandit.web.services.participants import MOST_MOVES

LARGEST = 2**31 - 1
MOST_ERRORS = 20


def storable(text: str) -> str:
    """JSON can carry what no database takes as text: NUL, and halves of surrogate pairs."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("control characters and broken letters cannot be stored")
    return text


Short = Annotated[str, Field(max_length=200), AfterValidator(storable)]
Key = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9-]+$", examples=["0b0c1f6e-5d0b-4a52"])]
Milliseconds = Annotated[int | None, Field(ge=0, le=LARGEST, description="How long it took, in milliseconds")]
Language = Annotated[Short | None, Query(description="The language of texts; one the study does not have: its first")]
Number = Annotated[int, Query(ge=0, le=LARGEST)]

Version = Annotated[int | None, Query(ge=1, le=LARGEST, description="The version of the study; left out: the newest")]


class StrictPart(BaseModel):
    """A part of a body that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True)


class StrictBody(StrictPart):
    """A body that refuses unknown keys."""

    @model_validator(mode="wrap")
    @classmethod
    def _few_errors(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Replace many errors by one: a body of thousands of wrong keys would take 100 times its size in memory."""
        try:
            return handler(data)
        except ValidationError as error:
            if (count := error.error_count()) > MOST_ERRORS:
                raise PydanticCustomError("too_many", "The body has {count} errors", {"count": count}) from None
            raise


class ErrorBody(BaseModel):
    """What went wrong: a code for programs, a sentence for people, and for 409 where the participant really is."""

    error: str
    message: str
    state: JsonObject | None = None


# Participants


class ArrivalBody(StrictBody):
    """A visitor agrees to take part."""

    key: Key
    consent_version: Short
    language: Short | None = None
    demo: bool = False
    rehearsal: bool = Field(False, description="A simulated participant; only with the researcher's login")
    recruiting: Annotated[dict[Short, Short], Field(max_length=40)] = {}


class ArrivedBody(BaseModel):
    """The personal link."""

    token: str
    url: str


class AnswersBody(StrictBody):
    """The answers to one step."""

    answers: dict[Short, Any]
    ms: Milliseconds = None
    key: Key | None = None


class AcceptedBody(BaseModel):
    """Whether the answers were taken; for a quiz, which ones are wrong."""

    accepted: bool
    wrong: list[str]
    state: JsonObject


class MoveBody(StrictPart):
    """The choice for one round."""

    t: Annotated[int, Field(ge=1, le=LARGEST)]
    arm: Annotated[int, Field(ge=0, le=LARGEST)]
    key: Key
    ms: Milliseconds = None


class MovesPart(StrictPart):
    """Choices for rounds that follow each other, read in half the time: errors are to be found by `MovesBody`."""

    episode: Annotated[int, Field(ge=0, le=LARGEST)]
    moves: Annotated[list[MoveBody], Field(min_length=1, max_length=MOST_MOVES)]


class MovesBody(StrictBody, MovesPart):
    """Choices for rounds that follow each other."""


class RoundBody(BaseModel):
    """One round as the participant may see it; ``good`` is empty where nothing was seen.

    Where feedback is delayed, the arms of others are empty, and ``known`` has the rounds that the choice reveals.
    """

    t: int
    arms: list[int | None]
    good: bool | None
    score: float | None = Field(None, description="What was seen, where the rewards of the study are scores")
    known: list[RoundBody] | None = Field(None, description="Earlier rounds that are known now, with delayed feedback")
    recording: str | None = Field(None, description="Where the robot's recording is, if the server has a simulated one")


class MessageView(BaseModel):
    """A message of the researcher that the participant has not dismissed."""

    key: str
    text: str


class MessagesView(BaseModel):
    """All messages that the participant has not dismissed, the oldest first."""

    messages: list[MessageView]


class MessageNoteBody(StrictBody):
    """A message is on the page; ``dismissed``: the participant has closed it, so it is never shown again."""

    dismissed: bool = False


class RoundsBody(BaseModel):
    """The rounds that were asked for, stored."""

    episode: int
    rounds: list[RoundBody]
    played: int
    left: int
    finished: bool
    waiting: bool | None = Field(None, description="Whether others in the team have still to move")
    messages: list[MessageView] | None = Field(None, description="Messages of the researcher, where there are any")


class LobbyBody(StrictBody):
    """A heartbeat from the lobby; ``ready`` is true when the participant has confirmed to be at the screen."""

    here: Literal[True] = True
    ready: bool = False


class LobbyView(BaseModel):
    """The lobby as the page shows it; empty with the state, once the wait is over."""

    lobby: JsonObject | None
    state: JsonObject | None


class TeamView(RoundsBody):
    """The rounds that were sealed since, and the team as the participant may see it."""

    team: JsonObject


class RobotBody(BaseModel):
    """The robot as the participant may see it; empty where the server has none."""

    robot: JsonObject | None


class PlacedBody(StrictBody):
    """Something that a robot waits for was set down."""

    request: Annotated[int, Field(ge=1, le=LARGEST, description="The number of the request")]


class BurgerBody(StrictBody):
    """One burger, so that a late press does not act on the next one."""

    burger: Short


class EventBody(StrictBody):
    """Something that happened at the page."""

    kind: Literal[*EVENT_KINDS]  # type: ignore[valid-type]
    at: Annotated[int, Field(ge=0, le=2**53, description="Milliseconds since 1970 by the clock of the page")]
    data: dict[Short, Any] = {}
    key: Key | None = None


class EventsBody(StrictBody):
    """Things that happened at the page."""

    events: Annotated[list[EventBody], Field(min_length=1, max_length=50)]


# The researcher


class PasswordBody(StrictBody):
    """A password; without a name it is the owner's. A one-time or recovery code, where the account has them."""

    password: Annotated[str, Field(max_length=1000)]
    name: Annotated[str, Field(max_length=100)] = ""
    code: Annotated[str, Field(max_length=100)] = ""


class LoginBody(BaseModel):
    """A bearer for programs; it ends by itself, in milliseconds since 1970."""

    token: str
    expires_at: int


class DoneBody(BaseModel):
    """It was done."""

    done: Literal[True] = True


class StateBody(StrictBody):
    """Who may begin from now on; ``quota`` is how many people, with the state of that name."""

    state: Literal["open", "invite-only", "quota", "closed"]
    quota: Annotated[int, Field(ge=1, le=MOST_PEOPLE)] | None = None


class AvailabilityBody(BaseModel):
    """Whether the open link takes people at the moment."""

    code: str = Field(description="open, invite-only, full, closed or not-ready (the consent is a placeholder)")
    word: str = Field(description="What pages and commands call it")
    reason: str | None = Field(description="Why people are refused; empty where the study is open")
    taken: int | None = Field(description="How many places are taken, if the study has a quota")


class StudyStatusBody(BaseModel):
    """What the researcher has set (``state``), and what the open link does (``availability``; ``open``: it works)."""

    study: int
    open: bool
    state: str
    quota: int | None = None
    availability: AvailabilityBody


MessageText = Annotated[str, Field(min_length=1, max_length=LONGEST_MESSAGE), AfterValidator(storable)]


class ReleaseBody(StrictBody):
    """A message to the people who leave the team."""

    message: MessageText | None = None


class ReplaceBody(ReleaseBody):
    """The member whom an AI replaces."""

    participant: Short


class RemovalBody(StrictBody):
    """Why a participant is left out; the analysis and its report print the reason."""

    reason: MessageText


class MessageBody(StrictBody):
    """A message to one participant or one team; without both, to all participants of a kind who are at work.

    A request that is repeated with the same ``key`` reaches each of them once.
    """

    text: MessageText
    participant: Short | None = None
    team: Short | None = None
    kind: Literal["real", "rehearsal", "demo"] = "real"
    key: Key | None = None


class SentBody(BaseModel):
    """How many people get the message."""

    people: int


class InvitationBody(StrictBody):
    """How many people to invite; ``labels`` are the researcher's own names for them, one each.

    Labels that exist already are refused, unless ``repeat`` allows another link for them.
    """

    count: Annotated[int, Field(ge=1, le=MOST_LINKS)] | None = None
    labels: Annotated[list[Short], Field(min_length=1, max_length=MOST_LINKS)] | None = None
    kind: Literal["real", "rehearsal"] = "real"
    repeat: bool = False


class LinkBody(BaseModel):
    """One person's link."""

    participant: str
    label: str | None
    url: str
    kind: str
    status: str


class DeletedBody(BaseModel):
    """What is gone for good."""

    participant: str
    deleted: dict[str, int]


class PaymentBody(BaseModel):
    """A participant who has finished, was screened out, or has withdrawn and has a completion code."""

    participant: str | None = Field(description="The pseudonym; empty after a withdrawal, like label and IDs")
    label: str | None
    recruiter: str | None
    external_id: str | None
    finished_at: int
    outcome: str = Field(description="finished, screened-out, failed-attention, no-team or withdrew")
    code: str
    minutes: float | None
    attention_passed: bool | None
    successes: int = Field(description="Successes of the team in rounds that count")
    currency: str | None = Field(None, description="From here on empty, where the design has no rules of payment")
    fixed: str | None = None
    bonus: str | None = None
    total: str | None = None


class NewDraftBody(StrictBody):
    """A new draft: from a template, a stored study, or a TOML text; with a name, it begins as version 1."""

    name: Short | None = None
    template: Short | None = None
    study: Annotated[int, Field(ge=1, le=LARGEST)] | None = None
    text: str | None = None


class SaveDraftBody(StrictBody):
    """The text of a draft, and the revision that it builds on."""

    text: str
    revision: Annotated[int, Field(ge=1, le=LARGEST)]


class EditBody(StrictBody):
    """One change of a form, at a path such as ``["quiz", 0, "text"]``."""

    op: Literal["set", "remove", "insert", "move"]
    path: Annotated[list[Short | Annotated[int, Field(ge=0, le=LARGEST)]], Field(min_length=1, max_length=16)]
    value: Any = None
    to: Annotated[int, Field(ge=0, le=LARGEST)] = 0


class EditsBody(StrictBody):
    """A text and the edits to apply; without edits the text is only checked."""

    text: str
    edits: Annotated[list[EditBody], Field(max_length=1000)] = []


class DifferencesBody(StrictBody):
    """A text, and the revision or published version to compare it with."""

    text: str
    revision: Annotated[int, Field(ge=1, le=LARGEST)] | None = None
    version: Annotated[int, Field(ge=1, le=LARGEST)] | None = None


class PublishBody(StrictBody):
    """The revision to publish, and the version to publish it as; left out: the next one."""

    revision: Annotated[int, Field(ge=1, le=LARGEST)]
    version: Annotated[int, Field(ge=1, le=LARGEST)] | None = None


class PreviewBody(StrictBody):
    """A text, and the page to draw: a step of the journey, in a language of the design."""

    text: str
    step: Short = "consent"
    language: Short | None = None
