"""``cobandit partner ...``: an AI partner for any program, over HTTP."""

from __future__ import annotations

import typer

from cobandit.cli.options import GroupedHelp
from cobandit.cli.partner import keys
from cobandit.cli.partner.serve import serve

__all__ = ["app"]

app = typer.Typer(
    name="partner",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Serve AI partners to other programs over HTTP.",
)
app.command(cls=GroupedHelp)(serve)
app.add_typer(keys.app)
