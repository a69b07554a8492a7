"""Clients of oTree's live page: a WebSocket each, with as much of the protocol as moves need."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import os
import random
import struct
import urllib.request
import uuid
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

PAGE = "Play"


class LivePlayer(asyncio.Protocol):
    """A participant on the live page, who sends what the study page sends for a move, as one text message."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._rng = random.Random(token)
        self._buffer = b""
        self._open = False
        self._answer: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take the answer to the handshake, and then messages."""
        self._buffer += data
        if not self._open:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if end:
                self._open, self._buffer = True, rest
                self._resolve(head)
            return
        while (message := self._message()) is not None:
            self._resolve(message)

    def connection_lost(self, error: Exception | None) -> None:
        """Fail whoever waits for an answer."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("oTree has closed the connection"))

    def _resolve(self, message: bytes) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    def _message(self) -> bytes | None:
        """Return the next text message of the buffer; other frames are passed over."""
        while len(self._buffer) >= 2:
            kind, length, start = self._buffer[0] & 15, self._buffer[1] & 127, 2
            if length == 126:
                if len(self._buffer) < 4:
                    return None
                length, start = struct.unpack(">H", self._buffer[2:4])[0], 4
            if len(self._buffer) < start + length:
                return None
            content, self._buffer = self._buffer[start : start + length], self._buffer[start + length :]
            if kind == 1:
                return content
        return None

    async def ask(self, data: bytes) -> bytes:
        """Send bytes and return the next message."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(data)
        return await self._answer

    async def shake_hands(self, host: str, path: str) -> None:
        """Turn the connection into a WebSocket."""
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\n"
        head += f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        answer = await self.ask(head.encode())
        if b" 101 " not in answer.partition(b"\r\n")[0]:
            raise RuntimeError(f"oTree has refused a WebSocket: {answer.decode(errors='replace')}")

    async def move(self, t: int) -> bool:
        """Play a round."""
        key = str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        move = {"t": t, "arm": self._rng.getrandbits(1), "key": key, "ms": 400}
        content = json.dumps({"episode": 0, "moves": [move]}, separators=(",", ":")).encode()
        mask = b"\0\0\0\0"  # which leaves the content as it is
        size = (
            bytes([128 | len(content)]) if len(content) < 126 else bytes([128 | 126]) + struct.pack(">H", len(content))
        )
        answer = json.loads(await self.ask(b"\x81" + size + mask + content))
        return bool(answer["otree_success"]) and answer["live_method_payload"]["rounds"][0]["t"] == t

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


def _same(player: LivePlayer) -> LivePlayer:
    return player


def _request(url: str, body: Any = None) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    with opener.open(url, None if body is None else json.dumps(body).encode(), timeout=60) as answer:
        return bytes(answer.read())


async def live_players(url: str, config: str, people: int) -> list[LivePlayer]:
    """Create a session and bring everybody to the live page."""
    code = json.loads(_request(f"{url}/api/sessions", {"session_config_name": config, "num_participants": people}))[
        "code"
    ]
    participants = json.loads(_request(f"{url}/api/get_session/{code}", {}))["participants"]
    parts, loop, players = urlsplit(url), asyncio.get_running_loop(), list[LivePlayer]()
    for participant in participants:
        token = participant["code"]
        page = await asyncio.to_thread(_request, f"{url}/InitializeParticipant/{token}")
        if b"live-page-of-the-benchmark" not in page:
            raise RuntimeError("oTree does not show the live page.")
        player = LivePlayer(token)
        await loop.create_connection(functools.partial(_same, player), parts.hostname or "", parts.port or 80)
        query = {"participant_code": token, "page_name": PAGE, "page_index": 1, "session_code": code}
        await player.shake_hands(parts.netloc, f"/live?{urlencode(query)}")
        players.append(player)
    return players
