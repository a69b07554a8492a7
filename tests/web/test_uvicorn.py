"""What the edge uses of uvicorn beyond its documentation; a new version that changes it fails here first."""

from __future__ import annotations

import ast
import asyncio
import inspect

import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from cobandit.web import edge

METHODS = {
    "connection_lost",
    "connection_made",
    "data_received",
    "on_headers_complete",
    "on_message_begin",
    "on_message_complete",
    "on_response_complete",
}
ATTRIBUTES = {"client", "cycle", "flow", "headers", "on_body", "parser", "server_state", "transport"}

CYCLE = {
    "chunked_encoding",
    "default_headers",
    "disconnected",
    "flow",
    "keep_alive",
    "message_event",
    "on_response",
    "response_complete",
    "response_started",
    "transport",
    "waiting_for_100_continue",
}
"""What the answers of `edge` use of uvicorn's requests."""


def test_the_edge_uses_nothing_else() -> None:
    (guarded,) = [
        node
        for node in ast.parse(inspect.getsource(edge)).body
        if isinstance(node, ast.ClassDef) and node.name == "GuardedProtocol"
    ]
    names = {node.attr for node in ast.walk(guarded) if isinstance(node, ast.Attribute) and _is_self(node.value)}
    methods = {node.name for node in guarded.body if isinstance(node, ast.FunctionDef)}
    inherited = set(dir(_protocol()))
    assert names & inherited - methods == ATTRIBUTES
    (cycle,) = [
        node
        for node in ast.parse(inspect.getsource(edge)).body
        if isinstance(node, ast.ClassDef) and node.name == "_Cycle"
    ]
    used = {node.attr for node in ast.walk(cycle) if isinstance(node, ast.Attribute) and _is_self(node.value)}
    assert used - {"send", "_answer"} == CYCLE
    assert methods & inherited - {"__init__"} == METHODS


def test_uvicorn_still_has_it() -> None:
    parameters = inspect.signature(HttpToolsProtocol.__init__).parameters
    assert list(parameters) == ["self", "config", "server_state", "app_state", "_loop"]
    source = inspect.getsource(inspect.getmodule(HttpToolsProtocol))  # type: ignore[arg-type]
    assert "on_response=self.on_response_complete" in source, "uvicorn does not call on_response_complete any more"
    assert "parse_url(self.url)" in source, "uvicorn takes the address of a repeated head from somewhere else"
    cycle = inspect.getsource(RequestResponseCycle)
    for name in sorted(CYCLE):
        assert f"self.{name}" in cycle, f"uvicorn's request has no {name} any more"
    assert "self.read_paused = " in inspect.getsource(FlowControl)
    assert hasattr(FlowControl, "pause_reading")


def test_a_worker_hears_that_it_is_ready() -> None:
    """The supervisor learns from `callback_notify` that a worker serves: uvicorn calls it as soon as it does."""
    heard = []

    async def ready() -> None:
        heard.append(server.started)
        server.should_exit = True

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("nobody asks")

    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_level="error", callback_notify=ready))
    asyncio.run(server.serve())
    assert heard == [True]


def _is_self(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id == "self") or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )


def _protocol() -> HttpToolsProtocol:
    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("nobody asks")

    loop = asyncio.new_event_loop()
    try:
        return HttpToolsProtocol(uvicorn.Config(app), ServerState(), {}, loop)
    finally:
        loop.close()
