"""Check that names and prose are plain English.

`make lint` runs this check. It reports variables whose names say nothing, private idioms in docstrings, comments, error
messages, help texts, pages and documentation, and docstrings of functions that do not start with a verb. Each line of
the output has the place, the words, and what to write instead. Fields of classes may have any name: code uses them
together with the name of their owner. Code inside of prose (`` `name` `` and blocks of code) is not checked. In study
designs only comments are checked: texts are part of a design's digest, which must not change.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tools")
PAGES = ("README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "examples")
"""The pages whose prose is checked, and the folders of such pages."""

WEB = {
    ".css": re.compile(r"/\*.*?\*/", re.DOTALL),
    ".html": re.compile(r".+", re.DOTALL),
    ".js": re.compile(
        r"""/\*.*?\*/ | //[^\n]* | (?P<quote>["`])(?:(?!(?P=quote))[^\n])*(?P=quote)""",
        re.DOTALL | re.VERBOSE,
    ),
    ".toml": re.compile(r"#[^\n]*"),
}
"""The prose of the package's other files: comments, the texts of templates, and the strings of scripts."""
MESSAGES = "src/cobandit/studies/messages/en.toml"
"""The English texts of the pages, which are checked as a whole."""

AS_THEY_ARE = ("src/cobandit/remote/prompt.py", "tools/words.py")
"""The files whose texts are not checked: the prompts of language models, and this list of idioms."""

REFUSED_NAMES = frozenset({"found", "kept", "made", "one", "room", "told"})

IDIOMS = {
    r"who(m)?ever": "name the person or the program: 'the participant', 'the caller'",
    r"(some|no|every)body('s)?( else)?": "name the person: 'a participant', 'no agent', 'all seats'",
    r"what (came|comes|stands|stood|stays|remains)": "name the thing: 'the value', 'the remaining rows'",
    r"what (is|was|were|are) (said|asked|there|given|kept|left|meant|known|wanted|needed|not|to|missing|wrong)": (
        "name the thing: 'the description', 'the question', 'the missing fields'"
    ),
    r"told": "'informed', 'shown', 'reported', 'named in the error', or name who tells whom",
    r"(tell|tells) of": "'report', 'describe'",
    r"(says?|said|speaks?) of": "'describe', 'report about'",
    r"one's own": "'your own', 'user-defined', 'custom'",
    r"(which|what) (it|they|he|she) (has|have|is|are|was|were) not": "'missing', 'without', 'other than'",
    r"stands? (on|at|in|by|as|first|last|there|here|below|above|before|behind|after|beside|alone)": (
        "'is', 'appears', 'is stored', 'is written'"
    ),
    r"as (it|they) stands?": "'as it is', 'unchanged'",
    r"hangs? on": "'depends on', 'is independent of'",
    r"(go|goes|went|gone|going) on": "'continue', 'resume', 'run', 'happen'",
    r"but for": "'except'",
    r"beside": "'next to', 'in addition to', 'compared with'",
    r"so (many|much|few|often)": "name the number: '`n` rounds', 'this many'",
    r"(came|comes?) of": "'result of', 'outcome'",
    r"comes? (along|by|in|out)": "'arrive', 'is sent', 'is returned'",
    r"whatever (it|they|he|she|is|was|comes|happens|else)": "'regardless of', 'any'",
    r"rooms?": "'package', 'module', 'array', 'page', 'space'",
    r"reckon(s|ed|ing)?": "'compute'",
    r"mend(s|ed|ing)?": "'fix', 'correct'",
    r"anew|afresh": "'again'",
    r"at once": "'immediately' or 'at the same time': the words can mean both",
    r"vouch(es)?": "'verify', 'confirm'",
    r"likewise": "'also', 'in the same way'",
    r"as (it|they) likes?": "'any number of times', 'in any order'",
    r"let (in|through)": "'accept', 'admit'",
    r"(is|are) at it": "'is active', 'is playing'",
    r"none of (it|them) (is|are) (one|there)": "'there is no ...'",
    r"of old|of late|as of yet|by and by": "a date, a version, or nothing",
    r"in (its|their|his|her) stead": "'instead'",
    r"with it all|all of it": "name the things",
    r"(any|always|folder)( \S+){0,8} will do|folder will do|always will do": "'is enough', 'you can use any ...'",
    r"(a|the|one) whole state of it": "'a complete state'",
    r"nothing (else )?is said": "'by default', 'unless stated'",
    r"takes? the place of": "'replace', or 'instead of'",
    r"do(es)? alike": "'hardly differ', 'behave in the same way'",
    r"known of": "'known about'",
    r"in truth": "name the value: 'the true mean'",
    r"if need be": "'if necessary'",
    r"read to the letter|, to the letter": "'exactly', 'unchanged'",
    r"(is|are) there to": "'is for', 'serves to'",
    r"and none either": "'and also no ...'",
    r"the very same": "'the same'",
}
"""Private idioms, as regular expressions over whole words, each with what to write instead."""

