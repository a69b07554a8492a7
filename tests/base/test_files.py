"""Folders and files that are about to be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.base.files import checked_folder


def test_a_folder_that_somebody_makes_meanwhile_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "together"
    exists = os.path.lexists

    def made_meanwhile(path: str | Path) -> bool:
        target.mkdir(exist_ok=True)
        return exists(path)

    monkeypatch.setattr(os.path, "lexists", made_meanwhile)
    assert checked_folder(target) == target


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="is a file"):
        checked_folder(tmp_path / "file" / "below")
