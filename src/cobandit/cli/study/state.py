"""``cobandit study state``: show or change who may begin a stored study, also while a server runs."""

from __future__ import annotations

from typing import Annotated

import typer

from cobandit.base.extras import require_extras
from cobandit.cli import output
from cobandit.cli.declare import integer_option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import (
    DATABASE,
    DatabaseUrl,
    StudyArgument,
    Version,
    existing_database,
    stored_study,
)

WORDS = {
    "open": "open: all visitors may begin, with the open link or a personal one",
    "invite-only": "by invitation: personal links work, the open link does not",
    "full": "full: {taken} of {quota} places are taken",
    "closed": "closed: no new participants",
    "not-ready": "not ready: replace the placeholder consent first (set to {state})",
}
"""Description of each state, by its code."""

WITH_QUOTA = "open: {taken} of {quota} places are taken"


@with_option_groups
def state(
    study: StudyArgument,
    wanted: Annotated[
        str | None,
        typer.Argument(
            metavar="[open|invite-only|quota|closed]",
            help="New state (default: show the present one)",
            show_default=False,
        ),
    ] = None,
    quota: Annotated[
        int | None, integer_option("quota", 1, "With the state quota: maximal number of participants", high=1_000_000)
    ] = None,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Show or change who may begin a study.

    A running server applies the change immediately. Participants who have begun can always finish.
    """
    require_extras("Opening and closing studies", web=True)
    from cobandit.base.errors import InvalidInput, UnknownName
    from cobandit.web.services.admission import (
        availability,
        checked_state,
        seats_taken,
        stored_consent_elsewhere,
    )
    from cobandit.web.services.studies import record_state
    from cobandit.web.storage.audit import command_line
    from cobandit.web.storage.studies import STATES, set_state

    if wanted is None and quota is not None:
        raise InvalidInput("--quota requires the state quota: cobandit study state STUDY quota --quota N.")
    if wanted is not None and wanted not in STATES:
        raise UnknownName("state of a study called", wanted, STATES)
    if wanted is not None:
        checked_state(wanted, quota)
    with existing_database(database) as opened:
        stored = stored_study(opened, study, version)
        if wanted is not None:
            with opened.write() as connection:
                set_state(connection, stored.id, wanted, quota)
                record_state(connection, command_line(), stored, wanted, quota)
            stored = stored_study(opened, study, stored.design.version)
        with opened.read() as connection:
            taken = seats_taken(connection, stored)
            elsewhere = stored_consent_elsewhere(connection)
            current = availability(connection, stored, consent_elsewhere=elsewhere)
    if form.as_json:
        row = {"study": stored.name, "version": stored.design.version, "state": stored.state, "quota": stored.quota}
        output.print_json(row | {"taken": taken, "availability": current.to_dict()})
        return
    words = WITH_QUOTA if current.code == "open" and stored.quota is not None else WORDS[current.code]
    sentence = words.format(quota=stored.quota, taken=taken, state=stored.state)
    say(f"{stored.name}, version {stored.design.version}: {sentence}.")
