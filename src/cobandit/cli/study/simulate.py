"""``cobandit study simulate``: simulated participants play a study over the HTTP interface, from consent to code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import require_extras
from cobandit.cli import completion, output, parsing
from cobandit.cli.declare import integer_option, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import (
    DATABASE,
    DatabaseUrl,
    Password,
    PasswordFile,
    Url,
    password_given,
)

if TYPE_CHECKING:
    from cobandit.agents import Agent
    from cobandit.studies import StudyDesign
    from cobandit.web.clients.bots import Watch

BEHAVIOUR = "softmax"
THE_BOTS = "The simulated participants"


@with_option_groups
def simulate(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="Study of the server; with a database, also a design",
            autocompletion=completion.designs,
        ),
    ],
    participants: Annotated[int, integer_option("participants", 1, "Number of participants", THE_BOTS)] = 10,
    behaviour: Annotated[
        str, option("NAME,NAME|FILE.json", "Agents to play as, in turn, or a fitted population", THE_BOTS)
    ] = BEHAVIOUR,
    seed: Annotated[
        int, integer_option("seed", 0, "Random seed; another seed creates other participants", THE_BOTS)
    ] = 0,
    rate: Annotated[
        float | None, option("FLOAT", "Rounds per second of each (default: no limit)", THE_BOTS, parser=parsing.number)
    ] = None,
    concurrency: Annotated[int, integer_option("concurrency", 1, "Simultaneous participants", THE_BOTS)] = 50,
    database: DatabaseUrl = DATABASE,
    url: Url = None,
    password: Password = None,
    password_file: PasswordFile = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Let simulated participants play a study.

    They use the same HTTP interface as the pages.

    They are marked as rehearsals and never mix with real participants. If you repeat the command, the same participants
    continue; those who have finished stay unchanged.
    """
    require_extras("Simulating participants over HTTP", web=True)
    from cobandit.web.clients.bots import play_study

    behaviours = _behaviours(behaviour)
    asked = password_given(password, password_file)
    with _server(study, url, database, asked) as (address, login, name, design), _bar(participants) as watch:
        done = play_study(
            address,
            name,
            participants,
            behaviours,
            login=login,
            design=design,
            seed=seed,
            rate=rate,
            concurrency=concurrency,
            watch=watch,
        )
    if form.as_json:
        rows = [
            {"participant": bot.participant, "label": bot.label, "behaviour": bot.behaviour, "rounds": bot.rounds,
             "good": bot.good, "finished": bot.finished, "retries": bot.retries, "conflicts": bot.conflicts}
            for bot in done
        ]  # fmt: skip
        output.print_json({"study": name, "participants": rows})
        return
    latencies = sorted(value for bot in done for value in bot.latencies)
    finished = sum(bot.finished for bot in done)
    rounds = sum(bot.rounds for bot in done)
    output.console().print(f"{finished} of {len(done)} simulated participants finished; {rounds:,} rounds played now.")
    if latencies:
        middle, late = latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)]
        output.console().print(f"A round was answered in {1000 * middle:.0f} ms (median), {1000 * late:.0f} ms (99 %).")
    if url is None:
        say(f"See them with: cobandit study export {name} --kind rehearsal")


def _behaviours(text: str) -> list[str] | list[Agent]:
    """Return the names of agents, or the members of a fitted population."""
    if not text.strip().lower().endswith(".json"):
        return [name.strip() for name in text.split(",") if name.strip()]
    from cobandit.analysis import read_population

    return [member for member, _ in read_population(text).members]


@contextmanager
def _server(
    study: str, url: str | None, database: str, password: str | None
) -> Iterator[tuple[str, str, str, StudyDesign | None]]:
    """Yield the server's address, a login, the study's name there, and the design if it is known."""
    if url is not None:
        from cobandit.web.clients.researcher import Researcher

        with Researcher(url, password) as researcher:
            name = researcher.study(study)["name"]
            yield url.rstrip("/"), researcher.token, name, None
        return
    from cobandit.studies import load_design
    from cobandit.web import serving
    from cobandit.web.access import grant_login
    from cobandit.web.config import WebConfig
    from cobandit.web.storage.audit import OWNER, command_line
    from cobandit.web.storage.database import Database
    from cobandit.web.storage.studies import find_study

    opened = Database(database)
    try:
        opened.migrate()
        with opened.read() as connection:
            stored = find_study(connection, study)
        if stored is None:
            try:
                design = load_design(study)
            except UnknownName as error:
                raise InvalidInput(f"There is no study {study!r} in {opened.name}, nor a design. {error}") from error
            serving.prepare(database, [design], make_password=False)
        else:
            design = stored.design
        with opened.write() as connection:
            login, _ = grant_login(connection, command_line(), "study simulate", account=OWNER)
        with serving.running(WebConfig(database=database)) as address:
            yield address, login, design.name, design
    finally:
        opened.close()


@contextmanager
def _bar(participants: Any) -> Iterator[Watch | None]:
    """Show how many have finished, on terminals only."""
    if not sys.stderr.isatty():
        yield None
        return
    from cobandit.cli.progress import run_bars

    with run_bars(transient=True, unit="people") as bars:
        task = bars.add_task("participants", total=participants)
        finished: set[str] = set()

        def watch(bot: Any, acknowledged: Any) -> None:
            if acknowledged is None and bot.finished and bot.label not in finished:
                finished.add(bot.label)
                bars.advance(task)

        yield watch
