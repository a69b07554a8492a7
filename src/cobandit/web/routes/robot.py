"""Recorded burgers: the description of the kitchen, and the motion of the arm. Equal for all, and cached forever."""

from __future__ import annotations

import asyncio
import gzip

from fastapi import APIRouter, Request, Response

from cobandit.web.refusals import not_found
from cobandit.web.services.robot.server import Robot
from cobandit.web.static_files import FOREVER, reads_gzip

router = APIRouter(prefix="/api/robot", tags=["server"])


@router.get("/{version}/scene.json", responses={200: {"content": {"application/json": {}}}})
async def scene(request: Request, version: str) -> Response:
    """Return the description of the kitchen: bodies, their shapes, colours and initial positions."""
    robot: Robot = request.app.state.robot
    packed = await asyncio.to_thread(robot.scene, version)
    return _answer(request, packed, "application/json")


@router.get(
    "/{version}/recordings/{name}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
async def recording(request: Request, version: str, name: str) -> Response:
    """Return how everything moved while one burger was stacked, as `cobandit.robot.Recording` writes it."""
    robot: Robot = request.app.state.robot
    packed = await asyncio.to_thread(robot.recording, version, name)
    return _answer(request, packed, "application/octet-stream")


def _answer(request: Request, packed: bytes | None, kind: str) -> Response:
    if packed is None:
        raise not_found("There is no such recording here.")
    headers = {"cache-control": FOREVER, "vary": "accept-encoding"}
    if not reads_gzip(request.scope):
        return Response(gzip.decompress(packed), media_type=kind, headers=headers)
    return Response(packed, media_type=kind, headers=headers | {"content-encoding": "gzip"})
