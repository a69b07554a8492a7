"""``cobandit study plan``: write and store the analysis plan before the first participant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import installed, require_extras
from cobandit.cli import completion
from cobandit.cli.declare import flag, integer_option, option
from cobandit.cli.door import say
from cobandit.cli.study.common import (
    DATABASE,
    THE_OUTPUT,
    THE_STORE,
    DatabaseUrl,
    Version,
    existing_database,
    stored_study,
)

if TYPE_CHECKING:
    from cobandit.studies import StudyDesign


def plan(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="Stored study, or a design: burger, casino, FILE.toml",
            autocompletion=completion.designs,
        ),
    ],
    out: Annotated[Path | None, option("FILE.toml", "File to write (default: STUDY-plan.toml)", THE_OUTPUT)] = None,
    n: Annotated[int | None, integer_option("n", 2, "Planned number of participants", THE_OUTPUT)] = None,
    form: Annotated[
        str | None, option("osf|aspredicted", "Text of a preregistration instead of a TOML file", THE_OUTPUT)
    ] = None,
    store: Annotated[Path | None, option("FILE.toml", "Plan to store with the study", THE_STORE, "--set")] = None,
    late: Annotated[bool, flag("--late", "Store the plan late; all results become exploratory", THE_STORE)] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
) -> None:
    """Write an analysis plan, or store one.

    A plan contains hypotheses, tests, exclusions, alpha and n. Edit it, then store it with the study.

    The file starts with the paper's hypotheses for the design, or is the plan that is already stored. If the plan is
    stored before the first participant, its SHA-256 is fixed when that person gives consent. Such a plan is never
    replaced.
    """
    require_extras("A stored study", web=store is not None or version is not None or _database_named(database))
    if store is not None:
        if out is not None or n is not None or form is not None:
            raise InvalidInput("--set stores a file as it is; --out, --n and --form are for writing one.")
        _store(study, store, late, database, version)
        return
    if late:
        raise InvalidInput("--late requires --set FILE.toml.")
    from cobandit.analysis import default_plan, parse_plan, plan_toml, preregistration
    from cobandit.base.files import save_new_text

    design, text = _known(study, database, version)
    if text is None:
        text = plan_toml(default_plan(design, n))
    elif n is not None:
        raise InvalidInput(f"The study {design.name!r} has a plan already, which says its own n; --n is for a new one.")
    if form is not None:
        path = Path(f"{design.name}-{form}.md") if out is None else out
        save_new_text(path, preregistration(design, parse_plan(text), form))
        say(f"Wrote {path}. Fill in the texts in square brackets.")
        return
    path = Path(f"{design.name}-plan.toml") if out is None else out
    save_new_text(path, text)
    _warn_of_teams(design, text)
    say(f"Wrote {path}. Edit it, then, before anybody takes part:")
    say(f"  cobandit study plan {study} --set {path}")


def _warn_of_teams(design: StudyDesign, text: str) -> None:
    """Print where a plan would count people of one team as independent."""
    from cobandit.analysis import parse_plan
    from cobandit.analysis.teams import team_warnings

    for warning in team_warnings(design, parse_plan(text)):
        say(f"warning: {warning}")


def _known(study: str, database: str, version: int | None) -> tuple[StudyDesign, str | None]:
    """Return the design and its stored plan, from the database if it contains the study."""
    if not installed("web"):  # without the web extra, there is no database
        return _design(study), None
    try:
        with existing_database(database) as opened:
            stored = stored_study(opened, study, version)
            return stored.design, stored.plan
    except UnknownName:
        if version is not None:
            raise
    except InvalidInput:
        pass  # no database; a design does not need one
    return _design(study), None


def _database_named(url: str) -> bool:
    """Return whether there may be stored studies: the URL is not the default, or its file exists."""
    return url != DATABASE or Path(DATABASE.removeprefix("sqlite:///")).is_file()


def _design(study: str) -> StudyDesign:
    from cobandit.studies import load_design

    try:
        return load_design(study)
    except UnknownName as error:
        raise InvalidInput(f"There is no stored study {study!r}, nor a design. {error}") from error


def _store(study: str, file: Path, late: bool, database: str, version: int | None) -> None:
    from cobandit.analysis import parse_plan, read_plan_text
    from cobandit.web.services.registration import register_study, set_plan
    from cobandit.web.storage.database import Database
    from cobandit.web.storage.studies import find_study

    text = read_plan_text(file)
    opened = Database(database)
    try:
        opened.migrate()
        with opened.read() as connection:
            known = find_study(connection, study)
        if known is None and version is None:
            design = _design(study)
            parse_plan(text, repr(str(file))).checked(design)
            with opened.write() as connection:
                number = register_study(connection, design).id
        else:
            stored = stored_study(opened, study, version)
            number, design = stored.id, stored.design
        with opened.write() as connection:
            digest = set_plan(connection, number, text, late=late)
    finally:
        opened.close()
    say(f"Stored the plan with {study!r} in {opened.name}.")
    say(f"Its SHA-256 is {digest}.")
    _warn_of_teams(design, text)
