"""The demo model behind real HTTP: a chat-completions endpoint on this machine, which can also show every fault."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cobandit.base.checks import one_of, whole
from cobandit.base.json_types import JsonObject
from cobandit.remote.demo import demo_reply

FAULTS = {
    "refusal": "an answer in the field for refusals",
    "filtered": "an answer stopped by a content filter",
    "malformed": "a sentence instead of JSON",
    "wrong-arm": "an arm that is not there",
    "no-json": "a reply that is no JSON",
    "rate-limit": "status 429 with Retry-After",
    "server-error": "status 500",
    "no-schema": "status 400 for requests with a JSON schema",
    "slow": "a reply after --seconds",
    "cut": "a connection that ends in the middle of the reply",
    "echo-key": "status 500 with the key in the reply",
}
"""What can go wrong, by name."""
LARGEST = 2_000_000


class DemoServer:
    """A chat-completions endpoint on 127.0.0.1 that plays by the prompt alone; a context manager.

    ``fault`` is the name of a fault, shown by every ``every``-th request. ``key``, if given, is required of callers.
    ``requests`` holds the bodies of all requests so far.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        fault: str | None = None,
        every: int = 1,
        key: str = "",
        seconds: float = 1.0,
        retry_after: float = 1.0,
    ) -> None:
        self.fault = None if fault is None else one_of(tuple(FAULTS), "fault")("fault", fault)
        self.every = whole(1)("every", every)
        self.key, self.seconds, self.retry_after = key, seconds, retry_after
        self.requests: list[JsonObject] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.demo = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The value for COBANDIT_LLM_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def fault_of(self, body: JsonObject) -> str | None:
        """Return the fault that a request gets, and count the request."""
        with self._lock:
            self.requests.append(body)
            due = len(self.requests) % self.every == 0
        if self.fault == "no-schema" and "response_format" not in body:
            return None
        return self.fault if due else None

    def start(self) -> DemoServer:
        """Serve in a thread of its own."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving and free the port."""
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> DemoServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    demo: DemoServer

    def handle_error(self, request: Any, client_address: object) -> None:
        """Say nothing of callers that hang up."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        demo = self.server.demo
        size = self.headers.get("Content-Length", "")
        text = self.rfile.read(min(int(size), LARGEST)) if size.isdigit() else b""
        if not self.path.endswith("/chat/completions"):
            return self._send(404, {"error": {"message": "There is nothing here but /v1/chat/completions."}})
        if demo.key and self.headers.get("Authorization") != f"Bearer {demo.key}":
            return self._send(401, {"error": {"message": "The key is wrong."}})
        try:
            body = json.loads(text)
            reply = demo_reply(body)
        except (AttributeError, KeyError, TypeError, ValueError):
            return self._send(400, {"error": {"message": "The demo endpoint reads prompts of cobandit only."}})
        fault = demo.fault_of(body)
        if fault is None:
            return self._send(200, reply)
        return self._fail(fault, reply)

    def _fail(self, fault: str, reply: JsonObject) -> None:
        demo, choice = self.server.demo, reply["choices"][0]
        if fault == "slow":
            demo.stopping.wait(demo.seconds)
        elif fault == "refusal":
            choice["message"] = {"role": "assistant", "content": None, "refusal": "I cannot help with gambling."}
        elif fault == "filtered":
            choice["finish_reason"], choice["message"]["content"] = "content_filter", ""
        elif fault == "malformed":
            choice["message"]["content"] = "I would say option A looks good, though B may be better."
        elif fault == "wrong-arm":
            choice["message"]["content"] = json.dumps({"arm": "Z9"})
        if fault == "no-json":
            return self._send(200, None, b"<html>Bad gateway</html>")
        if fault == "cut":
            data = json.dumps(reply).encode()
            self._head(200, len(data))
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
            return None
        if fault == "rate-limit":
            return self._send(429, {"error": {"message": "Too many requests."}}, None, f"{demo.retry_after:g}")
        if fault in ("server-error", "no-schema", "echo-key"):
            sent = self.headers.get("Authorization", "") if fault == "echo-key" else "Something is not supported."
            return self._send(400 if fault == "no-schema" else 500, {"error": {"message": sent}})
        return self._send(200, reply)

    def _send(self, status: int, data: Any, raw: bytes | None = None, retry_after: str = "") -> None:
        content = json.dumps(data).encode() if raw is None else raw
        self._head(status, len(content), retry_after)
        self.wfile.write(content)

    def _head(self, status: int, size: int, retry_after: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(size))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
