"""Logs as JSON: one line for each request and each event, without personal data.

A line names the route, never the address that was asked for, because personal links are in addresses. Texts are
searched for network addresses and tokens as well, and errors are given by their type and place: the text of a database
error repeats the values of the statement.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import re
import sys
import time
import traceback

from cobandit.base.json_types import JsonObject

LOGGERS = ("cobandit", "uvicorn", "uvicorn.error", "py.warnings")
FORMATS = ("text", "json")

_WORD = re.compile(r"[0-9A-Fa-f:.]*[:.][0-9A-Fa-f:.]*[0-9A-Fa-f:.](?:/\d{1,3})?")
_TOKEN = re.compile(r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-])")
_PASSWORD = re.compile(r"(://[^/@\s:]*:)[^@/\s]+@")
_FRAMES = 12


def scrubbed(text: str) -> str:
    """Return a text without network addresses, tokens and passwords in addresses."""
    text = _PASSWORD.sub(r"\1[password]@", text)
    return _TOKEN.sub("[token]", _WORD.sub(_without_address, text))


def _without_address(match: re.Match[str]) -> str:
    word = match[0].rstrip(".:")
    try:
        ipaddress.ip_network(word, strict=False)
    except ValueError:
        host, _, port = word.rpartition(":")
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return match[0]
        word = f"{host}:{port}"
    return "[address]" + match[0][len(word) :]


class JsonFormatter(logging.Formatter):
    """A log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: JsonObject = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", "log"),
            "logger": record.name,
            "process": record.process,
            "message": scrubbed(record.getMessage()),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
            line["at"] = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, separators=(",", ":"))


def request_line(method: str, route: str | None, status: int, seconds: float) -> str:
    """Return the line for a request."""
    line = {
        "time": _time(time.time()),
        "level": "info",
        "event": "request",
        "method": method,
        "route": route,
        "status": status,
        "ms": round(1000 * seconds, 2),
    }
    return json.dumps(line, separators=(",", ":"))


def log_as_json() -> None:
    """Write the logs of this process to stderr as JSON; warnings of Python as well."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.captureWarnings(True)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
    logging.getLogger("cobandit").setLevel(logging.INFO)


def log_event(event: str, message: str) -> None:
    """Log an event of the server's life, such as its start."""
    logging.getLogger("cobandit.web").info(message, extra={"event": event})


def _time(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"
