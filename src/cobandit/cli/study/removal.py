"""``cobandit study remove-participant`` and ``restore-participant``: leave a participant out without deleting data."""

from __future__ import annotations

from typing import Annotated

import typer

from cobandit.base.extras import require_extras
from cobandit.cli.declare import option
from cobandit.cli.door import say
from cobandit.cli.study.common import DATABASE, DatabaseUrl, StudyArgument, Version, existing_database, stored_study

ParticipantId = Annotated[str, typer.Argument(metavar="ID", help="Pseudonym, such as p-7k3m9q2x", show_default=False)]


def remove_participant(
    study: StudyArgument,
    participant: ParticipantId,
    reason: Annotated[str, option("TEXT", "Why; the report prints it", None, "--reason", show_default=False)],
    database: DatabaseUrl = DATABASE,
    version: Version = None,
) -> None:
    """Leave a participant out, and keep the data.

    Every analysis leaves the participant out and prints the reason, and the place becomes free. The participant notices
    nothing and is paid like the others. `cobandit study restore-participant` undoes it; the audit log notes both.
    """
    require_extras("Removing participants", web=True)
    with existing_database(database) as opened:
        from cobandit.web.services.removal import store_removal
        from cobandit.web.storage.audit import command_line

        stored = stored_study(opened, study, version)
        with opened.write() as connection:
            store_removal(connection, stored.id, participant, reason, command_line())
    say(f"Removed {participant} from {stored.label}; the data stay, and the place is free.")


def restore_participant(
    study: StudyArgument, participant: ParticipantId, database: DatabaseUrl = DATABASE, version: Version = None
) -> None:
    """Take a removed participant back into the study."""
    require_extras("Restoring participants", web=True)
    with existing_database(database) as opened:
        from cobandit.web.services.removal import store_return
        from cobandit.web.storage.audit import command_line

        stored = stored_study(opened, study, version)
        with opened.write() as connection:
            store_return(connection, stored.id, participant, command_line())
    say(f"{participant} counts again in {stored.label}.")
