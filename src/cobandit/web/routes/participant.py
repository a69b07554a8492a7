"""What participants use: two pages, and the interface behind them."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies.page_texts import PAGE_LANGUAGE, page_languages, page_texts
from cobandit.web import pages
from cobandit.web.access import is_admin
from cobandit.web.refusals import Refused, not_found
from cobandit.web.root_path import root_of
from cobandit.web.routes.bodies import (
    AcceptedBody,
    AnswersBody,
    ArrivalBody,
    ArrivedBody,
    EventsBody,
    Language,
    LobbyBody,
    LobbyView,
    MessageNoteBody,
    MessagesView,
    MovesBody,
    Number,
    PlacedBody,
    RobotBody,
    RoundsBody,
    Short,
    TeamView,
    Version,
    storable,
)
from cobandit.web.routes.moves import PATH, STREAM_PATH, TOKEN
from cobandit.web.routes.state import of_app
from cobandit.web.security import Throttle
from cobandit.web.services.admission import refused
from cobandit.web.services.arrivals import Arrival
from cobandit.web.services.participants import Given, Participants
from cobandit.web.services.people import UNKNOWN_LINK
from cobandit.web.services.recruiting import recruit, unfilled
from cobandit.web.storage.events import Event
from cobandit.web.storage.studies import Study
from cobandit.web.storage.values import now_ms

router = APIRouter()

_STUDY = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_ARRIVALS = Throttle(600)  # a whole class may sit behind one address


# These are coroutines because they are short: plain functions would use a thread, twice for every round.


async def _token(token: str) -> str:
    if not TOKEN.fullmatch(token):
        raise not_found(UNKNOWN_LINK)
    return token


async def _study(study: str) -> str:
    if len(study) > 200 or not _STUDY.fullmatch(study):
        raise not_found("There is no study of this name here.")
    return study


Service = Annotated[Participants, of_app("participants")]
Token = Annotated[str, Depends(_token)]
MessageKey = Annotated[str, Path(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9-]+$")]
StudyName = Annotated[str, Depends(_study)]


@router.get("/s/{study}", response_class=HTMLResponse, include_in_schema=False)
async def open_link(request: Request, study: StudyName, service: Service) -> Response:
    """Return the link that a study is spread by."""
    shown = await service.study(study)
    language = pages.page_language(request, shown.design.languages)
    demo = request.query_params.get("demo") == "1"
    request.state.design = shown.design
    if not demo:
        if (reason := await service.turned_away(shown)) is not None:
            raise refused(reason)
        await _refuse_unfilled(request, service, shown)
    title = shown.design.texts(language)["title"]
    return pages.page(
        request,
        "study.html",
        title=title,
        language=language,
        messages=page_texts(language, shown.design),
        mode="open",
        study=shown.name,
        version=shown.design.version,
        token="",
        identity="" if shown.design.recruiter is None else shown.design.recruiter.id,
        demo=demo,
        warm_up=None,  # a visitor who has not agreed may never see the arm
    )


@router.get("/p/{token}", response_class=HTMLResponse, include_in_schema=False)
async def personal_link(request: Request, token: Token, service: Service) -> Response:
    """Return the link of one participant, from consent to code."""
    state = await service.state(token, request.query_params.get("language"), pages.spoken_languages(request))
    study = await service.study(state["study"], state["version"])
    return pages.page(
        request,
        "study.html",
        title=state["title"],
        language=state["language"],
        messages=page_texts(state["language"], study.design),
        mode="participant",
        study=study.name,
        version=study.design.version,
        token=token,
        demo=state["kind"] == "demo",
        warm_up=request.app.state.robot.warm_up() if state["task"].get("burgers") else None,
    )


@router.get("/api/health", tags=["server"])
async def health(request: Request, service: Service) -> dict[str, str]:
    """Return whether the server is ready: it reads its database, and has just written to it."""
    await service.studies()
    await request.app.state.health.require()
    return {"status": "ok"}


@router.get("/api/health/live", tags=["server"])
async def alive() -> dict[str, str]:
    """Return whether the server answers; it does not check the database, because a restart would not repair it."""
    return {"status": "ok"}


@router.get("/api/messages/{language}", tags=["server"])
async def messages(service: Service, language: str, study: Short | None = None, version: Version = None) -> JsonObject:
    """Return every text of the pages; English, where the language is unknown. With a study, as its design words
    them.
    """
    design = None if study is None else (await service.study(await _study(study), version)).design
    known = (*page_languages(), *(() if design is None else design.languages))
    spoken = language if language in known else PAGE_LANGUAGE
    return {"language": spoken, "messages": page_texts(spoken, design)}


@router.get("/api/studies/{study}", tags=["participant"])
async def describe(request: Request, study: StudyName, service: Service, language: Language = None) -> JsonObject:
    """Title, consent and languages; with the parameters of a recruiting link, also whether these are filled in."""
    shown = await service.study(study)
    if request.query_params.get("demo") != "1":
        await _refuse_unfilled(request, service, shown)
    return await service.describe(shown, language)


async def _refuse_unfilled(request: Request, service: Participants, study: Study) -> None:
    """Refuse the link before anybody reads the consent; the limit of arrivals also limits what is stored of it."""
    if unfilled(request.query_params, study.design) is not None:
        noted = _ARRIVALS.allows(request.client.host if request.client else "")
        await service.refuse_unfilled(study, request.query_params, note=noted)


@router.post(
    "/api/studies/{study}/participants",
    tags=["participant"],
    status_code=201,
    response_model=ArrivedBody,
    responses={200: {"model": ArrivedBody, "description": "The same key or recruiting id came before"}},
)
async def arrive(request: Request, study: StudyName, body: ArrivalBody, service: Service) -> Response:
    """Agree to take part: makes a participant, once for a key or a recruiting id."""
    allowed = await is_admin(request)
    if body.rehearsal and not allowed:
        raise Refused(403, "forbidden", "Rehearsals need the researcher's login.")
    if not allowed and not _ARRIVALS.allows(request.client.host if request.client else ""):
        raise Refused(
            429, "too-many", "Too many people arrive from this address. Wait a minute, then try again.", retry_after=60
        )
    kind = "rehearsal" if body.rehearsal else "demo" if body.demo else "real"
    known = await service.study(study)
    sent_by = recruit(body.recruiting, known.design)
    arrival = Arrival(body.key, body.consent_version, body.language, kind=kind, recruit=sent_by)
    if kind == "real":
        await service.refuse_unfilled(known, body.recruiting)
    token, new = await service.arrive(known, arrival)
    return JSONResponse({"token": token, "url": f"{root_of(request.scope)}/p/{token}"}, 201 if new else 200)


@router.get("/api/participants/{token}", tags=["participant"])
async def state(token: Token, service: Service, language: Language = None) -> Response:
    """Return the participant's current step, and everything the page needs to show it."""
    return _json(await service.state(token, language))


