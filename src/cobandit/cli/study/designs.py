"""``cobandit study new`` and ``check``: a design to edit, and what it asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobandit.cli import completion, output
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the study is to be called.")],
    template: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="DESIGN",
            help="The design to start from: burger, casino, three-by-three, three-seats.",
            autocompletion=completion.designs,
        ),
    ] = "burger",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="The file to write (NAME.toml, if not given).")
    ] = None,
) -> None:
    """Create your own design from a shipped one."""
    from cobandit.studies import new_design

    path = new_design(name, template, out)
    say(f"Wrote {path}. Edit it, then:")
    say(f"  cobandit study check {path}")
    say(f"  cobandit study serve {path}")


@with_option_groups
def check(
    design: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.toml", help="A shipped design, or a file.", autocompletion=completion.designs
        ),
    ],
    form: TextOrJson = TextOrJson(),
) -> None:
    """Check a design and describe what it will do.

    One simulated participant plays it from beginning to end.
    """
    from cobandit.studies import load_design, rehearse
    from cobandit.studies.advice import design_warnings
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
    sets = len(study.conditions)
    each = (
        f"{study.rounds:,} rounds" if study.episodes == 1 else f"{study.episodes} episodes of {study.rounds:,} rounds"
    )
    screen.print(
        f"{sets} sets of {each}, {' x '.join(map(str, study.arms))} arms, {study.observation} observation, "
        f"observability {', '.join(f'{value:g}' for value in study.observability)}"
    )
    for condition in study.conditions:
        screen.print(f"  {condition.name}: {condition.make()}")
    if study.warm_start is not None:
        screen.print(f"before each episode {study.warm_start.rounds} rounds with {study.warm_start.make()}")
    shared = "the very same luck in all sets" if study.shared_luck else "luck of its own in each set"
    swapped = "labels swapped in every second set" if study.swap_labels else "labels as they are"
    screen.print(f"order {study.order}; {shared}; {swapped}; languages {', '.join(study.languages)}")
    steps = [step for step in journey(study).steps if step.kind not in ("episode", "rest")]
    rest = len(journey(study)) - len(steps)
    screen.print(f"steps: {', '.join(step.id for step in steps)}; {rest} episodes and rests between them")
    missing = _untranslated(study)
    for language, keys in missing.items():
        screen.print(f"not translated to {language}: {', '.join(keys[:8])}{' ...' if len(keys) > 8 else ''}")
    for language, keys in missing_page_texts(study).items():
        screen.print(f"texts of the pages that stay English in {language} ({len(keys)}): {', '.join(keys)}")
    for warning in (*design_warnings(study), *page_text_problems(study)):
        screen.print(f"warning: {warning}")
    played = rehearse(study, "softmax", seed=0, order=0)
    rounds = sum(episode.played for episode in played)
    screen.print(
        f"rehearsed one simulated participant: {rounds:,} rounds in {len(played)} episodes. The design is fine."
    )


def _untranslated(design: object) -> dict[str, list[str]]:
    from cobandit.studies import StudyDesign

    assert isinstance(design, StudyDesign)
    given = {language: dict(texts.pairs) for language, texts in design.translations.pairs}
    missing = {
        language: [key for key in design.texts() if key not in given.get(language, {})]
        for language in design.languages[1:]
    }
    return {language: keys for language, keys in missing.items() if keys}
