"""Parameters that the study commands share: database, study, version, password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.cli.declare import integer_option, option
from cobandit.cli.formats import THE_OUTPUT as THE_OUTPUT
from cobandit.cli.operations import secret_given

if TYPE_CHECKING:
    from cobandit.web.storage.database import Database
    from cobandit.web.storage.studies import Study

DATABASE = "sqlite:///studies.sqlite"
PASSWORD_VARIABLE = "COBANDIT_PASSWORD"

THE_STORE = "Where it is stored"
THE_LOGIN = "The researcher's password"
THE_SERVER = "The server"

StudyArgument = Annotated[str, typer.Argument(metavar="STUDY", help="Name of a stored study")]
DatabaseUrl = Annotated[
    str,
    option(
        "URL",
        "Database URL, sqlite:///FILE or postgresql://USER@HOST/NAME",
        THE_STORE,
        "--database",
        envvar="COBANDIT_DATABASE",
        show_envvar=False,
    ),
]
Version = Annotated[int | None, integer_option("version", 1, "Version of the study (default: the newest)", THE_STORE)]
Password = Annotated[str | None, option("WORD", f"Password; safer: a file, or {PASSWORD_VARIABLE}", THE_LOGIN)]
PasswordFile = Annotated[Path | None, option("FILE", "File whose first line is the password", THE_LOGIN)]
Url = Annotated[str | None, option("URL", "Running server to use instead of a database", THE_STORE)]


@dataclass(frozen=True)
class AddressOptions:
    """Address and processes of a server."""

    host: Annotated[str, option("ADDRESS", "Address to listen on; 0.0.0.0 for all", THE_SERVER)] = "127.0.0.1"
    port: Annotated[int, integer_option("port", 0, "Port; 0 takes a free one", THE_SERVER, high=65535)] = 8000
    workers: Annotated[
        int, integer_option("workers", 1, "Worker processes; more than one needs PostgreSQL", THE_SERVER, high=64)
    ] = 1
    public_url: Annotated[str | None, option("URL", "Public address of the server", THE_SERVER)] = None
    root_path: Annotated[
        str | None, option("PATH", "URL path of the server behind a proxy, such as /lab", THE_SERVER)
    ] = None


def password_given(word: str | None, file: Path | None) -> str | None:
    """Return the password from the option, the file or the environment, or None."""
    if word is not None and file is not None:
        raise InvalidInput("--password and --password-file were both given; one is enough.")
    if word is not None:
        return word
    return secret_given(file, PASSWORD_VARIABLE, "password file")


@contextmanager
def existing_database(url: str, creator: str = "a study with `cobandit study serve") -> Iterator[Database]:
    """Open an existing database. A missing database is an error and is not created; ``creator`` would create it."""
    from cobandit.web.storage.database import Database

    database = Database(url)
    try:
        if database.sqlite and not Path(str(database.url.database)).is_file():
            raise InvalidInput(
                f"There is no database {str(database.url.database)!r}. Give --database, or start {creator}`."
            )
        database.migrate()
        yield database
    finally:
        database.close()


def stored_study(database: Database, name: str, version: int | None) -> Study:
    """Return the study of a name, in its newest version unless one is named."""
    from cobandit.web.storage.studies import all_studies, find_study

    with database.read() as connection:
        stored = find_study(connection, name, version)
        if stored is not None:
            return stored
        known = all_studies(connection)
    if not known:
        raise InvalidInput(f"There is no study in the database {database.name} yet.")
    if version is not None and name in {study.name for study in known}:
        versions = [str(study.design.version) for study in known if study.name == name]
        raise UnknownName(f"version of {name!r} called", str(version), versions)
    raise UnknownName("stored study", name, dict.fromkeys(study.name for study in known))
