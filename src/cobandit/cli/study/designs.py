"""``cobandit study new``, ``schema`` and ``check``: create a design, edit it with help, and check it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.cli import completion, output
from cobandit.cli.declare import flag, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups

if TYPE_CHECKING:
    from rich.console import Console

    from cobandit.studies import StudyDesign


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new study")],
    template: Annotated[
        str,
        option(
            "DESIGN",
            "Shipped design to start from, such as casino-pair",
            None,
            "--from",
            autocompletion=completion.designs,
        ),
    ] = "burger",
    out: Annotated[Path | None, option("FILE.toml", "File to write (default: NAME.toml)")] = None,
) -> None:
    """Create your own design from a shipped one."""
    from cobandit.studies import new_design

    path = new_design(name, template, out)
    say(f"Wrote {path}. Edit it, then:")
    say(f"  cobandit study check {path}")
    say(f"  cobandit study serve {path}")


def schema(
    out: Annotated[Path | None, option("FILE.json", "File to write (default: the terminal)")] = None,
) -> None:
    """Print the JSON Schema of designs, for text editors.

    An editor with support for TOML schemas then completes and checks keys while you type: save the schema next to your
    design and write "#:schema ./FILE.json" into the first line of the design.
    """
    from cobandit.base.files import save_json
    from cobandit.studies.design_schema import design_schema

    if out is None:
        output.print_json(design_schema())
        return
    save_json(out, design_schema())
    say(f"Wrote {out}. First line of a design next to it: #:schema ./{out.name}")


@with_option_groups
def check(
    design: Annotated[
        str,
        typer.Argument(metavar="NAME|FILE.toml", help="Shipped design, or a file", autocompletion=completion.designs),
    ],
    services: Annotated[bool, flag("--services", "Ask every service of the design for one move.")] = False,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Check a design and describe what it will do.

    One simulated participant plays it from beginning to end. With --services, language models and policies in seats
    are asked once, with the environment of this terminal; exits with 1 where one of them does not answer.
    """
    from cobandit.base.numbers import count
    from cobandit.studies import load_design, rehearse
    from cobandit.studies.advice import design_warnings
    from cobandit.studies.behaviours import usual_behaviour
    from cobandit.studies.journey import journey
    from cobandit.studies.page_texts import missing_page_texts, page_text_problems

    study = load_design(design)
    if form.as_json:
        output.print_json({"digest": study.digest, "design": study.to_dict()})
        return
    screen = output.console()
    screen.soft_wrap = True
    screen.print(f"{study.title} ({study.name}, version {study.version})")
    screen.print(f"digest {study.digest}")
    sets = study.sets
    each = study.rounds_words if study.episodes == 1 else f"{study.episodes} episodes of {study.rounds_words}"
    screen.print(
        f"{count(sets, 'set')} of {each}, {' x '.join(map(str, study.arms))} arms, {study.observation} observation, "
        f"observability {', '.join(f'{value:g}' for value in study.observability)}"
    )
    for condition in study.conditions:
        screen.print(f"  {condition.name}: {condition.make()}{_levels(study, condition.name)}")
    if study.actions == "hidden":
        screen.print("choices of others are hidden")
    if study.roles == "drawn":
        screen.print("the leader is drawn for each episode")
    if study.delay:
        screen.print(f"choices and outcomes are known {count(study.delay, 'round')} later")
    if study.warm_start is not None:
        screen.print(f"before each episode {study.warm_start.rounds} rounds with {study.warm_start.make()}")
    shared = "the same luck in all sets" if study.shared_luck else "luck of its own in each set"
    swapped = "labels swapped in every second set" if study.swap_labels else "labels as they are"
    screen.print(f"order {study.order}; {shared}; {swapped}; languages {', '.join(study.languages)}")
    _print_cells(screen, study)
    _print_group(screen, study)
    _print_services(screen, study)
    steps = [step for step in journey(study).steps if step.kind not in ("episode", "rest")]
    rest = len(journey(study)) - len(steps)
    screen.print(f"steps: {', '.join(step.id for step in steps)}; {rest} episodes and rests between them")
    missing = _untranslated(study)
    for language, keys in missing.items():
        screen.print(f"not translated to {language}: {', '.join(keys[:8])}{' ...' if len(keys) > 8 else ''}")
    for language, keys in missing_page_texts(study).items():
        screen.print(f"texts of the pages that stay English in {language} ({len(keys)}): {', '.join(keys)}")
    for warning in (*design_warnings(study), *page_text_problems(study), *_plan_warnings(study)):
        screen.print(f"warning: {warning}")
    first_of_cells = {study.cell_of(order): order for order in reversed(range(len(study.orders)))}
    for order in sorted(first_of_cells.values()):
        played = rehearse(study, usual_behaviour(study), seed=0, order=order)
    rounds = sum(episode.played for episode in played)
    who = "one simulated participant" if study.group is None else "one simulated team, of which each member played"
    who += " of each cell" if len(study.cells) > 1 else ""
    screen.print(f"rehearsed {who}: {rounds:,} rounds in {len(played)} episodes. The design is fine.")
    if services and not _try_services(screen, study):
        raise typer.Exit(1)


