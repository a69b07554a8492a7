"""Cache of replies on disk, by the digest of their request: a repeated run reads it and makes no calls.

Each reply is a separate JSON file. ``calls.jsonl`` in the same folder has one line for each call and each move of a
fallback. No file contains the endpoint's key.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cobandit.base.files import checked_path, make_folder, save_text
from cobandit.base.json_types import JsonObject
from cobandit.remote.settings import REPLIES

LOG = "calls.jsonl"
FORMAT = 1


def replies_folder() -> Path:
    """Return the folder of the replies: the one of COBANDIT_LLM_REPLIES, else one in the user's cache folder."""
    named = os.environ.get(REPLIES, "").strip()
    if named:
        return checked_path(REPLIES, named)
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "").strip()
    return Path(base or "~/.cache").expanduser() / "cobandit" / "language-models"


class ReplyStore:
    """The replies in a folder, which is made when the first one is stored."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = replies_folder() if folder is None else folder

    def load(self, digest: str) -> JsonObject | None:
        """Return what was stored for a request, or None; a damaged file counts as none."""
        try:
            stored = json.loads(self._file(digest).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(stored, dict) or stored.get("format") != FORMAT or stored.get("digest") != digest:
            return None
        return stored

    def save(self, digest: str, answer: Mapping[str, Any]) -> None:
        """Store the outcome of a request atomically."""
        file = self._file(digest)
        make_folder(file.parent)
        text = json.dumps({"format": FORMAT, "digest": digest, **answer}, indent=1, ensure_ascii=False)
        save_text(file, text + "\n", private=True)

    def log(self, line: Mapping[str, Any]) -> None:
        """Append a line to the log of calls; a full or read-only disk must not cost a round."""
        with contextlib.suppress(OSError):
            make_folder(self.folder)
            handle = os.open(self.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8"))
            finally:
                os.close(handle)

    def _file(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.json"


def logged_usage(folder: Path) -> dict[str, dict[str, int]]:
    """Return calls, answers, tokens and fallback moves of each model, from the log of calls."""
    heads = ("calls", "answers", "input_tokens", "output_tokens", "fallbacks")
    models: dict[str, dict[str, int]] = {}
    try:
        lines = (folder / LOG).read_text("utf-8").splitlines()
    except OSError:
        return {}
    for line in lines:
        try:
            entry = json.loads(line)
            counts = models.setdefault(str(entry["model"]), dict.fromkeys(heads, 0))
            if "fallback" in entry:
                counts["fallbacks"] += 1
                continue
            counts["calls"] += 1
            counts["answers"] += entry["kind"] == "answer"
            counts["input_tokens"] += int(entry["input_tokens"])
            counts["output_tokens"] += int(entry["output_tokens"])
        except (KeyError, TypeError, ValueError):
            continue  # a line that a crash cut short
    return models
