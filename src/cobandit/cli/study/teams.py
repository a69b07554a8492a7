"""``cobandit study teams`` and ``study message``: watch and steer teams of people, also while a server runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.json_types import JsonObject
from cobandit.cli import output
from cobandit.cli.declare import flag, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, DatabaseUrl, StudyArgument, Version, existing_database, stored_study

if TYPE_CHECKING:
    from cobandit.web.roles import Viewer
    from cobandit.web.storage.database import Database
    from cobandit.web.storage.studies import Study

KINDS = ("real", "rehearsal", "demo")
THE_ACTION = "Actions"

Kind = Annotated[str, option("real|rehearsal|demo", "Kind of participants")]
Yes = Annotated[bool, flag("--yes", "No question before the action")]


@with_option_groups
def teams(
    study: StudyArgument,
    end: Annotated[str | None, option("TEAM", "End this team; members continue with the survey", THE_ACTION)] = None,
    replace: Annotated[str | None, option("ID", "Replace this participant by an AI", THE_ACTION)] = None,
    kind: Kind = "real",
    yes: Yes = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Show, end or change teams of people.

    A running server applies an action immediately, and the audit log notes it. Conditions are not shown.
    """
    require_extras("Watching teams", web=True)
    from cobandit.web.services.team_monitor import TeamMonitor

    if end is not None and replace is not None:
        raise InvalidInput("--end and --replace were both given; one action at a time.")
    with existing_database(database) as opened:
        stored, viewer = stored_study(opened, study, version), _viewer()
        if end is not None or replace is not None:
            _act(opened, stored, end, replace, yes=yes)
            return
        with opened.read() as connection:
            view = TeamMonitor(opened).read(connection, stored.id, _checked(kind), viewer, limit=1000)
    if form.as_json:
        output.print_json(view)
    else:
        _show(view)


def _viewer() -> Viewer:
    """Return who asks: the user of the machine, who may act and is blind to conditions."""
    from cobandit.web.roles import Viewer
    from cobandit.web.storage.audit import command_line

    return Viewer(command_line(), "owner")


def _checked(kind: str) -> str:
    if kind not in KINDS:
        raise InvalidInput(f"--kind must be one of {', '.join(KINDS)}, got {kind!r}.")
    return kind


def _act(opened: Database, stored: Study, end: str | None, replace: str | None, *, yes: bool) -> None:
    from cobandit.web.services.team_actions import end_team, replace_member, team_of_participant
    from cobandit.web.services.teams import Teams

    question = f"End the team {end}?" if end is not None else f"Replace {replace} by an AI?"
    if not yes and not typer.confirm(question, err=True):
        say("Nothing was changed.")
        return
    viewer, steering = _viewer(), Teams(opened)
    if end is not None:
        asyncio.run(end_team(steering, opened, stored.id, end, viewer))
        say(f"Ended the team {end}.")
        return
    assert replace is not None
    with opened.read() as connection:
        name = team_of_participant(connection, stored.id, replace)
    asyncio.run(replace_member(steering, opened, stored.id, name, replace, viewer))
    say(f"An AI plays for {replace} in the team {name}.")


def _show(view: JsonObject) -> None:
    screen, now = output.console(), view["now"]
    if view["group"] is None:
        output.paragraph(screen, "This study has no teams of people.")
        return
    for waiting in view["lobby"]:
        seconds = max(0, now - waiting["joined_at"]) // 1000
        output.paragraph(
            screen, f"{waiting['participant']} has waited {seconds:,} s in the lobby: {waiting['check_in']}."
        )
    for team in view["teams"]:
        output.paragraph(screen, _sentence(team, now))
    counts = view["counts"]
    left = ", ".join(f"{reason} {count:,}" for reason, count in counts["left"].items())
    hidden = "rounds, waits and takeovers are hidden, because they would tell the conditions apart"
    taken = hidden if counts["takeovers"] is None else f"{counts['takeovers']:,} moves taken over by AIs"
    output.paragraph(
        screen,
        f"{len(view['lobby']):,} in the lobby; {counts['active']:,} teams at work, {counts['over']:,} over; "
        f"{taken}{f'; seats taken over for good: {left}' if left else ''}.",
    )


def _sentence(team: JsonObject, now: int) -> str:
    members = ", ".join(
        f"{member['name']}: {member['participant'] or 'an AI'}{' (left)' if member['left'] else ''}"
        for member in team["members"]
    )
    round_ = "" if team["round"] is None else f", round {team['round']} of {team['rounds']}"
    waiting, names = "", {member["seat"]: member["name"] for member in team["members"]}
    if team["waiting"] is not None:
        here, late = ([names.get(seat, "a service") for seat in team["waiting"][key]] for key in ("seats", "for"))
        seconds = max(0, now - team["waiting"]["since"]) // 1000
        waiting = f"; {', '.join(here)} waits for {', '.join(late)} since {seconds:,} s"
    return f"{team['team']} ({team['status']}{round_}): {members}{waiting}."


@with_option_groups
def message(
    study: StudyArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Message, of at most 500 characters")],
    to: Annotated[str | None, option("ID", "Participant or team (default: all at work)", show_default=False)] = None,
    kind: Kind = "real",
    yes: Yes = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Send a message to participants.

    Without --to, all participants at work get it. Pages show it within seconds, until it is closed.
    """
    require_extras("Sending messages", web=True)
    from cobandit.web.services.messages import checked_text, store_message
    from cobandit.web.storage.audit import command_line

    checked_text(text)
    with existing_database(database) as opened:
        stored = stored_study(opened, study, version)
        if to is None and not yes and not typer.confirm(f"Send it to all participants at work in {study!r}?", err=True):
            say("Nothing was sent.")
            return
        with opened.write() as connection:
            recipient = {} if to is None else {"team" if to.startswith("t-") else "participant": to}
            people = store_message(connection, stored.id, command_line(), text, kind=_checked(kind), **recipient)
    if form.as_json:
        output.print_json({"study": stored.label, "people": people})
    else:
        say(f"Sent to {people:,} {'person' if people == 1 else 'people'}.")
