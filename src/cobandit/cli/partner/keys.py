"""``cobandit partner keys``: the API keys of the partner service."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cobandit.base.extras import require_extras
from cobandit.cli import output
from cobandit.cli.declare import integer_option, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import GroupedHelp, with_option_groups
from cobandit.cli.partner.common import DATABASE
from cobandit.cli.study.common import DatabaseUrl

app = typer.Typer(
    name="keys",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Manage the API keys of the partner service.",
)

THE_KEY = "The key"
RATE = 200


@app.command(cls=GroupedHelp)
@with_option_groups
def add(
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What the key is for, such as web-shop")],
    tenant: Annotated[str, option("NAME", "Whose teams and games it opens", THE_KEY)] = "default",
    scope: Annotated[str, option("read|play|admin", "What it may do; each includes the former", THE_KEY)] = "play",
    rate: Annotated[int, integer_option("rate", 1, "Requests a second", THE_KEY, high=1_000_000)] = RATE,
    database: DatabaseUrl = DATABASE,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Add an API key.

    The key is printed once, on stdout; the database stores only its digest. It also works while a server runs.
    """
    require_extras("Adding an API key", web=True)
    from cobandit.web.services.partner.keys import add_key
    from cobandit.web.storage.audit import command_line
    from cobandit.web.storage.database import Database

    opened = Database(database)
    try:
        opened.migrate()
        with opened.write() as connection:
            key, text = add_key(connection, command_line(), label, tenant=tenant, scope=scope, rate=rate)
    finally:
        opened.close()
    if form.as_json:
        output.print_json({"id": key.id, "tenant": tenant, "label": label, "scope": scope, "rate": rate, "key": text})
        return
    say(f"Added {key.id} for the tenant {tenant!r} with the scope {scope}. The key, shown this once:")
    output.console().print(text)


@app.command(name="list", cls=GroupedHelp)
@with_option_groups
def list_keys(database: DatabaseUrl = DATABASE, form: TextOrJson = TextOrJson()) -> None:
    """List the API keys, also those that were revoked."""
    require_extras("Listing API keys", web=True)
    from cobandit.studies.data import moment
    from cobandit.web.storage.api_keys import all_keys

    with _existing(database) as opened, opened.read() as connection:
        keys = all_keys(connection)
    if form.as_json:
        shown = ("id", "tenant", "label", "scope", "rate", "created_at", "revoked_at")
        output.print_json({"keys": [{name: getattr(key, name) for name in shown} for key in keys]})
        return
    table = output.table("key", "tenant", "label", "scope", "rate", "created", "state", first="left")
    for key in keys:
        created = moment(key.created_at)
        day = "" if created is None else created.strftime("%Y-%m-%d")
        state = "valid" if key.revoked_at is None else "revoked"
        table.add_row(key.id, key.tenant, key.label, key.scope, f"{key.rate:,}/s", day, state)
    output.console().print(table)


@app.command(cls=GroupedHelp)
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, its part between cb_ and _")],
    database: DatabaseUrl = DATABASE,
) -> None:
    """Revoke an API key for good.

    Running servers refuse it within two seconds.
    """
    require_extras("Revoking an API key", web=True)
    from cobandit.web.services.partner.keys import revoke_key
    from cobandit.web.storage.audit import command_line

    with _existing(database) as opened, opened.write() as connection:
        revoke_key(connection, command_line(), key)
    say(f"Revoked {key}.")


def _existing(url: str) -> Any:
    from cobandit.cli.study.common import existing_database

    return existing_database(url, "the service with `cobandit partner serve")