NOT_VERBS = re.compile(
    r"""(?x) (
    A|About|After|All|Also|An|And|Another|Any|As|At|Before|Below|Between|Both|But|By|Each|Either|Every|Everything|Few|
    For|From|Given|Half|He|How|However|If|In|Inside|Instead|It|Its|Left|Like|Made|Many|More|Most|Neither|No|None|Not|
    Nothing|Of|On|Once|One|Only|Or|Other|Our|Out|Over|Same|She|Since|So|Some|Something|Such|Than|That|The|Their|There|
    These|They|This|Those|Three|Through|Till|To|Two|Under|Until|Up|We|What|Whatever|When|Where|Wherever|Whether|Which|
    While|Who|Whole|Whose|Why|With|Within|Without|You|Your|
    (?!Access|Address|Bypass|Compress|Cross|Express|Guess|Pass|Press|Process|Suppress) [A-Z][a-z]*s
    ) (?=[\s,:;.])"""
)
"""First words that cannot be a verb in the imperative: articles, pronouns, questions, plurals and "returns"."""


class Passage(NamedTuple):
    """A piece of prose with its place. ``line`` is where the text starts."""

    path: str
    line: int
    kind: str
    text: str


class Complaint(NamedTuple):
    """Something to change, with its place and a suggestion."""

    path: str
    line: int
    kind: str
    words: str
    suggestion: str

    def __str__(self) -> str:
        """Return the line that `make lint` prints."""
        return f"{self.path}:{self.line}: {self.kind}: {self.words!r}: {self.suggestion}."


