"""Prepared databases to copy: migrating a new one and hashing its password take longer than most tests."""

from __future__ import annotations

import contextlib
import functools
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import make_url

from cobandit.studies import StudyDesign
from cobandit.web.serving import prepare

Content = tuple[tuple[str, ...], str, int | None]
"""Designs as JSON, password and seed."""

_templates: dict[tuple[str, Content], str] = {}
"""Databases of a PostgreSQL server that nobody connects to, by the address of the server and what they contain."""


def _content(designs: Sequence[StudyDesign], password: str, seed: int | None) -> Content:
    return tuple(json.dumps(design.to_dict()) for design in designs), password, seed


def _prepare(url: str, content: Content) -> None:
    designs, password, seed = content
    prepare(url, [StudyDesign.from_dict(json.loads(design)) for design in designs], password=password, seed=seed)


@functools.cache
def _sqlite_file(content: Content) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "studies.sqlite"
        _prepare(f"sqlite:///{file}", content)
        return file.read_bytes()


def prepare_copy(url: str, designs: Sequence[StudyDesign], password: str, seed: int | None = None) -> None:
    """Do as `prepare` does with a new database; one of SQLite is copied from another with the same content."""
    file = Path(make_url(url).database or "")
    content = _content(designs, password, seed)
    if not url.startswith("sqlite:") or file.exists():
        _prepare(url, content)
        return
    file.touch(0o600)
    file.write_bytes(_sqlite_file(content))


@contextlib.contextmanager
def postgresql_copy(
    server: str, designs: Sequence[StudyDesign], password: str, seed: int | None = None
) -> Iterator[str]:
    """The address of a new database of a PostgreSQL server, as `prepare` makes it; dropped at the end."""
    from tests.web.servers import create_database, fresh_database

    content = _content(designs, password, seed)
    if (server, content) not in _templates:
        address = create_database(server)
        _prepare(address, content)
        _templates[server, content] = str(make_url(address).database)
    with fresh_database(server, _templates[server, content]) as address:
        yield address
