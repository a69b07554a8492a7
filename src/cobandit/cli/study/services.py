"""``cobandit study services``: what language models and policies in the seats of a study did and cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cobandit.base.extras import require_extras
from cobandit.base.files import save_text
from cobandit.base.json_types import JsonObject
from cobandit.cli import output
from cobandit.cli.declare import option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, DatabaseUrl, StudyArgument, Version, existing_database, stored_study


@with_option_groups
def services(
    study: StudyArgument,
    records: Annotated[Path | None, option("FILE.jsonl", "Write all requests and replies to this file.")] = None,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Sum up moves, calls, tokens and costs of services.

    It also works while a server runs. Exports leave out the requests and replies of services; --records writes them,
    one move per line, and the audit log notes it.
    """
    require_extras("Reading stored studies", web=True)
    from cobandit.web.services.service_totals import listed, summed
    from cobandit.web.storage.audit import command_line, record
    from cobandit.web.storage.service_records import service_records

    with existing_database(database) as opened:
        stored = stored_study(opened, study, version)
        with opened.read() as connection:
            rows = list(service_records(connection, stored.id))
        if records is not None:
            with opened.write() as connection:
                record(connection, command_line(), "export", stored.label, what="service records", moves=len(rows))
    if records is not None:
        save_text(records, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), private=True)
        say(f"Wrote {len(rows):,} records to {records}.")
    summary = listed(summed(rows))
    if form.as_json:
        output.print_json({"study": stored.label, "services": summary})
        return
    screen = output.console()
    if not summary:
        output.paragraph(screen, "No service of this study has been asked yet.")
    for entry in summary:
        output.paragraph(screen, _sentence(entry))


def _sentence(entry: JsonObject) -> str:
    cost = "" if entry["cost"] is None else f", about {entry['cost']:,.4f} at the given prices"
    outcomes = ", ".join(f"{name} {count:,}" for name, count in entry["outcomes"].items())
    return (
        f"{entry['kind']} {entry['player']}: {entry['moves']:,} moves, {entry['takeovers']:,} of them taken over "
        f"({outcomes}); {entry['calls']:,} calls, {entry['input_tokens']:,} input and {entry['output_tokens']:,} "
        f"output tokens{cost}."
    )
