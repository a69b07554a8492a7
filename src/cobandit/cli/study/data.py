"""``cobandit study list``, ``export``, ``verify`` and ``delete-participant``: the data of stored studies."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_folder, make_folder
from cobandit.cli import output
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.audit import audit_of
from cobandit.cli.study.common import (
    DATABASE,
    THE_OUTPUT,
    DatabaseUrl,
    Password,
    PasswordFile,
    StudyArgument,
    Url,
    Version,
    existing_database,
    password_given,
    stored_study,
)

if TYPE_CHECKING:
    from cobandit.studies.data import StudyData
    from cobandit.web.storage.database import Database

KINDS = ("real", "rehearsal")
DIFFERENT = 1  # the exit code of a study that is not what it says


@with_option_groups
def list_studies(database: DatabaseUrl = DATABASE, form: TextOrJson = TextOrJson()) -> None:
    """List the stored studies and their participants."""
    require_extras("Listing studies", web=True)
    with existing_database(database) as opened:
        rows = _listing(opened)
    if form.as_json:
        output.print_json({"studies": rows})
        return
    shown = output.table(
        "study", "version", "state", "finished", "active", "dropped", "invited", "rehearsals", first="left"
    )
    for row in rows:
        counts = [str(row[key]) for key in ("finished", "active", "dropped", "invited", "rehearsals")]
        state = row["availability"]["word"].lower()
        if row["quota"] is not None:
            state += f" ({row['availability']['taken']} of {row['quota']})"
        shown.add_row(row["name"], str(row["version"]), state, *counts)
    output.console().print(shown)


def _listing(database: Database) -> list[dict[str, Any]]:
    from cobandit.web.services.admission import stored_consent_elsewhere
    from cobandit.web.services.studies import availability_fields
    from cobandit.web.storage.studies import all_studies
    from cobandit.web.storage.study_data import census

    with database.read() as connection:
        elsewhere = stored_consent_elsewhere(connection)
        return [
            {
                "name": study.name,
                "version": study.design.version,
                "title": study.design.title,
                "digest": study.design.digest,
                "state": study.state,
                "quota": study.quota,
                **availability_fields(connection, study, elsewhere),
                **census(connection, study),
            }
            for study in all_studies(connection)
        ]


def export(
    study: StudyArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder to fill (out/STUDY, if not given).", rich_help_panel=THE_OUTPUT),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            metavar="csv|parquet|psych-ds|sav",
            help="The kind of files; psych-ds (with an R script) and sav (SPSS) are for statistics programs.",
            rich_help_panel=THE_OUTPUT,
        ),
    ] = "csv",
    kind: Annotated[
        str,
        typer.Option(metavar="real|rehearsal", help="People, or simulated ones.", rich_help_panel=THE_OUTPUT),
    ] = "real",
    recruiting: Annotated[
        bool,
        typer.Option(
            "--recruiting", help="Add the ids of the recruiting service: personal data.", rich_help_panel=THE_OUTPUT
        ),
    ] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    url: Url = None,
    password: Password = None,
    password_file: PasswordFile = None,
) -> None:
    """Export the data of a study.

    The tables are long, wide, survey and events, with a codebook.

    Ids are pseudonyms; rehearsals and demos are never among real data.
    """
    # The table of formats needs NumPy, so the extras are named here: they are refused before anything is imported.
    here = format == "parquet" and url is None  # a server sends Parquet files ready-made
    require_extras("Exporting a study", web=True, parquet=here, spss=format == "sav")
    from cobandit.studies.export import EXPORT_FORMATS

    if format not in EXPORT_FORMATS:
        raise UnknownName("format", format, tuple(EXPORT_FORMATS))
    derived = EXPORT_FORMATS[format].derived
    if kind not in KINDS:
        raise UnknownName("kind of participants called", kind, KINDS)
    folder = Path("out") / (study if kind == "real" else f"{study}-{kind}") if out is None else out
    checked_folder(folder)
    if url is not None:
        from cobandit.web.clients.researcher import Researcher

        sent = "csv" if derived else format
        with (
            Researcher(url, password_given(password, password_file)) as researcher,
            tempfile.TemporaryDirectory() as scratch,
        ):
            into = Path(scratch) / "export" if derived else folder
            files = researcher.export(study, into, format=sent, kind=kind, recruiting=recruiting, version=version)
            if derived:
                from cobandit.studies.export import read_export, write_psych_ds, write_sav

                files = (write_sav if format == "sav" else write_psych_ds)(*read_export(into)[:2], folder)
    else:
        files = _export_stored(database, study, version, folder, format=format, kind=kind, recruiting=recruiting)
    for file in files:
        output.console().print(str(file))


def _export_stored(
    database: str, study: str, version: int | None, folder: Path, *, format: str, kind: str, recruiting: bool
) -> list[Path]:
    """Write the data of a study in a database; tables are read and written in parts, so that memory stays flat."""
    from cobandit.studies.export import write_study
    from cobandit.web.storage.study_data import study_parts

    with existing_database(database) as opened:
        stored = stored_study(opened, study, version)
        _record(opened, "export", study, version, format=format, kind=kind, recruiting=recruiting)
        with opened.read() as connection:
            parts = study_parts(connection, stored, kind)
            if not parts.count:
                say(f"Nobody has taken part in {study!r} yet ({kind}); the tables are empty.")
            make_folder(folder.parent)
            return write_study(parts, folder, format, recruiting=recruiting)


def _data(
    database: Database, study: str, version: int | None, *kinds: str, participant: str | None = None
) -> StudyData:
    from cobandit.web.storage.study_data import study_data

    stored = stored_study(database, study, version)
    with database.read() as connection:
        return study_data(connection, stored, *kinds, participant=participant)


def _record(database: Database, action: str, study: str, version: int | None, **details: Any) -> None:
    """Write down what is done at the command line."""
    from cobandit.web.storage.audit import command_line, record

    label = stored_study(database, study, version).label
    with database.write() as connection:
        record(connection, command_line(), action, label, **details)


@with_option_groups
def verify(
    study: StudyArgument,
    participant: Annotated[
        str | None, typer.Option(metavar="ID", help="One participant (everybody, if not given).")
    ] = None,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    log_hash: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="A hash of the audit log, kept elsewhere, that must still be in it."),
    ] = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Verify the stored data of a study.

    Compute every AI move, every reward and every hash again, and report any difference.

    So is the chain of the audit log. The exit code is 1 where there is a difference.
    """
    require_extras("Verifying a study", web=True)
    from cobandit.studies.verify import verify_study

    with existing_database(database) as opened:
        data = _data(opened, study, version, "real", "rehearsal", "demo", participant=participant)
        log = audit_of(opened, log_hash)
    if participant is not None and not data.participants:
        raise InvalidInput(f"There is no participant {participant!r} in the study {study!r}.")
    differences = verify_study(data)
    rounds = sum(len(episode) for person in data.participants for episode in person.episodes.values())
    if form.as_json:
        rows = [
            {
                "participant": person,
                "episode": d.episode,
                "t": d.t,
                "field": d.field,
                "stored": d.stored,
                "recomputed": d.recomputed,
            }
            for person, d in differences
        ]
        counts = {"participants": len(data.participants), "rounds": rounds}
        output.print_json(counts | {"differences": rows, "audit_log": log.to_dict()})
    else:
        for person, difference in differences:
            output.console().print(f"{person}: {difference}")
        people = _count(len(data.participants), "participant")
        verdict = _count(len(differences), "difference") if differences else "no difference"
        output.console().print(f"{people}, {_count(rounds, 'round')}: {verdict}.")
        log.print()
    if differences or log.differences:
        raise typer.Exit(DIFFERENT)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def delete_participant(
    study: StudyArgument,
    participant: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The pseudonym, such as p-7k3m9q2x.", show_default=False)
    ] = None,
    rehearsals: Annotated[bool, typer.Option("--rehearsals", help="All simulated ones, in place of one.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
) -> None:
    """Delete one participant's data for good.

    Rounds, answers, events and ids are deleted. This cannot be undone.
    """
    require_extras("Deleting participants", web=True)
    if (participant is None) == (not rehearsals):
        raise InvalidInput("Name one participant, or give --rehearsals for all simulated ones.")
    with existing_database(database) as opened:
        from cobandit.web.storage import participants
        from cobandit.web.storage.audit import command_line, participant_mark, record

        stored = stored_study(opened, study, version)
        number = stored.id
        if participant is None:
            if not yes and not typer.confirm(f"Delete all simulated participants of {study!r}?", err=True):
                say("Nothing was deleted.")
                return
            with opened.write() as connection:
                gone = participants.delete_rehearsals(connection, number)
                record(connection, command_line(), "rehearsals-deleted", stored.label, participants=gone)
            opened.forget_patiently()
            say(f"Deleted {_count(gone, 'simulated participant')}.")
            return
        data = _data(opened, study, version, participant=participant)
        if not data.participants:
            raise InvalidInput(f"There is no participant {participant!r} in the study {study!r}.")
        person = data.participants[0]
        rounds = sum(len(episode) for episode in person.episodes.values())
        contents = f"{_count(rounds, 'round')}, {_count(len(person.answers), 'answer')}"
        what = f"{participant} ({person.kind}, {person.status}): {contents}"
        if not yes and not typer.confirm(f"Delete {what}, for good?", err=True):
            say("Nothing was deleted.")
            return
        with opened.write() as connection:
            participants.delete_participant(connection, number, participant)
            details = {
                "participant": participant_mark(connection, participant),
                "kind": person.kind,
                "rounds": rounds,
                "answers": len(person.answers),
            }
            record(connection, command_line(), "participant-deleted", stored.label, **details)
        opened.forget_patiently()
    say(f"Deleted {what}.")
