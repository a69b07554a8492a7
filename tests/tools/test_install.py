"""Setting up the environment: uv first, pip where uv fails, and a clear end where both do."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools import install

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Record the commands of an installation instead of running them; those that contain ``fails`` fail."""
    ran: list[str] = []
    fails: list[str] = []

    def run(*command, **environment):
        ran.append(" ".join(map(str, command)))
        return not any(word in ran[-1] for word in fails)

    monkeypatch.setattr(install, "_run", run)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    return tmp_path, ran, fails


def test_uv_installs(commands) -> None:
    folder, ran, _ = commands
    install.install(folder, "run")
    assert len(ran) == 2
    assert "/uv pip install" in ran[1]
    assert "--constraint constraints.txt" in ran[1]
    assert ran[1].endswith(f".[{install.EXTRAS['run']}]")


@pytest.mark.parametrize("broken", ["--target", "/uv pip install"])
def test_pip_installs_where_uv_fails(commands, broken, capsys) -> None:
    folder, ran, fails = commands
    fails.append(broken)
    install.install(folder, "dev")
    assert "-m pip install --quiet --no-compile --constraint constraints.txt --editable .[dev]" in ran[-1]
    assert "with pip" in capsys.readouterr().out


def test_both_fail(commands) -> None:
    folder, _, fails = commands
    fails.append("install")
    with pytest.raises(SystemExit, match="could not be installed"):
        install.install(folder, "docs")


def test_uv_asks_the_index_that_pip_is_configured_for(monkeypatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    assert install._uv_settings(Path(sys.executable)) == {"UV_DEFAULT_INDEX": "http://127.0.0.1:1/simple"}


def test_every_extra_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {extra for extras in install.EXTRAS.values() for extra in extras.split(",")} <= set(declared)


@pytest.mark.long
def test_the_docs_build_with_what_their_job_installs(tmp_path) -> None:
    environment = tmp_path / "environment"
    install.install(environment, "docs")
    site = tmp_path / "site"
    built = subprocess.run(
        [environment / "bin" / "python", "tools/docs.py", site], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    assert (site / "index.html").is_file()
