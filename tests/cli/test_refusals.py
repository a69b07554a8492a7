"""What commands refuse before any work starts, and how they say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from cobandit import InvalidInput
from cobandit.cli.study.common import PASSWORD_VARIABLE, password_given
from cobandit.cli.study.power import sizes_of


class TestPasswords:
    def test_where_it_comes_from(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
        assert password_given(None, None) is None
        monkeypatch.setenv(PASSWORD_VARIABLE, "from outside")
        assert password_given(None, None) == "from outside"
        file = tmp_path / "password.txt"
        file.write_text("  of a file \nand more\n")
        assert password_given(None, file) == "of a file"
        assert password_given("a word", None) == "a word"

    def test_twice(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="--password and --password-file were both given"):
            password_given("a word", tmp_path / "password.txt")

    @pytest.mark.parametrize("contents", [b"", b"\n", b"  \nsecond"])
    def test_a_file_without_a_first_line(self, tmp_path: Path, contents: bytes) -> None:
        (tmp_path / "password.txt").write_bytes(contents)
        with pytest.raises(InvalidInput, match="has no first line"):
            password_given(None, tmp_path / "password.txt")

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="cannot be read"):
            password_given(None, tmp_path / "nowhere.txt")
        (tmp_path / "password.txt").write_bytes(b"\xff\xfe")
        with pytest.raises(InvalidInput, match="is not UTF-8 text"):
            password_given(None, tmp_path / "password.txt")


class TestSizes:
    def test_steps(self) -> None:
        assert sizes_of("10,20,...,50") == (10, 20, 30, 40, 50)
        assert sizes_of("10,25") == (10, 25)

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("10,20,...,55", "10 in steps of 10 does not lead to 55"),
            ("20,10,...,50", "does not lead to 50"),
            ("2,3,...,99999", "far more sizes than can be of use"),
        ],
    )
    def test_steps_that_lead_nowhere(self, text: str, sentence: str) -> None:
        with pytest.raises(InvalidInput, match=sentence):
            sizes_of(text)