@router.post("/api/participants/{token}/answers/{step}", tags=["participant"], response_model=AcceptedBody)
async def answer(token: Token, step: str, body: AnswersBody, service: Service, language: Language = None) -> Response:
    """Answer a step: consent, questions about the person, quiz, rest, survey."""
    return _json(await service.answer(token, step, Given(body.answers, body.ms, body.key), language))


@router.post(PATH, tags=["participant"], response_model=RoundsBody)
async def play(token: Token, body: MovesBody, language: Language = None) -> Response:
    """Play rounds: all are stored when the answer comes, or none; a retry with the same keys gets the same answer."""
    raise AssertionError("MoveEndpoint answers moves in front of the router; this route describes it for OpenAPI")


@router.post("/api/participants/{token}/lobby", tags=["participant"], response_model=LobbyView)
async def lobby(token: Token, body: LobbyBody, service: Service, language: Language = None) -> Response:
    """Wait for a team: join the lobby, show that the page is open, or confirm that the participant is present."""
    view = await service.together.lobby(token, ready=body.ready)
    return _json({"lobby": view, "state": await service.state(token, language) if view is None else None})


@router.get("/api/participants/{token}/team", tags=["participant"], response_model=TeamView)
async def team(
    token: Token, service: Service, episode: Number, after: Number = 0, language: Language = None
) -> Response:
    """Return the rounds of a team that were sealed after a round, for pages without the stream."""
    return _json(await service.together.team(token, episode, after, language))


@router.get(
    STREAM_PATH,
    tags=["participant"],
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Events: lobby, team, sealed, message, step"},
        204: {"description": "There is nothing to wait for"},
    },
)
async def stream(token: Token, language: Language = None) -> Response:
    """Server-sent events: the lobby, sealed rounds and changes of the team; 204 where there is nothing to wait for."""
    raise AssertionError("StreamEndpoint answers in front of the router; this route describes it for OpenAPI")


@router.get("/api/participants/{token}/messages", tags=["participant"], response_model=MessagesView)
async def messages_of(token: Token, service: Service) -> Response:
    """Return the researcher's messages that the participant has not dismissed: a poll that reads no database."""
    return _json({"messages": service.messages.of(token)})


@router.post("/api/participants/{token}/messages/{key}", tags=["participant"], status_code=204)
async def note_message(token: Token, key: MessageKey, body: MessageNoteBody, service: Service) -> Response:
    """Tell that a message is on the page, or was dismissed; again, or for an unknown one, changes nothing."""
    await service.messages.note(token, key, dismissed=body.dismissed)
    return Response(status_code=204)


@router.post("/api/participants/{token}/withdrawal", tags=["participant"])
async def withdraw(token: Token, service: Service, language: Language = None) -> Response:
    """Withdraw: the data are deleted or anonymised, as the design says; again, nothing changes. Returns the state."""
    return _json(await service.withdraw(token, language))


@router.get("/api/participants/{token}/robot", tags=["participant"], response_model=RobotBody)
async def robot(token: Token, service: Service) -> Response:
    """Return how the robot in the lab is getting on with the participant's burger."""
    return _json({"robot": await service.robot(token)})


@router.post("/api/participants/{token}/robot/placed", tags=["participant"], status_code=204)
async def placed(token: Token, body: PlacedBody, service: Service) -> Response:
    """Return the participant has set down the layer that the robot waits for."""
    await service.placed(token, body.request)
    return Response(status_code=204)


@router.post("/api/participants/{token}/events", tags=["participant"], status_code=204)
async def note(token: Token, body: EventsBody, service: Service) -> Response:
    """Tell what happened at the page: hidden, offline, taken over by another tab."""
    # The clock of a page may be wrong, and what happened offline comes late: both times are kept.
    now = now_ms()
    events = [Event(now, event.kind, {"page_at": event.at} | _bounded(event.data), event.key) for event in body.events]
    await service.note(token, events)
    return Response(status_code=204)


def _bounded(data: JsonObject) -> JsonObject:
    try:
        text = storable(json.dumps(data, ensure_ascii=False, allow_nan=False))
    except ValueError as error:  # NaN, an infinity, half of a surrogate pair
        raise InvalidInput(f"The data of an event cannot be stored: {error}.") from error
    return data if len(text) <= 1000 else {"cut": text[:900]}


def _json(data: Any) -> Response:
    return Response(json.dumps(data, ensure_ascii=False, separators=(",", ":")), media_type="application/json")
