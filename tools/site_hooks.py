"""What the documentation site has beside the pages of docs/: mkdocs calls these functions (see mkdocs.yml).

The navigation is read from docs/index.md, so a page is listed once. Made from the code at every build: the API
reference, the pictures of the gallery, and the notebooks with what they show. What was run is kept in out/docs-cache,
by the digest of its code and of the package.
"""

from __future__ import annotations

import hashlib
import html
import importlib
import inspect
import json
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CACHE = Path(os.environ.get("COBANDIT_DOCS_CACHE", ROOT / "out" / "docs-cache"))

PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md")
"""Pages at the root of the repository; on the site they lie in project/."""

SIGNATURES = "reference/api.md"
GLOSSARY = "reference/glossary.md"
GALLERY = "gallery.md"
VENDOR = "assets/vendor"
"""Third-party scripts of the site, which tools/third_party.py fetches."""

FENCED = re.compile(r"(^ *```.*?^ *```[ ]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
LIST_AFTER_TEXT = re.compile(r"^(?![-*] |[|>#\s]|\d+\. )(.+)\n(?=- |\* |1\. )", re.MULTILINE)
PICTURE = re.compile(r"<!-- picture: (\S+), ([^\n]*) -->\n+```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
INTERNAL_TITLE = re.compile(r"^\| \[\d+\]\(([^)]+)\) \| (.+) \|$", re.MULTILINE)

RUN_TIMEOUT = 600


# ---- the navigation ----


def on_config(config: MkDocsConfig) -> None:
    """Read the navigation from the index, and load no script from elsewhere.

    The theme's plugin "offline" has added the address of a script that lets the search work from the file system. The
    site has its own copy; without the copy only a server can show the search.
    """
    config.nav = navigation((DOCS / "index.md").read_text(encoding="utf-8"))
    shim = third_party_script("iframe-worker", "index.js")
    config.extra["polyfills"] = [shim] if shim else []


def third_party_script(library: str, file: str) -> str | None:
    """Return the path of a third-party script on the site, None where tools/third_party.py has not fetched it."""
    paths = sorted((DOCS / VENDOR).glob(f"{library}-*/{file}"))
    return paths[-1].relative_to(DOCS).as_posix() if paths else None


def navigation(index: str) -> list[Any]:
    """The sections of the index with their links; a line of its own that ends in a colon begins a part of a section."""
    nav: list[Any] = [{"Home": "index.md"}]
    target: list[Any] = nav
    section: list[Any] = nav
    for line in index.splitlines():
        if line.startswith("## "):
            section = target = []
            nav.append({line.removeprefix("## ").rpartition(": ")[2].capitalize(): section})
        elif line.endswith(":") and section is not nav:
            target = []
            section.append({line.removesuffix(":"): target})
        elif line.startswith("- "):
            target += [_entry(title, link) for title, link in LINK.findall(line)]
    return nav


def _entry(title: str, link: str) -> dict[str, Any]:
    path = site_path("index.md", link)
    if path == "decisions/README.md":
        pages = INTERNAL_TITLE.findall((DOCS / path).read_text(encoding="utf-8"))
        return {title: [path, *({text: f"decisions/{file}"} for file, text in pages)]}
    if path == SIGNATURES:
        return {title: [path, *({name: _api_path(name)} for name in public_modules())]}
    return {title: path}


def site_path(page: str, link: str) -> str:
    """Where a link of a page leads on the site, by its path in docs/: notebooks are pages, so are those at the root."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    if path.startswith("../") and path.removeprefix("../") in PROJECT:
        return f"project/{path.removeprefix('../')}"
    return path.removesuffix(".ipynb") + ".md" if path.endswith(".ipynb") else path


# ---- pages that are made ----


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root, the API reference, the notebooks and the pictures."""
    from mkdocs.structure.files import File

    generated: dict[str, str | bytes] = {f"project/{name}": _at_the_root(name) for name in PROJECT}
    generated |= {_api_path(name): api_page(name) for name in public_modules()}
    notebooks = sorted((DOCS / "notebooks").glob("*.ipynb"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        gallery = pool.submit(pictures, (DOCS / GALLERY).read_text(encoding="utf-8"))
        for played in pool.map(notebook_files, notebooks):
            generated |= played
        generated |= gallery.result()
    for path, content in generated.items():
        files.append(File.generated(config, path, content=content))
    return files


def _at_the_root(name: str) -> str:
    """A page of the root; its links into docs/ lead out of project/."""
    return LINK.sub(
        lambda link: f"[{link[1]}](../{link[2].removeprefix('docs/')})" if link[2].startswith("docs/") else link[0],
        (ROOT / name).read_text(encoding="utf-8"),
    )


@cache
def public_modules() -> tuple[str, ...]:
    """The modules whose names are public, as the page of signatures lists them."""
    page = (DOCS / SIGNATURES).read_text(encoding="utf-8")
    return tuple(re.findall(r"^## (cobandit\S*)$", page, re.MULTILINE))


def _api_path(module: str) -> str:
    return f"reference/api/{module}.md"


def api_page(module_name: str) -> str:
    """Every public name of a module, which mkdocstrings turns into signature and docstring."""
    module = importlib.import_module(module_name)
    names = [name for name in sorted(module.__all__, key=str.lower) if not inspect.ismodule(getattr(module, name))]
    parts = [f"::: {module_name}.{name}" for name in names]
    words = inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]
    return f"# {module_name}\n\n{words}\n\n" + "\n\n".join(parts) + "\n"


# ---- what is run ----


@cache
def package_digest() -> str:
    """The digest of the package's own code."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted((ROOT / "src" / "cobandit").rglob("*")):
        if path.suffix in (".py", ".toml", ".html", ".css", ".js"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _cached(code: str, kind: str) -> Path:
    key = hashlib.sha256(f"{kind}\n{package_digest()}\n{code}".encode()).hexdigest()[:32]
    return CACHE / f"{kind}-{key}"


def pictures(gallery: str) -> dict[str, str | bytes]:
    """Run the code of the gallery, one picture after another in one process, and take the pictures it writes."""
    wanted = [name for name, _, _ in PICTURE.findall(gallery)]
    code = "\n".join(block for _, _, block in PICTURE.findall(gallery))
    folder = _cached(code, "gallery")
    if not all((folder / name).is_file() for name in wanted):
        folder.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"MPLBACKEND": "Agg"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=environment,
            text=True,
            capture_output=True,
            timeout=RUN_TIMEOUT,
        )
        missing = [name for name in wanted if not (folder / name).is_file()]
        if done.returncode or missing:
            raise RuntimeError(f"The gallery was not drawn ({', '.join(missing)} missing):\n{done.stderr}")
    return {f"gallery/{name}": (folder / name).read_bytes() for name in wanted}


def notebook_files(path: Path) -> dict[str, str | bytes]:
    """A notebook as a page, with what its cells give, and its pictures."""
    source = path.read_text(encoding="utf-8")
    folder = _cached(source, "notebook")
    store = folder / "page.json"
    if not store.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        page, images = play_notebook(source)
        for name, data in images.items():
            (folder / name).write_bytes(data)
        store.write_text(json.dumps({"page": page, "images": sorted(images)}), encoding="utf-8")
    stored = json.loads(store.read_text(encoding="utf-8"))
    files: dict[str, str | bytes] = {
        f"notebooks/{path.stem}_files/{name}": (folder / name).read_bytes() for name in stored["images"]
    }
    page = str(stored["page"]).replace("](output_", f"]({path.stem}_files/output_")
    return files | {f"notebooks/{path.stem}.md": f"{page}\n\n[This page as a notebook]({path.name})\n"}


def play_notebook(source: str) -> tuple[str, dict[str, bytes]]:
    """Run every cell in a fresh folder; the page in Markdown, and the pictures by name."""
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import MarkdownExporter

    notebook = nbformat.reads(source, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as sockets:
        os.environ.setdefault("IPYTHONDIR", str(CACHE / "ipython"))
        client = NotebookClient(
            notebook,
            timeout=RUN_TIMEOUT,
            startup_timeout=RUN_TIMEOUT,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        kernel = client.create_kernel_manager()
        if sys.platform != "win32":  # files instead of ports
            kernel.transport, kernel.ip = "ipc", str(Path(sockets) / "kernel")
        client.execute()
    for cell in notebook.cells:
        cell.outputs = [output for output in cell.get("outputs", ()) if not _is_notice(output)]
    page, resources = MarkdownExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    return str(page), dict(resources.get("outputs", {}))


def _is_notice(output: Any) -> bool:
    """Whether a cell says no more than that the engine is compiled, which happens once on a machine."""
    return bool(output.get("name") == "stderr" and output.text.startswith("Compiling the fast engine"))


# ---- pages on their way ----


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links to where things are on the site, and give lists the blank line that this renderer needs."""
    source = page.file.src_uri
    if source == GALLERY:
        markdown = PICTURE.sub(lambda match: _with_picture(*match.groups()), markdown)
    if source == SIGNATURES:
        names = ", ".join(f"[{name}](api/{name}.md)" for name in public_modules())
        markdown = markdown.replace("\n## ", f"\nWith their docstrings: {names}.\n\n## ", 1)
    pieces = FENCED.split(markdown)
    for place in range(0, len(pieces), 2):
        text = LIST_AFTER_TEXT.sub(r"\1\n\n", pieces[place])
        pieces[place] = LINK.sub(lambda link: f"[{link[1]}]({_on_site(source, link[2])})", text)
    text = "".join(pieces)
    if source != GLOSSARY:
        glossary = posixpath.relpath(GLOSSARY, posixpath.dirname(source))
        text += f"\n\nUnknown words are explained in the [glossary]({glossary}).\n{{ .glossary }}\n"
    return _with_diagrams(text, source) if "```mermaid" in text else text


def _with_diagrams(text: str, source: str) -> str:
    """Add the script that draws diagrams. Without it show their source, or the theme loads a script from elsewhere."""
    mermaid = third_party_script("mermaid", "mermaid.tiny.js")
    if mermaid is None:
        note = "\n*The diagrams are shown as text, because mermaid was not installed when this page was built.*\n"
        return text.replace("```mermaid", "```text") + note
    return text + f'\n<script src="{posixpath.relpath(mermaid, posixpath.dirname(source))}"></script>\n'


def _with_picture(name: str, words: str, code: str) -> str:
    return f"![{words}](gallery/{name}){{ .picture }}\n\n```python\n{code}```"


def _on_site(source: str, link: str) -> str:
    path, mark, anchor = link.partition("#")
    if not path or "://" in path or (source.startswith("notebooks/") and posixpath.dirname(path) == ""):
        return link
    target = site_path(source, path)
    if not (path.endswith(".ipynb") or target.startswith("project/")):
        return link
    return posixpath.relpath(target, posixpath.dirname(source)) + mark + anchor


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Formulas become MathML, which browsers draw by themselves."""
    return FORMULA.sub(_formula, html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give the dialogue of the search a name, which the theme forgets."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def _formula(match: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    return convert(html.unescape(match[2]), display="block" if match[1] == "div" else "inline")
