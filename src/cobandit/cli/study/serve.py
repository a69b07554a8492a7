"""``cobandit study serve``: serve studies, from a design to the first participant's page with one command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_folder
from cobandit.cli import completion, parsing
from cobandit.cli.declare import flag, integer_option, option
from cobandit.cli.door import os_error_line, say
from cobandit.cli.operations import OperationOptions
from cobandit.cli.options import with_environment, with_option_groups
from cobandit.cli.study.common import (
    DATABASE,
    THE_SERVER,
    THE_STORE,
    AddressOptions,
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
"""Robots that are drawn or recorded, so any number of people can play at the same time."""

EVERY, KEEP = "10m", 24

HINTS = {"invite-only": "; create personal links at {}", "closed": "; open it at {}"}
"""Hints for a study whose open link refuses participants, by the code of its state."""

PASSWORD_KEPT = "admin-password.txt"


def password_notice(password: str, for_people: bool = True) -> str:
    """Return the generated password for a terminal. If stderr is a log, store it in a file and return the path."""
    if for_people and sys.stderr.isatty():
        return f"{password}   (printed only once; --password sets another)"
    path = Path(PASSWORD_KEPT)
    try:
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{password}\n")
    except OSError as error:
        raise InvalidInput(
            f"The generated password cannot be written to {PASSWORD_KEPT!r}: {os_error_line(error)}. Give one with "
            "--password-file or COBANDIT_PASSWORD."
        ) from error
    return f"in the file {path.absolute()}, which only you can read; delete it when you know the password"


@dataclass(frozen=True)
class ServerOptions(AddressOptions):
    """Address of the server, and the pages it shows in addition to the studies."""

    demo: Annotated[bool, flag("--demo", "Demos for all visitors; nothing is stored as data", THE_SERVER)] = False
    unlisted: Annotated[
        list[str] | None, option("NAME", "Study that the home page does not show (repeatable)", THE_SERVER)
    ] = None
    consent_elsewhere: Annotated[
        bool, flag("--consent-elsewhere", "Consent given elsewhere, such as on paper", THE_SERVER)
    ] = False
    report: Annotated[Path, option("DIR", "Folder of `cobandit reproduce`, shown at /report", THE_SERVER)] = Path(
        REPORT
    )
    docs: Annotated[Path | None, option("DIR", "Folder of the documentation, shown at /docs", THE_SERVER)] = None


@dataclass(frozen=True)
class BackupOptions:
    """Regular backups."""

    backup: Annotated[Path | None, option("DIR", "Folder for regular, verified backups", THE_STORE)] = None
    every: Annotated[str, option("TIME", "Time between backups, such as 30s, 10m, 2h or 1d", THE_STORE)] = EVERY
    keep: Annotated[int, integer_option("keep", 1, "Number of backups to keep", THE_STORE)] = KEEP


@dataclass(frozen=True)
class RobotOptions:
    """The robot that stacks the burgers."""

    robot: Annotated[str, option("NAME", "Robot: none, simulated, null (by hand) or rosbridge", THE_ROBOT)] = "none"
    robot_url: Annotated[str | None, option("URL", "Address of rosbridge, such as ws://HOST:9090", THE_ROBOT)] = None
    robot_arm: Annotated[
        Path | None, option("FILE", "TOML file that describes an arm other than a Fetch", THE_ROBOT)
    ] = None
    robot_speed: Annotated[
        float,
        option(
            "FLOAT", "Fraction of the arm's maximal speed", THE_ROBOT, parser=parsing.positive_real("robot-speed", 1.0)
        ),
    ] = 0.25
    robot_skin: Annotated[str, option("own|fetch", "Our own arm, or the meshes of gymnasium-robotics", THE_ROBOT)] = (
        "own"
    )


@dataclass(frozen=True)
class LoginOptions:
    """The researcher's password."""

    password: Password = None
    password_file: PasswordFile = None


