"""Clients before servers that answer otherwise than ours does: each is a real one, with a script."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from cobandit.base.errors import InvalidInput
from cobandit.studies import make_behaviour
from cobandit.web.clients.bot import Bot, BotOptions
from cobandit.web.clients.http import LoginRefused, RequestFailed, StudyClosed
from cobandit.web.clients.researcher import Researcher
from cobandit.web.config import VARIABLE, WebConfig
from tests.clients import PATIENCE

Answer = tuple[int, Any]
ABOUT = {"consent": {"version": "1"}, "language": "en"}
ARRIVED: Answer = (201, {"token": "abc"})
PROGRESS = {"participant": "p-1", "progress": {"done": 1, "total": 9}}


@contextlib.contextmanager
def answering(*answers: Answer) -> Iterator[str]:
    """The address of a server that gives these answers, one after another; the last one stays."""
    left = list(answers)

    class Scripted(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            status, body = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            if status == 429:
                self.send_header("retry-after", "0")
            contents = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_header("content-length", str(len(contents)))
            self.end_headers()
            self.wfile.write(contents)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Scripted) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def played(*answers: Answer, kind: str = "real", arrival_only: bool = False) -> Bot:
    """A bot that got these answers."""

    async def play(url: str) -> Bot:
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE) as client:
            bot = Bot(client, "short", ABOUT, make_behaviour("softmax"), 0, BotOptions(kind=kind))
            await bot.arrive()
            if not arrival_only:
                await bot.play()
            return bot

    with answering(*answers) as url:
        return asyncio.run(play(url))


def test_a_bot_asks_again_when_it_is_told_to() -> None:
    bot = played((429, {"message": "Slowly."}), (503, {}), ARRIVED, arrival_only=True)
    assert (bot.result.token, bot.result.retries) == ("abc", 2)


@pytest.mark.parametrize(
    ("answers", "kind", "error", "sentence"),
    [
        ([(500, {"message": "Broken."})], "real", RequestFailed, "bot-0001 cannot continue at .*: Broken"),
        ([(403, {"error": "closed", "message": "Over."})], "real", StudyClosed, "takes no new participants: Over"),
        ([(401, {"message": "Who?"})], "rehearsal", LoginRefused, r"not accepted, or no more: Who\?"),
        ([(401, {"message": "Who?"})], "real", RequestFailed, r"cannot take part in 'short': Who\?"),
        ([ARRIVED, (404, {"message": "Gone."})], "real", RequestFailed, "not known to the server any more: Gone"),
        (
            [ARRIVED, (200, {"step": {"kind": "instructions", "id": "instructions"}}), (422, {"message": "No."})],
            "real",
            RequestFailed,
            "cannot answer 'instructions': No",
        ),
        (
            [
                ARRIVED,
                (200, {"step": {"kind": "instructions", "id": "instructions"}}),
                (409, {"state": PROGRESS | {"step": {"kind": "instructions", "id": "instructions"}}}),
            ],
            "real",
            RequestFailed,
            r"do not agree on what was played; is it played twice\?",
        ),
        (
            [
                ARRIVED,
                (200, {"step": {"kind": "quiz", "id": "quiz"}, "quiz": {"questions": [{"id": "a", "choices": "xy"}]}}),
                (200, {"accepted": False, "wrong": ["a"]}),
            ],
            "real",
            RequestFailed,
            "has tried every answer to 'quiz', and none is accepted",
        ),
    ],
)
def test_what_a_bot_says_when_it_cannot_go_on(
    answers: list[Answer], kind: str, error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        played(*answers, kind=kind)


def zipped(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "x")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [(b"hello", "sent something that is not an export"), (zipped("short/virus.exe"), "holds 'virus.exe'")],
)
def test_an_export_that_is_none(tmp_path: Path, contents: bytes, sentence: str) -> None:
    studies = {"studies": [{"id": 1, "name": "short", "version": "1"}]}
    with (
        answering((200, {"token": "t"}), (200, studies), (200, contents)) as url,
        Researcher(url, "x") as researcher,
        pytest.raises(RequestFailed, match=sentence),
    ):
        researcher.export("short", tmp_path / "out", format="csv", kind="real", recruiting=False)
    assert not list(tmp_path.rglob("*.exe"))


def test_a_worker_without_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InvalidInput, match="is not set; start the server with `cobandit study serve`"):
        WebConfig.from_environment()
    monkeypatch.setenv(VARIABLE, "")
    WebConfig(database="sqlite:///x.sqlite", demo=True).to_environment()
    assert WebConfig.from_environment() == WebConfig(database="sqlite:///x.sqlite", demo=True)
