"""``cobandit study ...``: human-AI studies, from a design to verified data."""

from __future__ import annotations

import typer

from cobandit.cli.options import GroupedHelp
from cobandit.cli.study import accounts
from cobandit.cli.study.analyse import analyse
from cobandit.cli.study.audit import log
from cobandit.cli.study.backup import backup, restore
from cobandit.cli.study.calibrate import calibrate
from cobandit.cli.study.data import delete_participant, export, list_studies, verify
from cobandit.cli.study.designs import check, new, schema
from cobandit.cli.study.fit import fit
from cobandit.cli.study.plan import plan
from cobandit.cli.study.power import power
from cobandit.cli.study.removal import remove_participant, restore_participant
from cobandit.cli.study.serve import serve
from cobandit.cli.study.services import services
from cobandit.cli.study.simulate import simulate
from cobandit.cli.study.state import state
from cobandit.cli.study.teams import message, teams

__all__ = ["app"]

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run human-AI studies on the web.",
)
app.command(cls=GroupedHelp)(new)
app.command(cls=GroupedHelp)(check)
app.command(cls=GroupedHelp)(schema)
app.command(cls=GroupedHelp)(plan)
app.command(cls=GroupedHelp)(serve)
app.command(cls=GroupedHelp)(simulate)
app.command(cls=GroupedHelp)(analyse)
app.command(cls=GroupedHelp)(fit)
app.command(cls=GroupedHelp)(export)
app.command(cls=GroupedHelp)(verify)
app.command(cls=GroupedHelp)(log)
app.command(cls=GroupedHelp)(backup)
app.command(cls=GroupedHelp)(restore)
app.command(name="delete-participant", cls=GroupedHelp)(delete_participant)
app.command(name="remove-participant", cls=GroupedHelp)(remove_participant)
app.command(name="restore-participant", cls=GroupedHelp)(restore_participant)
app.command(cls=GroupedHelp)(state)
app.command(name="list", cls=GroupedHelp)(list_studies)
app.command(cls=GroupedHelp)(teams)
app.command(cls=GroupedHelp)(message)
app.command(cls=GroupedHelp)(services)
app.command(cls=GroupedHelp)(power)
app.command(cls=GroupedHelp)(calibrate)
app.add_typer(accounts.app)
