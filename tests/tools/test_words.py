"""Names that tell nothing are refused as names of variables."""

from __future__ import annotations

from pathlib import Path

from tools import words

ROOT = Path(__file__).resolve().parents[2]

CODE = """
made = 1

class Record:
    kept: int = 3
    told = 4

    def play(self, one, *found):
        self.kept = [told for told in found]
        first, (second, kept) = one

arms = lambda one: one
"""


def test_every_way_to_name_a_variable_is_seen_and_fields_are_not(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "module.py").write_text(CODE)
    said = [sentence.split(": call")[0] for sentence in words.complaints(tmp_path)]
    assert sorted(said) == [
        "src/module.py:10: kept",
        "src/module.py:12: one",
        "src/module.py:2: made",
        "src/module.py:8: found",
        "src/module.py:8: one",
        "src/module.py:9: told",
    ]