def _levels(study: StudyDesign, condition: str) -> str:
    """Return the levels of a condition, and what it has in place of the design's own, in brackets."""
    parts = [f"{factor} {level}" for factor, level in study.levels[condition].items() if level != condition]
    own = study.condition(condition).observability
    parts += [f"observability {', '.join(f'{value:g}' for value in own)}"] if own else []
    parts += study.condition(condition).differences
    return f" ({'; '.join(parts)})" if parts else ""


def _print_cells(screen: Console, study: StudyDesign) -> None:
    """Describe between which cells people are divided, and within which strata."""
    if study.strata:
        screen.print(f"assignment within strata, after the questions about the person: {', '.join(study.strata)}")
    if len(study.cells) == 1:
        return
    quotas = dict(study.quotas.pairs)
    cells = [
        f"{cell} ({', '.join(names)}{f'; {quotas[cell]} people' if quotas else ''})"
        for cell, names in study.cells.items()
    ]
    screen.print(f"between subjects: each participant plays one of {len(cells)} cells: {', '.join(cells)}")


def _print_group(screen: Console, study: StudyDesign) -> None:
    """Describe how people become a team, and what happens when a member is missing."""
    group = study.group
    if group is None:
        return
    together = ", ".join(condition.name for condition in study.conditions if not condition.alone)
    short = "AIs play the free seats" if group.when_short == "ai" else "the study ends for this person"
    left = "an AI takes over" if group.when_left == "ai" else "the others go to the survey"
    screen.print(f"teams of {len(study.participant_seats)} people, who play together in: {together}")
    screen.print(f"without a team after {group.lobby_seconds} s: {short}; if a member leaves: {left}")
    screen.print(
        "unit of the tests: the team, since people of one team are not independent; alone conditions: the mean"
    )


def _plan_warnings(study: StudyDesign) -> list[str]:
    """Return warnings about the default plan of a study with teams."""
    if study.group is None:
        return []
    from cobandit.analysis.plan import default_plan
    from cobandit.analysis.teams import team_warnings

    return team_warnings(study, default_plan(study))


def _print_services(screen: Console, study: StudyDesign) -> None:
    """Say which seats are services', and what they need for each participant or team."""
    from cobandit.remote.usage import token_cost
    from cobandit.studies.service_use import estimated_use, services_of

    for use in services_of(study):
        line = f"service {use.kind} in the seat {use.name!r}, condition {use.condition}: {use.calls:,} moves"
        tokens = estimated_use(study, use)
        if tokens is not None:
            cost = token_cost(*tokens)
            line += f", up to some {tokens[0]:,} input tokens"
            line += "" if cost is None else f", about {cost:,.4f} at the given prices"
        screen.print(f"{line} for each participant or team")


def _try_services(screen: Console, study: StudyDesign) -> bool:
    """Ask every service once; return whether all of them answered."""
    from cobandit.studies.service_use import services_of, try_service

    trials = [try_service(study, use) for use in services_of(study)]
    for trial in trials:
        where = f"{trial.use.kind} in the seat {trial.use.name!r}, condition {trial.use.condition}"
        answer = f"chose {trial.arm!r} in {trial.milliseconds:,} ms" if trial.arm else f"no move: {trial.outcome}"
        screen.print(f"asked {where}: {answer}")
    return all(trial.arm is not None for trial in trials)


def _untranslated(design: object) -> dict[str, list[str]]:
    from cobandit.studies import StudyDesign

    assert isinstance(design, StudyDesign)
    given = {language: dict(texts.pairs) for language, texts in design.translations.pairs}
    missing = {
        language: [key for key in design.texts() if key not in given.get(language, {})]
        for language in design.languages[1:]
    }
    return {language: keys for language, keys in missing.items() if keys}
