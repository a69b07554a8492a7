"""Parameters that the study commands share: database, study, version, password."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.cli.formats import THE_OUTPUT as THE_OUTPUT
from cobandit.cli.options import integer_option

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
    typer.Option(
        "--database",
        metavar="URL",
        envvar="COBANDIT_DATABASE",
        help="Database URL, sqlite:///FILE or postgresql://USER@HOST/NAME",
        show_envvar=False,
        rich_help_panel=THE_STORE,
    ),
]
Version = Annotated[int | None, integer_option("version", 1, "Version of the study (default: the newest)", THE_STORE)]
Password = Annotated[
    str | None,
    typer.Option(
        metavar="WORD",
        help=f"Password; safer: a file, or {PASSWORD_VARIABLE}",
        rich_help_panel=THE_LOGIN,
    ),
]
PasswordFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File whose first line is the password", rich_help_panel=THE_LOGIN)
]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Running server to use instead of a database", rich_help_panel=THE_STORE),
]


def password_given(word: str | None, file: Path | None) -> str | None:
    """Return the password from the option, the file or the environment, or None."""
    if word is not None and file is not None:
        raise InvalidInput("--password and --password-file were both given; one is enough.")
    if word is not None:
        return word
    if file is not None:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"The password file {str(file)!r} cannot be read.") from error
        if not lines or not lines[0].strip():
            raise InvalidInput(f"The password file {str(file)!r} has no first line.")
        return lines[0].strip()
    return os.environ.get(PASSWORD_VARIABLE) or None


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
