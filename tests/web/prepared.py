"""Prepared databases to copy: migrating a new one and hashing its password take longer than most tests."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg
from sqlalchemy import URL, make_url

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
    """Do as `prepare` does; a new database becomes a copy of another one with the same content."""
    if any(design.media for design in designs):  # whose files are not part of the JSON
        prepare(url, designs, password=password, seed=seed)
        return
    content = _content(designs, password, seed)
    address = make_url(url)
    if address.drivername != "sqlite":
        _copy_on_postgresql(address, content)
        return
    file = Path(address.database or "")
    if file.exists():
        _prepare(url, content)
        return
    file.touch(0o600)
    file.write_bytes(_sqlite_file(content))


def _copy_on_postgresql(address: URL, content: Content) -> None:
    """Replace an empty database by a copy of a template, which is made when it is first needed."""
    from tests.web.servers import create_database

    server = address.set(database="postgres").render_as_string(hide_password=False)
    if (server, content) not in _templates:
        template = create_database(server)
        _prepare(template, content)
        _templates[server, content] = str(make_url(template).database)
    with psycopg.connect(address.render_as_string(hide_password=False)) as connection:
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    if tables != (0,):
        _prepare(address.render_as_string(hide_password=False), content)
        return
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{address.database}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{address.database}" TEMPLATE "{_templates[server, content]}"')


def drop_templates() -> None:
    """Drop the templates of PostgreSQL servers, which may outlive the tests."""
    for (server, _), template in _templates.items():
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{template}" WITH (FORCE)')
    _templates.clear()
