"""The prose check finds private idioms, docstrings without a verb, and variables whose names say nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tools import words

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

PROSE = '''"""Play rounds.

It goes on until
whoever plays stops.
"""

LIMIT = 3
"""The rooms of a team."""

SIZE = 4  # does not hang on the plan


def play(horizon: int) -> int:
    """Return what came in ``whoever`` and `told`."""
    raise ValueError(f"{horizon!r} came, but for nothing." + "The agent is told.")


option = Option(help="Nobody is asked.")
print("whoever")  # not a message, and not checked
'''


def _lines(source: str, kind: str = "") -> list[tuple[int, str]]:
    return sorted(
        (c.line, c.words) for p in words.python_passages("m.py", source) for c in words.idioms(p) if kind in c.kind
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("docstring", [(3, "goes on"), (4, "whoever"), (8, "rooms"), (14, "what came")]),
        ("comment", [(10, "hang on")]),
        ("message", [(15, "but for"), (15, "told")]),
        ("help", [(18, "Nobody")]),
    ],
)
def test_idioms_in_python(kind: str, expected: list[tuple[int, str]]) -> None:
    assert _lines(PROSE, kind) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "src/a.js",
            'f(told); say("Nobody is here.");\n/* It goes\n * on */',
            [(1, "Nobody"), (2, "goes on")],
        ),
        ("src/a.css", ".beside { width: 1px; } /* beside it */", [(1, "beside")]),
        ("src/a.html", '<p id="room">{{ told }}\n{% if nobody %}Nobody yet.{% endif %}</p>', [(2, "Nobody")]),
        ("src/a.toml", 'text = "Nobody knows."  # anew', [(1, "anew")]),
        (words.MESSAGES, 'text = "Nobody knows."', [(1, "Nobody")]),
        ("page.md", "The server runs until Ctrl-C. A foretold bedroom, whoever-based", []),
        ("page.md", "```bash\nwhoever\n```\n\nThe agents are told.", [(5, "told")]),
        (
            "page.md",
            "`whoever` and [page](rooms.md) and <a href='room'>\n\nIt goes\non for ever.",
            [(3, "goes on")],
        ),
    ],
)
def test_idioms_in_pages(path: str, text: str, expected: list[tuple[int, str]]) -> None:
    passages = [words.page_passage(path, text)] if path.endswith(".md") else words.web_passages(path, text)
    found = [complaint for passage in passages for complaint in words.idioms(passage)]
    assert sorted((complaint.line, complaint.words) for complaint in found) == expected


@pytest.mark.parametrize(
    ("docstring", "refused"),
    [
        ("Return the arm.", None),
        ("Pass the arm on.", None),
        ("Address the agents by seat.", None),
        ("``choose`` of an agent.", None),
        ("Alg. 1, lines 3-5.", None),
        ("The arm.", "The"),
        ("Whether it is open.", "Whether"),
        ("Returns the arm.", "Returns"),
        ("Rows of the table.", "Rows"),
        ("Nothing, so far.", "Nothing"),
    ],
)
def test_docstrings_of_functions_start_with_a_verb(docstring: str, refused: str | None) -> None:
    function = f'def arm():\n    """{docstring}"""\n'
    assert [c.words for c in words.first_words("m.py", ast.parse(function))] == ([refused] if refused else [])
    as_property = ast.parse(f"class A:\n    @property\n{''.join('    ' + line for line in function.splitlines(True))}")
    assert list(words.first_words("m.py", as_property)) == []


def test_variables_are_checked_and_fields_are_not() -> None:
    refused = [(c.line, c.words) for c in words.module_complaints("tools/m.py", CODE) if c.kind == "variable"]
    assert sorted(refused) == [(2, "made"), (8, "found"), (8, "one"), (9, "told"), (10, "kept"), (12, "one")]


def test_a_complaint_names_place_idiom_and_suggestion(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "module.py").write_text('"""Stop whoever plays."""\n', encoding="utf-8")
    (tmp_path / "README.md").write_text("# Teams\n\nMend it.\n", encoding="utf-8")
    printed = [str(complaint) for complaint in words.complaints(tmp_path)]
    assert [line.split(": write")[0] for line in printed] == [
        "README.md:3: page: 'Mend'",
        "tools/module.py:1: docstring: 'whoever'",
    ]
    assert "'the participant'" in printed[1]
