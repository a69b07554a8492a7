"""``cobandit study accounts``: the accounts of /admin and their roles."""

from __future__ import annotations

from typing import Annotated

import typer

from cobandit.base.extras import require_extras
from cobandit.cli import output
from cobandit.cli.declare import option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import GroupedHelp, with_option_groups
from cobandit.cli.study.common import DATABASE, DatabaseUrl, existing_database

app = typer.Typer(
    name="accounts",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Manage the accounts of /admin.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the account", show_default=False)]


@app.command(name="list", cls=GroupedHelp)
@with_option_groups
def list_accounts(database: DatabaseUrl = DATABASE, form: TextOrJson = TextOrJson()) -> None:
    """List the accounts and their roles.

    The table also shows which accounts use one-time codes.
    """
    require_extras("Listing accounts", web=True)
    from cobandit.web.storage.accounts import all_accounts

    with existing_database(database) as opened, opened.read() as connection:
        rows = [(account.name, account.role, account.code_key is not None) for account in all_accounts(connection)]
    if form.as_json:
        output.print_json({"accounts": [dict(zip(("name", "role", "codes"), row, strict=True)) for row in rows]})
        return
    shown = output.table("account", "role", "one-time codes", first="left")
    for name, role, codes in rows:
        shown.add_row(name, role, "on" if codes else "off")
    output.console().print(shown)


@app.command(cls=GroupedHelp)
@with_option_groups
def add(
    name: Name,
    role: Annotated[str, option("owner|researcher|assistant", "Role; an assistant cannot export data")] = "assistant",
    database: DatabaseUrl = DATABASE,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Add an account with a generated password.

    The password is printed once.
    """
    require_extras("Adding an account", web=True)
    from cobandit.web.services.accounts import add_account
    from cobandit.web.storage.audit import command_line

    with existing_database(database) as opened, opened.write() as connection:
        password = add_account(connection, command_line(), name, role)
    if form.as_json:
        output.print_json({"name": name, "role": role, "password": password})
        return
    say(f"Added {name!r} with the role {role}. Its password, shown this once:")
    output.console().print(password)


@app.command(cls=GroupedHelp)
def remove(name: Name, database: DatabaseUrl = DATABASE) -> None:
    """Remove an account and end its logins."""
    require_extras("Removing an account", web=True)
    from cobandit.web.services.accounts import remove_account
    from cobandit.web.storage.audit import command_line

    with existing_database(database) as opened, opened.write() as connection:
        remove_account(connection, command_line(), name)
    say(f"Removed {name!r}.")


@app.command(cls=GroupedHelp)
@with_option_groups
def reset(name: Name, database: DatabaseUrl = DATABASE, form: TextOrJson = TextOrJson()) -> None:
    """Give an account a new password.

    The password is printed once. One-time codes are turned off, and all logins of the account end.
    """
    require_extras("Resetting an account", web=True)
    from cobandit.web.services.accounts import reset_account
    from cobandit.web.storage.audit import command_line

    with existing_database(database) as opened, opened.write() as connection:
        password = reset_account(connection, command_line(), name)
    if form.as_json:
        output.print_json({"name": name, "password": password})
        return
    say(f"The password of {name!r}, shown this once:")
    output.console().print(password)
