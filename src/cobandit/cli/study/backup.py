"""``cobandit study backup`` and ``restore``: copy a database, also while a server runs, and restore it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from cobandit.base.extras import require_extras
from cobandit.cli import output
from cobandit.cli.declare import flag, integer_option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, DatabaseUrl, existing_database

DIFFERENT = 1


@with_option_groups
def backup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for backups", show_default=False)],
    keep: Annotated[
        int | None, integer_option("keep", 1, "Number of backups to keep in the folder (default: all)")
    ] = None,
    database: DatabaseUrl = DATABASE,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Back up a database, also while its server runs.

    The copy is verified.

    The exit code is 1 if verification finds differences; the copy is kept anyway.
    """
    require_extras("Backing up studies", web=True)
    from cobandit.cli.progress import working
    from cobandit.web.schedule import SCHEDULED
    from cobandit.web.services.backup import MOST_PROBLEMS, back_up

    with existing_database(database) as opened, working("copying and verifying"):
        result = back_up(opened, folder, keep, scheduled=SCHEDULED in os.environ)
    if form.as_json:
        deleted = [str(path) for path in result.deleted]
        output.print_json({"backup": str(result.path), "problems": list(result.checked.problems), "deleted": deleted})
    else:
        output.console().print(str(result.path), soft_wrap=True)
    for problem in result.checked.problems[:MOST_PROBLEMS]:
        say(problem)
    say(str(result.checked))
    if result.deleted:
        say(f"Deleted {len(result.deleted)} older backup{'' if len(result.deleted) == 1 else 's'}.")
    if result.checked.problems:
        raise typer.Exit(DIFFERENT)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file", show_default=False)],
    overwrite: Annotated[bool, flag("--overwrite", "Replace an existing database")] = False,
    despite_differences: Annotated[
        bool, flag("--despite-differences", "Restore even if verification finds differences")
    ] = False,
    database: DatabaseUrl = DATABASE,
) -> None:
    """Restore a database from a backup.

    The backup is verified first. It replaces the SQLite or PostgreSQL database; stop the server before.
    """
    require_extras("Restoring studies", web=True)
    from cobandit.cli.progress import working
    from cobandit.web.services.backup import restore as put_back
    from cobandit.web.storage.database import Database

    opened = Database(database)
    try:
        with working("verifying and restoring"):
            checked = put_back(file, opened, overwrite=overwrite, despite=despite_differences)
    finally:
        opened.close()
    say(f"Restored {file} to {opened.name}: {checked}")
