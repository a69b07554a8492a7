"""Verify cached machine code before it is loaded: numba runs whatever a damaged file happens to hold."""

from __future__ import annotations

import hashlib
import io
import logging
import pickle
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile, _cache_log

log = logging.getLogger("cobandit")

DAMAGED = "The compiled code in %s cannot be read (%s), so it is compiled again."
SUFFIX = ".sha256"
"""Part of every file name. Files that numba wrote itself, which have no checksum, are left alone."""


class VerifiedCacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """Store the index and the data of a compiled function, each after its SHA-256 checksum.

    An entry that does not match its checksum counts as absent: numba compiles the function again and overwrites it.
    """

    @classmethod
    def replacing(cls, file: Any) -> VerifiedCacheFile:
        """Return a verified file in the place of one that numba would use."""
        base = file._index_name.removesuffix(".nbi") + SUFFIX
        return cls(cache_path=file._cache_path, filename_base=base, source_stamp=file._source_stamp)

    def holds(self, key: Any) -> bool:
        """Return whether there is an intact entry of this key, without unpickling its code."""
        name = self._load_index().get(key)
        return name is not None and _read(Path(self._data_path(name))) is not None

    def save(self, key: Any, data: Any) -> None:
        """Store the key with the code: two processes that write at the same time may give two keys the same data
        file.
        """
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        """Return the code stored for this key, or None if there is none or it is damaged."""
        stamp, stored, data = super().load(key) or (None, None, None)
        return data if (stamp, stored) == (self._source_stamp, key) else None

    def _load_index(self) -> dict[Any, str]:
        path = Path(self._index_path)
        content = _read(path)
        if content is None:
            return {}
        file = io.BytesIO(content)
        try:
            if pickle.load(file) != self._version:
                return {}
            stamp, names = pickle.load(file)
        except Exception as error:  # classes in it may have moved since
            _warn_damaged(path, f"{type(error).__name__}: {error}")
            return {}
        return dict(names) if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        content = pickle.dumps(self._version) + self._dump((self._source_stamp, overloads))
        self._write(self._index_path, content)

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))
        content = _read(path)
        if content is None:
            return None
        try:
            return pickle.loads(content)
        except Exception as error:
            _warn_damaged(path, f"{type(error).__name__}: {error}")
            return None

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _write(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)
        _cache_log("[cache] saved to %r", path)  # printed with NUMBA_DEBUG_CACHE=1


def _read(path: Path) -> bytes | None:
    """Return what follows the checksum in a file, or None if there is no file or the checksum is another."""
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_damaged(path, str(error))
        return None
    size = hashlib.sha256().digest_size
    if hashlib.sha256(stored[size:]).digest() != stored[:size]:
        _warn_damaged(path, "its checksum does not match")
        return None
    return stored[size:]


@cache
def _warn_damaged(path: Path, reason: str) -> None:
    """Warn once about each file."""
    log.warning(DAMAGED, path, reason)
