"""The notebooks as a JupyterLite site, built as for the documentation."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import unable
from tools import lite


@pytest.mark.slow
@pytest.mark.long
def test_the_site_has_the_notebooks_and_the_package(tmp_path: Path) -> None:
    folder = tmp_path / "lite"
    try:
        lite.build(folder)
    except subprocess.CalledProcessError as error:
        if b"Failed to fetch" in (error.stderr or b""):
            unable("JupyterLite could not be downloaded.")
        raise
    notebooks = {path.name: path.read_bytes() for path in lite.NOTEBOOKS.glob("*.ipynb")}
    assert {path.name: path.read_bytes() for path in (folder / "files").glob("*.ipynb")} == notebooks
    assert (folder / "lab" / "index.html").is_file()
    offered = json.loads((folder / "pypi" / "all.json").read_text(encoding="utf-8"))["cobandit"]["releases"]
    (wheels,) = offered.values()
    assert [(folder / "pypi" / wheel["filename"]).is_file() for wheel in wheels] == [True]
