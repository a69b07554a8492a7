"""Names that tell nothing are refused as names of variables."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_spec = importlib.util.spec_from_file_location("words", ROOT / "tools" / "words.py")
assert _spec is not None
assert _spec.loader is not None
words = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(words)

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


def test_the_package_names_its_variables_by_nouns() -> None:
    assert words.complaints() == []


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
