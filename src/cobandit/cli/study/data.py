"""``cobandit study list``, ``export``, ``verify`` and ``delete-participant``: the data of stored studies."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_folder, make_folder
from cobandit.base.json_types import JsonObject
from cobandit.cli import output
from cobandit.cli.declare import flag, option
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
    from cobandit.studies.data import StudyData, StudyParts
    from cobandit.web.storage.database import Database

KINDS = ("real", "rehearsal")
DIFFERENT = 1  # exit code if verification finds a difference


@with_option_groups
def list_studies(database: DatabaseUrl = DATABASE, form: TextOrJson = TextOrJson()) -> None:
    """List the stored studies and their participants."""
    require_extras("Listing studies", web=True)
    with existing_database(database) as opened:
        rows = _listing(opened)
    if form.as_json:
        output.print_json({"studies": rows})
        return
    removed = ["removed"] if any(row["removed"] for row in rows) else []
    counted = ["finished", "active", "dropped", *removed, "invited", "rehearsals"]
    shown = output.table("study", "version", "state", *counted, first="left")
    for row in rows:
        counts = [str(row[key]) for key in counted]
        state = row["availability"]["word"].lower()
        if row["quota"] is not None:
            state += f" ({row['availability']['taken']} of {row['quota']})"
        shown.add_row(row["name"], str(row["version"]), state, *counts)
    output.console().print(shown)


def _listing(database: Database) -> list[JsonObject]:
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
    out: Annotated[Path | None, option("DIR", "Folder for the export (default: out/STUDY)", THE_OUTPUT)] = None,
    format: Annotated[
        str, option("csv|parquet|psych-ds|sav", "File format; psych-ds and sav are for R and SPSS", THE_OUTPUT)
    ] = "csv",
    kind: Annotated[str, option("real|rehearsal", "Real or simulated participants", THE_OUTPUT)] = "real",
    recruiting: Annotated[
        bool, flag("--recruiting", "Include ids of the recruiting service (personal data)", THE_OUTPUT)
    ] = False,
    texts: Annotated[bool, flag("--texts", "Include free texts (may be personal data)", THE_OUTPUT)] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    url: Url = None,
    password: Password = None,
    password_file: PasswordFile = None,
) -> None:
    """Export the data of a study.

    The tables are long, wide, survey, events and questionnaires, with a codebook.

    Ids are pseudonyms. Real data never contain rehearsals or demos.
    """
    # The table of formats needs NumPy. The extras are named here, so that missing ones are reported before any import.
    here = format == "parquet" and url is None  # a server sends finished Parquet files
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
            chosen: dict[str, Any] = {"kind": kind, "recruiting": recruiting, "texts": texts, "version": version}
            files = researcher.export(study, into, format=sent, **chosen)
            if derived:
                from cobandit.studies.export import read_export, write_psych_ds, write_sav

                files = (write_sav if format == "sav" else write_psych_ds)(*read_export(into)[:2], folder)
    else:
        wanted: dict[str, Any] = {"format": format, "kind": kind, "recruiting": recruiting, "texts": texts}
        files = _export_stored(database, study, version, folder, **wanted)
    for file in files:
        output.console().print(str(file))


def _export_stored(
    database: str,
    study: str,
    version: int | None,
    folder: Path,
    *,
    format: str,
    kind: str,
    recruiting: bool,
    texts: bool,
) -> list[Path]:
    """Write the data of a study in a database; tables are read and written in parts, so that memory stays flat."""
    from cobandit.cli.progress import counting
    from cobandit.studies.export import write_study
    from cobandit.web.storage.study_data import study_parts

    with existing_database(database) as opened:
        stored = stored_study(opened, study, version)
        details: JsonObject = {"texts": True} if texts else {}
        _record(opened, "export", study, version, format=format, kind=kind, recruiting=recruiting, **details)
        with opened.read() as connection:
            parts = study_parts(connection, stored, kind)
            if not parts.count:
                say(f"{study!r} has no participants yet ({kind}); the tables are empty.")
            make_folder(folder.parent)
            with counting("exporting", "people") as progress:
                counted = replace(parts, parts=_counted(parts, progress))
                return write_study(counted, folder, format, recruiting=recruiting, texts=texts)


def _counted(study: StudyParts, progress: Callable[[int, int], None] | None) -> Iterator[StudyData]:
    """Yield the parts of a study, and report after each how many people have been written."""
    done = 0
    for part in study.parts:
        yield part
        done += len(part.participants)
        if progress is not None:
            progress(done, study.count)


def _data(
    database: Database, study: str, version: int | None, *kinds: str, participant: str | None = None
) -> StudyData:
    from cobandit.web.storage.study_data import study_data

    stored = stored_study(database, study, version)
    with database.read() as connection:
        return study_data(connection, stored, *kinds, participant=participant)


def _record(database: Database, action: str, study: str, version: int | None, **details: Any) -> None:
    """Record an action of the command line in the audit log."""
    from cobandit.web.storage.audit import command_line, record

    label = stored_study(database, study, version).label
    with database.write() as connection:
        record(connection, command_line(), action, label, **details)


@with_option_groups
def verify(
    study: StudyArgument,
    participant: Annotated[str | None, option("ID", "One participant (default: all)")] = None,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    log_hash: Annotated[str | None, option("HASH", "Known hash that the audit log must still contain")] = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Verify the stored data of a study.

    Compute every AI move, every reward and every hash again, and report any difference. The chain of the audit log is
    verified, too. The exit code is 1 if there is a difference.
    """
    require_extras("Verifying a study", web=True)
    from cobandit.cli.progress import counting
    from cobandit.studies.verify import count_moves, verify_study

    with existing_database(database) as opened:
        data = _data(opened, study, version, "real", "rehearsal", "demo", participant=participant)
        log = audit_of(opened, log_hash)
    if participant is not None and not data.participants:
        raise InvalidInput(f"There is no participant {participant!r} in the study {study!r}.")
    with counting("verifying", "people") as progress:
        differences = verify_study(data, progress)
    episodes = [episode for person in data.participants for episode in person.episodes.values()]
    rounds = sum(len(episode) for episode in episodes)
    # With one person in each team, everything but that person's arms is recomputed: a count would say nothing new.
    moves = count_moves(data) if any(episode.by for episode in episodes) else None
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
        counts |= {} if moves is None else {"recomputed_moves": moves.recomputed, "recorded_moves": moves.recorded}
        output.print_json(counts | {"differences": rows, "audit_log": log.to_dict()})
    else:
        for person, difference in differences:
            output.console().print(f"{person}: {difference}")
        people = _count(len(data.participants), "participant")
        verdict = _count(len(differences), "difference") if differences else "no difference"
        output.console().print(f"{people}, {_count(rounds, 'round')}: {verdict}.")
        if moves is not None:
            output.console().print(f"{moves}.")
        log.print()
    if differences or log.differences:
        raise typer.Exit(DIFFERENT)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def delete_participant(
    study: StudyArgument,
    participant: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Pseudonym, such as p-7k3m9q2x", show_default=False)
    ] = None,
    rehearsals: Annotated[bool, flag("--rehearsals", "All simulated participants instead of one")] = False,
    yes: Annotated[bool, flag("--yes", "No question before deleting")] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
) -> None:
    """Delete one participant's data for good.

    Rounds, answers, events and ids are deleted. This cannot be undone. Of a member of a team, the arms of the rounds
    that the team played together stay, without anything that leads to the person.
    """
    require_extras("Deleting participants", web=True)
    if (participant is None) == (not rehearsals):
        raise InvalidInput("Name one participant, or give --rehearsals for all simulated ones.")
    with existing_database(database) as opened:
        from cobandit.web.storage import participants
        from cobandit.web.storage.audit import command_line, participant_mark, record
        from cobandit.web.storage.team_moves import delete_person
        from cobandit.web.storage.values import now_ms

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
            delete_person(connection, number, participant, now_ms())
            details = {
                "participant": participant_mark(connection, participant),
                "kind": person.kind,
                "rounds": rounds,
                "answers": len(person.answers),
            }
            record(connection, command_line(), "participant-deleted", stored.label, **details)
        opened.forget_patiently()
    say(f"Deleted {what}.")
