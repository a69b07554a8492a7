"""Folders and files that are about to be written."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.base.files import checked_folder, save_json, save_text, whole_file


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


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o600), (0o027, 0o640), (0o022, 0o644), (0o002, 0o664)])
def test_files_respect_the_umask_and_private_ones_are_their_owners_alone(tmp_path: Path, mask: int, mode: int) -> None:
    with _umask(mask):
        save_text(tmp_path / "text", "x")
        save_json(tmp_path / "json", {})
        save_text(tmp_path / "private", "x", private=True)
        with whole_file(tmp_path / "growing", private=True) as file:
            file.write(b"x")
            file.flush()
            [partial] = tmp_path.glob(".partial-*")
            assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert modes == {"text": mode, "json": mode, "private": 0o600, "growing": 0o600}


def test_a_file_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = save_text(tmp_path / "file", "before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(bytes([1 // 0]))
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"file": "before"}
