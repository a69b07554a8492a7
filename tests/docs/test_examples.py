"""Whatever the pages show runs, and prints what they say it prints."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from cobandit.testing import AgentContract

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


def test_python_blocks_run_in_order(coding_page, run_python, module, same_output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, shown in coding_page.python_blocks():
        came = run_python(block.text, coding_page.name, block.line)
        if shown is not None and not same_output(shown, came):
            pytest.fail(f"{coding_page.name}, line {block.line}, shows\n{shown}\nbut prints\n{came}", pytrace=False)
    contracts = [kind for kind in vars(module).values() if inspect.isclass(kind) and issubclass(kind, AgentContract)]
    for contract in contracts:
        if contract is not AgentContract:
            for name in [name for name in dir(contract) if name.startswith("test_")]:
                getattr(contract(), name)()


def test_commands_run(shell_page, run_command, same_output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in shell_page.files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command in shell_page.commands():
        result = run_command(command.line, command.typed)
        assert result.exit_code == 0, f"{command.line}\n{result.output}"
        if command.shown.strip() and not same_output(command.shown, result.output):
            pytest.fail(f"{command.line} shows\n{command.shown}\nbut prints\n{result.output}", pytrace=False)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example, run_python, module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "stable_baselines3" in example.read_text(encoding="utf-8"):
        pytest.importorskip("stable_baselines3", reason="it brings PyTorch: `make examples` installs it and runs this")
    module.__dict__["__file__"] = str(example)
    run_python(example.read_text(encoding="utf-8"), example.name)
    assert run_python("main()", example.name).strip(), "an example prints what it found"


def test_what_is_not_run_says_why(page):
    exempt = [block.note for block in page.blocks if block.note.startswith("not run")]
    assert len(exempt) <= 2, f"{page.name} has {len(exempt)} blocks that are not run"
    assert all(note.removeprefix("not run:").strip() for note in exempt)
