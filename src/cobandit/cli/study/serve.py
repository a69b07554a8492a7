"""``cobandit study serve``: one command from a design to the first participant's page."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_folder
from cobandit.cli import completion, parsing
from cobandit.cli.door import os_error_line, say
from cobandit.cli.options import integer_option, names_option, with_option_groups
from cobandit.cli.study.common import (
    DATABASE,
    THE_SERVER,
    THE_STORE,
    DatabaseUrl,
    Password,
    PasswordFile,
    password_given,
)

if TYPE_CHECKING:
    from cobandit.web.config import WebConfig
    from cobandit.web.schedule import BackupSchedule
    from cobandit.web.serving import Ready

REPORT = "out/reproduce"
THE_ROBOT = "The robot"
NO_ARM = ("none", "simulated")
"""Robots that are drawn or recorded: as many people as like may play."""

EVERY, KEEP = "10m", 24

HINTS = {"invite-only": "; create personal links at /admin", "closed": "; open it at /admin"}
"""What to do about a study whose open link refuses people, by the code of its state."""

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


@dataclass(frozen=True)
class ServerOptions:
    """Where to listen, and what is shown beside the studies."""

    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 for all.", rich_help_panel=THE_SERVER)
    ] = "127.0.0.1"
    port: Annotated[int, integer_option("port", 0, "The port; 0 takes a free one.", THE_SERVER, high=65535)] = 8000
    workers: Annotated[
        int, integer_option("workers", 1, "Processes; more than one needs PostgreSQL.", THE_SERVER, high=64)
    ] = 1
    demo: Annotated[
        bool,
        typer.Option("--demo", help="Let anybody try the studies; none of it is data.", rich_help_panel=THE_SERVER),
    ] = False
    unlisted: Annotated[
        list[str] | None,
        names_option(help="A study that the home page does not show; may be repeated.", panel=THE_SERVER),
    ] = None
    consent_elsewhere: Annotated[
        bool,
        typer.Option(
            "--consent-elsewhere",
            help="Take people although the consent is a shipped placeholder: theirs is on paper, say.",
            rich_help_panel=THE_SERVER,
        ),
    ] = False
    report: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="A folder of `cobandit reproduce`, shown at /report.", rich_help_panel=THE_SERVER
        ),
    ] = Path(REPORT)
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The documentation as a site, shown at /docs once it is there.",
            rich_help_panel=THE_SERVER,
        ),
    ] = None
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="How people reach the server, for copied links.", rich_help_panel=THE_SERVER),
    ] = None


@dataclass(frozen=True)
class BackupOptions:
    """Backups by the clock."""

    backup: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Make backups in this folder while serving, each verified.", rich_help_panel=THE_STORE
        ),
    ] = None
    every: Annotated[
        str, typer.Option(metavar="TIME", help="How often: 30s, 10m, 2h, 1d.", rich_help_panel=THE_STORE)
    ] = EVERY
    keep: Annotated[int, integer_option("keep", 1, "How many backups to keep.", THE_STORE)] = KEEP


@dataclass(frozen=True)
class RobotOptions:
    """Who stacks the burgers."""

    robot: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who stacks the burgers: none (drawn), simulated (recorded), null (by hand) or rosbridge.",
            rich_help_panel=THE_ROBOT,
        ),
    ] = "none"
    robot_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where rosbridge listens: ws://HOST:9090.", rich_help_panel=THE_ROBOT),
    ] = None
    robot_speed: Annotated[
        float,
        typer.Option(
            metavar="FLOAT",
            parser=parsing.positive_real("robot-speed", 1.0),
            help="The part of its speed that an arm may use.",
            rich_help_panel=THE_ROBOT,
        ),
    ] = 0.25
    robot_skin: Annotated[
        str,
        typer.Option(
            metavar="own|fetch",
            help="Looks of the simulated arm: ours, or Fetch's from an installed gymnasium-robotics.",
            rich_help_panel=THE_ROBOT,
        ),
    ] = "own"


@with_option_groups
def serve(
    designs: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|FILE.toml...", help="Shipped designs, or files.", autocompletion=completion.designs
        ),
    ],
    server: ServerOptions = ServerOptions(),
    robot: RobotOptions = RobotOptions(),
    backups: BackupOptions = BackupOptions(),
    database: DatabaseUrl = DATABASE,
    seed: Annotated[
        int | None,
        integer_option("seed", 0, "The seed of a new study (drawn, if not given).", THE_STORE, high=2**63 - 1),
    ] = None,
    password: Password = None,
    password_file: PasswordFile = None,
) -> None:
    """Serve studies on the web.

    Participants get their pages, you get yours at /admin, and all data are in one database.

    Without a password of yours one is made up at the first start and printed once.
    """
    require_extras("Serving studies", web=True, ros=robot.robot == "rosbridge")
    from cobandit.studies import load_design
    from cobandit.web import serving
    from cobandit.web.storage.database import Database

    workers, port = server.workers, server.port
    if workers > 1 and Database(database).sqlite:
        raise InvalidInput(
            f"{workers} workers were asked for, and SQLite has one writer: use one, or --database postgresql://..."
        )
    config = _config(database, server, robot)
    _check_robot(config, workers)
    schedule = _schedule(database, backups)
    loaded = [load_design(name) for name in designs]
    names = [design.name for design in loaded]
    if len(set(names)) != len(names):
        raise InvalidInput("A study was named twice; each needs a name of its own.")
    for name in config.unlisted:
        if name not in names:
            raise UnknownName("study among those to serve called", name, names)
    serving.wait_for_database(database, say)
    ready = serving.prepare(
        database,
        loaded,
        password=password_given(password, password_file),
        seed=seed,
        consent_elsewhere=config.consent_elsewhere,
    )
    for warning in serving.durability_warnings(database):
        say(f"Warning: {warning}")
    listening = serving.bound_socket(server.host, port)
    _greet(ready, config, serving.address_of(listening))
    serving.serve(config, listening, workers, schedule)
    say("Stopped; everything is stored.")


def _config(database: str, server: ServerOptions, robot: RobotOptions) -> WebConfig:
    from cobandit.web.config import WebConfig

    for folder in filter(None, (server.report, server.docs)):
        checked_folder(folder)

    return WebConfig(
        database=database,
        demo=server.demo,
        unlisted=tuple(server.unlisted or ()),
        consent_elsewhere=server.consent_elsewhere,
        report=str(server.report.resolve()),
        docs=None if server.docs is None else str(server.docs.resolve()),
        public_url=server.public_url,
        robot=robot.robot,
        robot_url=robot.robot_url,
        robot_speed=robot.robot_speed,
        robot_skin=robot.robot_skin,
    )


def _schedule(database: str, options: BackupOptions) -> BackupSchedule | None:
    from cobandit.web.schedule import BackupSchedule

    seconds = parsing.seconds("every", options.every)
    if options.backup is None:
        if (options.every, options.keep) != (EVERY, KEEP):
            raise InvalidInput("--every and --keep go with --backup DIR.")
        return None
    return BackupSchedule(database, options.backup, seconds, options.keep)


def _check_robot(config: WebConfig, workers: int) -> None:
    """Refuse a robot that cannot be had before anything is made ready."""
    from cobandit.robot import make_arm
    from cobandit.robot.scene.description import require_skin

    if require_skin(config.robot_skin) != "own" and config.robot != "simulated":
        raise InvalidInput(f"--robot-skin goes with --robot simulated, and --robot is {config.robot!r}.")
    if config.robot in NO_ARM:
        if config.robot_url is not None:
            raise InvalidInput(f"--robot-url goes with an arm, and --robot is {config.robot!r}.")
        return
    if workers > 1:
        raise InvalidInput(f"{workers} workers were asked for, and one process drives the arm: use one.")
    make_arm(config.robot, config.robot_url, config.robot_speed)


def _greet(ready: Ready, config: WebConfig, local: str) -> None:
    """Where everything is to be found."""
    from cobandit.report.kit.assets import missing_libraries
    from cobandit.web.services.admission import unready
    from cobandit.web.storage.database import Database

    address = config.public_url.rstrip("/") if config.public_url else local
    say(f"cobandit studies at {address}")
    for study, state in zip(ready.studies, ready.states, strict=True):
        places = "" if state.taken is None else f", {state.taken} of {study.quota} places taken"
        word = f"  ({state.word.lower()}{places}{HINTS.get(state.code, '')})" if state.code != "open" or places else ""
        say(f"  {study.design.title}: {address}/s/{study.name}{word}")
        if config.demo:
            say(f"    to try it:   {address}/s/{study.name}?demo=1")
    say(f"  Researcher:  {address}/admin")
    if config.docs is not None:
        say(f"  Docs:        {address}/docs")
    if config.robot not in NO_ARM:
        say(f"  Robot:       {address}/admin/robot")
    if ready.new_password is not None:
        say(f"  Password:    {_told(ready.new_password)}")
    say(f"  Data in      {Database(config.database).name}")
    for study in ready.studies:
        sentence = None if config.consent_elsewhere else unready(study.design)
        if sentence is not None:
            say(f"Attention: {sentence}")
    if missing := missing_libraries():
        say(f"Third-party scripts are not installed ({', '.join(missing)}): pages show films and static charts.")
    say("Stop with Ctrl-C.")
