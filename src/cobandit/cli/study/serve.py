"""``cobandit study serve``: one command from a design to the first participant's page."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.cli import parsing
from cobandit.cli.door import os_error_line, say
from cobandit.cli.study.common import (
    DATABASE,
    THE_SERVER,
    THE_STORE,
    DatabaseUrl,
    Password,
    PasswordFile,
    password_given,
)

REPORT = "out/reproduce"
PASSWORD_KEPT = "admin-password.txt"


def _told(password: str) -> str:
    """The password that was made up: to a person once, to a log never."""
    if sys.stderr.isatty():
        return f"{password}   (printed this once; --password sets another)"
    path = Path(PASSWORD_KEPT)
    try:
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{password}\n")
    except OSError as error:
        raise InvalidInput(
            f"A password was made up and cannot be written to {PASSWORD_KEPT!r}: {os_error_line(error)}. Give one with "
            "--password-file or COBANDIT_PASSWORD."
        ) from error
    return f"in the file {path.absolute()}, which you alone can read; delete it when you have it"


def serve(
    designs: Annotated[list[str], typer.Argument(metavar="NAME|FILE.toml...", help="Shipped designs, or files.")],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all.", rich_help_panel=THE_SERVER)
    ] = "127.0.0.1",
    port: Annotated[
        str, typer.Option(metavar="N", help="The port; 0 takes a free one.", rich_help_panel=THE_SERVER)
    ] = "8000",
    workers: Annotated[
        str, typer.Option(metavar="N", help="Processes; more than one needs PostgreSQL.", rich_help_panel=THE_SERVER)
    ] = "1",
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Let anybody try the studies; none of it is data.", rich_help_panel=THE_SERVER),
    ] = False,
    report: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="A folder of `cobandit reproduce`, shown at /report.", rich_help_panel=THE_SERVER
        ),
    ] = Path(REPORT),
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="How people reach the server, for copied links.", rich_help_panel=THE_SERVER),
    ] = None,
    database: DatabaseUrl = DATABASE,
    seed: Annotated[
        str | None,
        typer.Option(metavar="N", help="The seed of a new study (drawn, where not given).", rich_help_panel=THE_STORE),
    ] = None,
    password: Password = None,
    password_file: PasswordFile = None,
) -> None:
    """Serve studies: pages for participants, pages for the researcher at /admin, all data in one database.

    Without a password of yours one is made up at the first start and printed once.
    """
    require_extras("Serving studies", web=True)
    from cobandit.base.checks import whole
    from cobandit.studies import load_design
    from cobandit.web import serving
    from cobandit.web.config import WebConfig
    from cobandit.web.storage.database import Database

    count = whole(1, 64)("workers", parsing.value(workers))
    number = whole(0, 65535)("port", parsing.value(port))
    chosen = None if seed is None else whole(0, 2**63 - 1)("seed", parsing.value(seed))
    if count > 1 and Database(database).sqlite:
        raise InvalidInput(
            f"{workers} workers were asked for, and SQLite has one writer: use one, or --database postgresql://..."
        )
    loaded = [load_design(name) for name in designs]
    if len({design.name for design in loaded}) != len(loaded):
        raise InvalidInput("A study was named twice; each needs a name of its own.")
    serving.wait_for_database(database, say)
    ready = serving.prepare(database, loaded, password=password_given(password, password_file), seed=chosen)
    listening = serving.bound_socket(host, number)
    address = public_url.rstrip("/") if public_url else serving.address_of(listening)
    say(f"cobandit studies at {address}")
    for study in ready.studies:
        state = "" if study.open else "  (closed; open it at /admin)"
        say(f"  {study.design.title}: {address}/s/{study.name}{state}")
        if demo:
            say(f"    to try it:   {address}/s/{study.name}?demo=1")
    say(f"  Researcher:  {address}/admin")
    if ready.new_password is not None:
        say(f"  Password:    {_told(ready.new_password)}")
    say(f"  Data in      {Database(database).name}")
    say("Stop with Ctrl-C.")
    serving.serve(
        WebConfig(database=database, demo=demo, report=str(report.resolve()), public_url=public_url), listening, count
    )
    say("Stopped; everything is stored.")