@with_environment
@with_option_groups
def serve(
    designs: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|FILE.toml...", help="Shipped designs, or files", autocompletion=completion.designs
        ),
    ],
    server: ServerOptions = ServerOptions(),
    robot: RobotOptions = RobotOptions(),
    backups: BackupOptions = BackupOptions(),
    operation: OperationOptions = OperationOptions(),
    database: DatabaseUrl = DATABASE,
    seed: Annotated[
        int | None,
        integer_option("seed", 0, "Random seed of a new study (default: a new one)", THE_STORE, high=2**63 - 1),
    ] = None,
    login: LoginOptions = LoginOptions(),
) -> None:
    """Serve studies on the web.

    Participants get their pages, you get yours at /admin, and all data are in one database.

    If you give no password, the first start generates one and prints it once.

    Every option can be set by an environment variable: --public-url by COBANDIT_PUBLIC_URL.
    """
    require_extras("Serving studies", web=True, ros=robot.robot == "rosbridge")
    from cobandit.studies import load_design
    from cobandit.web import serving
    from cobandit.web.operations.logs import log_as_json, log_event
    from cobandit.web.storage.database import Database

    operations = operation.checked()
    workers, port = server.workers, server.port
    if workers > 1 and Database(database).sqlite:
        raise InvalidInput(
            f"{workers} workers were asked for, and SQLite has one writer: use one, or --database postgresql://..."
        )
    config = _config(database, server, robot)
    _check_robot(config, workers)
    schedule = backup_schedule(database, backups)
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
        password=password_given(login.password, login.password_file),
        seed=seed,
        consent_elsewhere=config.consent_elsewhere,
    )
    for warning in serving.durability_warnings(database):
        say(f"Warning: {warning}")
    listening = serving.bound_socket(server.host, port)
    tell = say
    if operations.log == "json":
        tell = partial(log_event, "start")
        log_as_json()
    _greet(ready, config, serving.address_of(listening), tell)
    serving.serve(config, listening, workers, schedule, operations=operations)
    (say if tell is say else partial(log_event, "stop"))("Stopped; everything is stored.")


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
        root_path=server.root_path or "",
        robot=robot.robot,
        robot_url=robot.robot_url,
        robot_arm=None if robot.robot_arm is None else str(robot.robot_arm.resolve()),
        robot_speed=robot.robot_speed,
        robot_skin=robot.robot_skin,
    )


def backup_schedule(database: str, options: BackupOptions) -> BackupSchedule | None:
    """Return the schedule of regular backups, or None without a folder for them."""
    from cobandit.web.schedule import BackupSchedule

    seconds = parsing.seconds("every", options.every)
    if options.backup is None:
        if (options.every, options.keep) != (EVERY, KEEP):
            raise InvalidInput("--every and --keep require --backup DIR.")
        return None
    return BackupSchedule(database, options.backup, seconds, options.keep)


def _check_robot(config: WebConfig, workers: int) -> None:
    """Refuse a robot that is not available before the server starts."""
    from cobandit.robot import make_arm
    from cobandit.robot.scene.description import require_skin

    if require_skin(config.robot_skin) != "own" and config.robot != "simulated":
        raise InvalidInput(f"--robot-skin requires --robot simulated, but --robot is {config.robot!r}.")
    if config.robot in NO_ARM:
        for option, value in (("--robot-url", config.robot_url), ("--robot-arm", config.robot_arm)):
            if value is not None:
                raise InvalidInput(f"{option} requires --robot rosbridge, but --robot is {config.robot!r}.")
        return
    if workers > 1:
        raise InvalidInput(f"{workers} workers were asked for, and one process drives the arm: use one.")
    make_arm(config.robot, config.robot_url, config.robot_speed, model=config.robot_arm)


def _greet(ready: Ready, config: WebConfig, local: str, tell: Callable[[str], None]) -> None:
    """Print the addresses of the pages."""
    from cobandit.report.kit.assets import missing_libraries
    from cobandit.web.services.admission import unready
    from cobandit.web.storage.database import Database

    address = (config.public_url or local + config.root_path).rstrip("/")
    tell(f"cobandit studies at {address}")
    for study, state in zip(ready.studies, ready.states, strict=True):
        places = "" if state.taken is None else f", {state.taken} of {study.quota} places taken"
        hint = HINTS.get(state.code, "").format(f"{config.root_path}/admin")
        word = f"  ({state.word.lower()}{places}{hint})" if state.code != "open" or places else ""
        tell(f"  {study.design.title}: {address}/s/{study.name}{word}")
        if config.demo:
            tell(f"    to try it:   {address}/s/{study.name}?demo=1")
    tell(f"  Researcher:  {address}/admin")
    if config.docs is not None:
        tell(f"  Docs:        {address}/docs")
    if config.robot not in NO_ARM:
        tell(f"  Robot:       {address}/admin/robot")
    if ready.new_password is not None:
        tell(f"  Password:    {password_notice(ready.new_password, tell is say)}")
    tell(f"  Data in      {Database(config.database).name}")
    sentence = None if config.consent_elsewhere else unready(*(study.design for study in ready.studies))
    if sentence is not None:
        tell(f"Attention: {sentence}")
    if missing := missing_libraries():
        tell(f"Third-party scripts are not installed ({', '.join(missing)}): pages show films and static charts.")
    tell("Stop with Ctrl-C.")
