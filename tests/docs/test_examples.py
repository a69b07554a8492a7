"""Whatever the pages show runs, and prints what they say it prints."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path
from typing import Any

import pytest

from cobandit.cli import command_tree
from cobandit.testing import AgentContract
from tests.parameters import quick

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(autouse=True)
def quick_figures(request):
    """Draw figures as SVG alone on pages that name no file of another kind."""
    page = request.node.callspec.params.get("running_page") if hasattr(request.node, "callspec") else None
    if page is not None and not any(kind in block.text for block in page.blocks for kind in (".pdf", ".png")):
        request.getfixturevalue("svg_alone")


def test_a_page_runs_from_top_to_bottom(
    running_page, run_python, run_command, serve, module, same_output, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name, text in running_page.files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    outputs = dict(running_page.python_blocks())
    for block in running_page.blocks:
        if block in outputs:
            printed = run_python(block.text, running_page.name, block.line)
            compare(running_page, f"line {block.line}", outputs[block] or "", printed, same_output)
        for command in block.commands() if block.runs else ():
            if command.line.startswith("cobandit study serve"):
                compare(running_page, command.line, command.shown, serve(command.line), same_output)
                continue
            result = run_command(command.line, command.typed)
            assert result.exit_code == 0, f"{command.line}\n{result.output}"
            compare(running_page, command.line, command.shown, result.output, same_output)
    contracts = [kind for kind in vars(module).values() if inspect.isclass(kind) and issubclass(kind, AgentContract)]
    for contract in contracts:
        if contract is not AgentContract:
            for name in [name for name in dir(contract) if name.startswith("test_")]:
                getattr(contract(), name)()


def compare(page, where, shown, printed, same_output):
    if shown.strip() and not same_output(shown, printed):
        pytest.fail(f"{page.name}, {where}, shows\n{shown}\nbut prints\n{printed}", pytrace=False)


def test_commands_that_are_not_run_can_be_parsed(pages):
    blocks = [block for page in pages for block in page.blocks if not block.runs]
    for command in [command for block in blocks for command in block.commands()]:
        group: Any = command_tree()
        program, *words = shlex.split(command.line, comments=True)
        context = group.make_context(program, words)
        while hasattr(group, "resolve_command"):
            name, group, words = group.resolve_command(context, [*context._protected_args, *context.args])
            context = group.make_context(name, words, parent=context)


@pytest.mark.parametrize(
    "example", quick(sorted(EXAMPLES.glob("*.py")), [EXAMPLES / "win_stay.py"]), ids=lambda path: path.name
)
def test_examples_run(example, run_python, module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "stable_baselines3" in example.read_text(encoding="utf-8"):
        pytest.importorskip("stable_baselines3", reason="it brings PyTorch: `make examples` installs it and runs this")
    module.__dict__["__file__"] = str(example)
    run_python(example.read_text(encoding="utf-8"), example.name)
    assert run_python("main()", example.name).strip(), "an example prints what it found"


def test_what_is_not_run_says_why(pages):
    for page in pages:
        exempt = [block.note for block in page.blocks if block.note.startswith("not run")]
        assert len(exempt) <= 3, f"{page.name} has {len(exempt)} blocks that are not run"
        assert all(note.removeprefix("not run:").strip() for note in exempt), page.name