def _compiled(idioms: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Return the idioms as patterns that match whole words, also where a line ends between two of them."""
    gap = r"[\s#*]+"
    return [
        (re.compile(rf"(?<![\w-])(?:{pattern.replace(' ', gap)})(?![\w-])", re.IGNORECASE), suggestion)
        for pattern, suggestion in idioms.items()
    ]


PATTERNS = _compiled(IDIOMS)


def python_passages(path: str, text: str) -> Iterator[Passage]:
    """Yield the docstrings, the texts below constants and fields, the messages, help texts, other texts and comments.

    Texts are strings of several words. Prompts of language models are left out: models were tested with their words.
    """
    checked = set[int]()  # strings of messages are found twice: ast.walk comes to their parents first
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            checked.add(id(node.value))
            yield Passage(path, node.value.lineno, "docstring", node.value.value)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            nodes = [*node.exc.args, *(word.value for word in node.exc.keywords)]
            yield from _literals(path, "message", nodes, checked)
        elif isinstance(node, ast.keyword) and node.arg == "help":
            yield from _literals(path, "help", [node.value], checked)
        elif isinstance(node, ast.Constant) and str(node.value).count(" ") > 1 and path not in AS_THEY_ARE:
            yield from _literals(path, "text", [node], checked)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Passage(path, token.start[0], "comment", token.string)


def _literals(path: str, kind: str, nodes: Iterable[ast.AST], checked: set[int]) -> Iterator[Passage]:
    """Yield the string literals below nodes that were not checked before. Values inside of f-strings are left out."""
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in checked:
                checked.add(id(node))
                yield Passage(path, node.lineno, kind, node.value)


def web_passages(path: str, text: str) -> Iterator[Passage]:
    """Yield the prose of a script, a style sheet, a template or a TOML file. Expressions of templates are left out."""
    pattern = WEB[".html"] if path == MESSAGES else WEB[Path(path).suffix]
    blank = re.sub(
        r"\{\{.*?\}\}|\{%.*?%\}|\$\{.*?\}", lambda code: re.sub(r"[^\n]", " ", code.group()), text, flags=re.DOTALL
    )
    for match in pattern.finditer(blank):
        words = match.group() if match.group().startswith("/") else match.group().strip("`")
        if " " in words:  # other strings are ids and names of files
            yield Passage(path, 1 + text.count("\n", 0, match.start()), "text", words)


def notebook_passages(path: str, text: str) -> Iterator[Passage]:
    """Yield the prose of the cells of a Jupyter notebook. Lines are counted in each cell."""
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown":
            yield page_passage(path, "".join(cell["source"]))


def page_passage(path: str, text: str) -> Passage:
    """Return the prose of a Markdown page. Blocks of code become empty lines, so that line numbers stay right."""
    blank = re.sub(
        r"^( *)```.*?^\1```", lambda block: "\n" * block.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE
    )
    return Passage(path, 1, "page", blank)


def idioms(passage: Passage) -> Iterator[Complaint]:
    """Yield every private idiom of a passage."""
    prose = re.sub(r"(`+).+?\1|\]\([^)]*\)|<[^>]*>", lambda code: re.sub(r"[^\n]", "`", code.group()), passage.text)
    for pattern, suggestion in PATTERNS:
        for match in pattern.finditer(prose):
            line = passage.line + prose.count("\n", 0, match.start())
            words = " ".join(re.findall(r"[^\s#*]+", match.group()))
            yield Complaint(passage.path, line, passage.kind, words, f"write {suggestion}")


def first_words(path: str, tree: ast.AST) -> Iterator[Complaint]:
    """Yield every function whose docstring does not start with a verb in the imperative.

    Properties are left out, because code reads them like fields: their docstrings may be noun phrases.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_property(node):
            continue
        first = NOT_VERBS.match(ast.get_docstring(node) or "")
        if first:
            suggestion = "start the docstring with a verb: 'Return ...', 'Store ...'"
            yield Complaint(path, node.body[0].lineno, f"docstring of {node.name}", first[1], suggestion)


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a decorator makes the function a property."""
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def names(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of every variable and argument below a node, except the fields of classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.ClassDef) and isinstance(child, ast.AnnAssign | ast.Assign):
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.lineno, child.id
        elif isinstance(child, ast.arg):
            yield child.lineno, child.arg
        yield from names(child)


def module_complaints(path: str, text: str) -> Iterator[Complaint]:
    """Yield the complaints about one Python module."""
    tree = ast.parse(text)
    for line, name in names(tree):
        if name in REFUSED_NAMES:
            yield Complaint(path, line, "variable", name, "use a noun that says what it is")
    yield from first_words(path, tree)
    for passage in python_passages(path, text):
        yield from idioms(passage)


def _files(root: Path, places: Iterable[str], suffix: str) -> list[Path]:
    """Return the files of a suffix in the given folders, and those that are named directly."""
    return sorted(
        file
        for place in places
        for file in ([root / place] if place.endswith(suffix) else (root / place).rglob(f"*{suffix}"))
    )


def complaints(root: Path = ROOT) -> list[Complaint]:
    """Return all complaints about the modules and the pages of the project."""
    result: list[Complaint] = []
    for path in _files(root, FOLDERS, ".py"):
        result += module_complaints(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    for suffix in WEB:
        for path in _files(root, ["src"], suffix):
            if "vendor" not in path.parts:
                for passage in web_passages(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")):
                    result += idioms(passage)
    for path in _files(root, PAGES, ".md"):
        if path.is_file():
            result += idioms(page_passage(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")))
    for path in _files(root, ["docs"], ".ipynb"):
        for passage in notebook_passages(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")):
            result += idioms(passage)
    return sorted(result)


def main() -> None:
    """Print the complaints, and exit with 1 if there are any."""
    result = complaints()
    print("\n".join(map(str, result)) or "Names and prose are plain English.")
    raise SystemExit(1 if result else 0)


if __name__ == "__main__":
    main()
