"""The experimenter's console: what the arm in the lab does, and the buttons that step in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from cobandit.base.json_types import JsonObject
from cobandit.web.routes.bodies import BurgerBody, DoneBody, PlacedBody
from cobandit.web.services.robot.lab import Lab

router = APIRouter(prefix="/robot")  # under the researcher's interface, and behind its login


async def _lab(request: Request) -> Lab:
    lab: Lab = request.app.state.robot.lab
    return lab


TheLab = Annotated[Lab, Depends(_lab)]


@router.get("")
async def console(lab: TheLab) -> JsonObject:
    """Return the state of the arm, its user, the burger on the plate, open requests, and recent events."""
    return lab.state()


@router.post("/stop", response_model=DoneBody)
async def stop(lab: TheLab) -> DoneBody:
    """Stop the arm immediately."""
    await lab.halt()
    return DoneBody()


@router.post("/retry", response_model=DoneBody)
async def retry(lab: TheLab) -> DoneBody:
    """Let the arm continue after a stop, with the burger on the plate."""
    await lab.retry()
    return DoneBody()


@router.post("/skip", response_model=DoneBody)
async def skip(body: BurgerBody, lab: TheLab) -> DoneBody:
    """Skip a burger: the round stays valid, and the participant continues."""
    await lab.skip(body.burger)
    return DoneBody()


@router.post("/placed", response_model=DoneBody)
async def placed(body: PlacedBody, lab: TheLab) -> DoneBody:
    """Confirm that the requested item is on the plate."""
    await lab.placed(body.request)
    return DoneBody()


@router.post("/release", response_model=DoneBody)
async def release(lab: TheLab) -> DoneBody:
    """Let the next participant have the robot."""
    await lab.release()
    return DoneBody()


@router.post("/connect", response_model=DoneBody)
async def connect(lab: TheLab) -> DoneBody:
    """Reach for the arm again."""
    await lab.connect()
    return DoneBody()
