"""Add generated pages, navigation and formulas to the documentation site: mkdocs calls these functions (see
mkdocs.yml).

The navigation is read from docs/index.md, so a page is listed once. Every build generates the API reference, the
pictures of the gallery, and the notebooks with their outputs. Results are cached in out/docs-cache under the digest of
their code and of the package.
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
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CACHE = Path(os.environ.get("COBANDIT_DOCS_CACHE", ROOT / "out" / "docs-cache"))

PROJECT = ("CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md")
"""Pages at the root of the repository; on the site they are in project/."""

SIGNATURES = "reference/api.md"
GLOSSARY = "reference/glossary.md"
GALLERY = "gallery.md"
COLAB = "https://colab.research.google.com"
LITE = "COBANDIT_DOCS_LITE"
"""The variable that tools/docs.py sets if the site has the notebooks in JupyterLite, too, in lite/."""
LITE_PAGE = "../lite/lab/index.html?path="
INSTALL_TAG = "install"
"""The tag of the cell that installs the package in Colab or JupyterLite; pages leave it out."""

VENDOR = "assets/vendor"
"""Third-party scripts of the site, which tools/third_party.py fetches."""

FENCED = re.compile(r"(^ *```.*?^ *```[ ]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
LIST_AFTER_TEXT = re.compile(r"^(?![-*] |[|>#\s]|\d+\. )(.+)\n(?=- |\* |1\. )", re.MULTILINE)
PICTURE = re.compile(r"<!-- picture: (\S+), ([^\n]*) -->\n+```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOTEBOOK_PICTURE = re.compile(r"!\[[^\]]*\]\((output_[^)]+)\)")
THEMED_PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"\s*/?>\s*'
    r'<img src="([^"]+)"([^>]*?)\s*/?>\s*</picture>'
)
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
INTERNAL_TITLE = re.compile(r"^\| \[\d+\]\(([^)]+)\) \| (.+) \|$", re.MULTILINE)

RUN_TIMEOUT = 600

DARK_PAGE, DARK_INK, DARK_SOFT, DARK_GRID = "#1e2129", "#e2e4e9", "#b4bac4", "#3b404b"
"""Background, text, secondary text and grid of a figure on a dark page; the background is that of the dark theme."""

DARK_SETTINGS = {
    DARK_PAGE: ("axes.facecolor", "figure.facecolor", "legend.facecolor", "savefig.facecolor"),
    DARK_INK: (
        "axes.labelcolor",
        "axes.titlecolor",
        "legend.labelcolor",
        "text.color",
        "xtick.labelcolor",
        "ytick.labelcolor",
    ),
    DARK_SOFT: ("axes.edgecolor", "legend.edgecolor", "patch.edgecolor", "xtick.color", "ytick.color"),
    DARK_GRID: ("grid.color",),
}
"""Settings of Matplotlib for a dark page, by colour."""

BOOSTS = {"how-to/": 8, "tutorials/": 12, "reference/api": 0.05, "decisions/": 0.2, "project/": 0.1}
"""Search weight of the pages of each folder, 1 for all others: a guide ranks above a symbol of the same name."""


# ---- the navigation ----


def on_config(config: MkDocsConfig) -> None:
    """Read the navigation from the index, and load no script from another site.

    The theme's plugin "offline" adds the address of a script that lets the search work from the file system. The site
    has its own copy of that script; without the copy, the search works only on a server.
    """
    config.nav = navigation((DOCS / "index.md").read_text(encoding="utf-8"))
    shim = third_party_script("iframe-worker", "index.js")
    config.extra["polyfills"] = [shim] if shim else []


def third_party_script(library: str, file: str) -> str | None:
    """Return the path of a third-party script on the site, or None if tools/third_party.py has not fetched it."""
    paths = sorted((DOCS / VENDOR).glob(f"{library}-*/{file}"))
    return paths[-1].relative_to(DOCS).as_posix() if paths else None


def navigation(index: str) -> list[Any]:
    """Return the sections of the index with their links. A line that ends in a colon starts a part of a section."""
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
    """Return where a link of a page leads on the site, as a path in docs/. Notebooks and root files are pages, too."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    if path.startswith("../") and path.removeprefix("../") in PROJECT:
        return f"project/{path.removeprefix('../')}"
    return path.removesuffix(".ipynb") + ".md" if path.endswith(".ipynb") else path


# ---- generated pages ----


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root, the API reference, the notebooks and the pictures."""
    from mkdocs.structure.files import File

    generated: dict[str, str | bytes] = {f"project/{name}": _at_the_root(name) for name in PROJECT}
    generated |= {_api_path(name): api_page(name) for name in public_modules()}
    notebooks = sorted((DOCS / "notebooks").glob("*.ipynb"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        galleries = [
            pool.submit(pictures, (DOCS / GALLERY).read_text(encoding="utf-8"), dark=dark) for dark in (False, True)
        ]
        for played in pool.map(notebook_files, notebooks):
            generated |= played
        for gallery in galleries:
            generated |= gallery.result()
    for path, content in generated.items():
        files.append(File.generated(config, path, content=content))
    return files


def _at_the_root(name: str) -> str:
    """Return a page of the root, with its links into docs/ adapted to project/."""
    return LINK.sub(
        lambda link: f"[{link[1]}](../{link[2].removeprefix('docs/')})" if link[2].startswith("docs/") else link[0],
        (ROOT / name).read_text(encoding="utf-8"),
    )


@cache
def public_modules() -> tuple[str, ...]:
    """Return the modules whose names are public, in the order of the page of signatures."""
    page = (DOCS / SIGNATURES).read_text(encoding="utf-8")
    return tuple(re.findall(r"^## (cobandit\S*)$", page, re.MULTILINE))


def _api_path(module: str) -> str:
    return f"reference/api/{module}.md"


def api_page(module_name: str) -> str:
    """Return the page of a module: mkdocstrings replaces every public name by signature and docstring."""
    module = importlib.import_module(module_name)
    names = [name for name in sorted(module.__all__, key=str.lower) if not inspect.ismodule(getattr(module, name))]
    parts = [f"::: {module_name}.{name}" for name in names]
    words = inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]
    return f"# {module_name}\n\n{words}\n\n" + "\n\n".join(parts) + "\n"


# ---- pages with executed code ----


@cache
def package_digest() -> str:
    """Return the digest of the package's own code."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sorted((ROOT / "src" / "cobandit").rglob("*")):
        if path.suffix in (".py", ".toml", ".html", ".css", ".js"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _cached(code: str, kind: str) -> Path:
    key = hashlib.sha256(f"{kind}\n{package_digest()}\n{code}".encode()).hexdigest()[:32]
    return CACHE / f"{kind}-{key}"


def pictures(gallery: str, *, dark: bool = False) -> dict[str, str | bytes]:
    """Run the code of the gallery, picture by picture in one process, and return the pictures that it writes."""
    wanted = [name for name, _, _ in PICTURE.findall(gallery)]
    code = "\n".join(block for _, _, block in PICTURE.findall(gallery))
    folder = _cached(code, "gallery-dark" if dark else "gallery")
    if not all((folder / name).is_file() for name in wanted):
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=os.environ | {"MPLBACKEND": "Agg"} | (_dark_environment() if dark else {}),
            text=True,
            capture_output=True,
            timeout=RUN_TIMEOUT,
        )
        missing = [name for name in wanted if not (folder / name).is_file()]
        if done.returncode or missing:
            raise RuntimeError(f"The gallery was not drawn ({', '.join(missing)} missing):\n{done.stderr}")
    if not dark:
        return {f"gallery/{name}": (folder / name).read_bytes() for name in wanted}
    return {
        f"gallery/{dark_name(name)}": dark_svg((folder / name).read_text(encoding="utf-8")).encode() for name in wanted
    }


def _dark_environment() -> dict[str, str]:
    """Return the variable that makes Matplotlib draw for a dark page, with the settings file that it names."""
    from cobandit.report.kit.palette import DARK_COLOURS

    cycle = ", ".join(f"'{colour[1:]}'" for colour in DARK_COLOURS)
    lines = [f"{name}: {colour[1:]}" for colour, names in DARK_SETTINGS.items() for name in names]
    CACHE.mkdir(parents=True, exist_ok=True)
    settings = CACHE / "dark-matplotlibrc"
    settings.write_text("\n".join([*lines, f"axes.prop_cycle: cycler('color', [{cycle}])", ""]), encoding="utf-8")
    return {"MATPLOTLIBRC": str(settings)}


def dark_svg(drawing: str) -> str:
    """Return a drawing with the colours that the package names itself, which no setting changes, made for a dark page.

    Black stays as it is: with dark settings only text that the code itself puts on a bright field is black.
    """
    from cobandit.report.kit.palette import COLOURS, DARK_COLOURS, FAINT, GREY

    pairs = {light.lower(): dark for light, dark in zip(COLOURS, DARK_COLOURS, strict=True) if light != "#000000"}
    pairs |= {GREY.lower(): DARK_SOFT, FAINT.lower(): DARK_GRID}
    return re.sub("#[0-9a-fA-F]{6}", lambda colour: pairs.get(colour[0].lower(), colour[0]), drawing)


def dark_name(path: str) -> str:
    """Return the name of the dark version of a picture."""
    stem, dot, kind = path.rpartition(".")
    return f"{stem}-dark{dot}{kind}"


def in_both(words: str, path: str, attributes: str = "") -> str:
    """Return a picture in Markdown: the theme shows the light or the dark version, by the palette of the page."""
    return f"![{words}]({path}#only-light){attributes}\n![{words}]({dark_name(path)}#only-dark){attributes}"


def notebook_files(path: Path) -> dict[str, str | bytes]:
    """Return a notebook as a page, with the outputs of its cells, and its pictures."""
    source = path.read_text(encoding="utf-8")
    folder = _cached(source, "notebook-without-install")
    store = folder / "page.json"
    if not store.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        page, images = play_notebook(source)
        _, dark_images = play_notebook(source, _dark_environment())
        images |= {dark_name(name): data for name, data in dark_images.items()}
        for name, data in images.items():
            (folder / name).write_bytes(data)
        store.write_text(json.dumps({"page": page, "images": sorted(images)}), encoding="utf-8")
    stored = json.loads(store.read_text(encoding="utf-8"))
    files: dict[str, str | bytes] = {
        f"notebooks/{path.stem}_files/{name}": (folder / name).read_bytes() for name in stored["images"]
    }
    page = NOTEBOOK_PICTURE.sub(
        lambda match: in_both("Figure of the code above", f"{path.stem}_files/{match[1]}"), stored["page"]
    )
    return files | {f"notebooks/{path.stem}.md": f"{_with_badge(page, path.name)}"}


def _with_badge(page: str, name: str) -> str:
    """Return a page with links, below its title, that open it in Colab and in JupyterLite, and download it."""
    title, _, rest = page.partition("\n")
    colab = f"{COLAB}/{repository().removeprefix('https://')}/blob/main/docs/notebooks/{name}".replace(
        "/github.com/", "/github/"
    )
    links = f"[Open in Colab]({colab}){{ .md-button }} [Download the notebook]({name}){{ .md-button }}"
    if os.environ.get(LITE):  # HTML, because mkdocs would look for the address among the pages
        links += f' <a class="md-button" href="{LITE_PAGE}{name}">Open in JupyterLite</a>'
    return f"{title}\n\n{links}\n{rest}"


@cache
def repository() -> str:
    """Return the public address of the source, the one setting for it: `project.urls` in pyproject.toml."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"])


def play_notebook(source: str, environment: Mapping[str, str] = MappingProxyType({})) -> tuple[str, dict[str, bytes]]:
    """Run every cell in a fresh folder, and return the page in Markdown and the pictures by name."""
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
        client.execute(env=os.environ | environment)
    notebook.cells = [cell for cell in notebook.cells if INSTALL_TAG not in cell.metadata.get("tags", ())]
    for cell in notebook.cells:
        cell.outputs = [output for output in cell.get("outputs", ()) if not _is_notice(output)]
    page, resources = MarkdownExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    return str(page), dict(resources.get("outputs", {}))


def _is_notice(output: Any) -> bool:
    """Return whether the output is only the message about compiling the engine, which is printed once per machine."""
    return bool(output.get("name") == "stderr" and output.text.startswith("Compiling the fast engine"))


# ---- page rendering ----


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links for the site, and add the blank line that this renderer needs before lists."""
    source = page.file.src_uri
    boost = next((weight for folder, weight in BOOSTS.items() if source.startswith(folder)), None)
    if boost is not None:
        page.meta.setdefault("search", {"boost": boost})
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
    """Add the script that draws diagrams. If it is missing, show the source of diagrams, because the theme would load a
    script from another site.
    """
    mermaid = third_party_script("mermaid", "mermaid.tiny.js")
    if mermaid is None:
        note = "\n*The diagrams are shown as text, because mermaid was not installed when this page was built.*\n"
        return text.replace("```mermaid", "```text") + note
    return text + f'\n<script src="{posixpath.relpath(mermaid, posixpath.dirname(source))}"></script>\n'


def _with_picture(name: str, words: str, code: str) -> str:
    return f"{in_both(words, f'gallery/{name}', '{ .picture }')}\n\n```python\n{code}```"


def _on_site(source: str, link: str) -> str:
    path, mark, anchor = link.partition("#")
    if not path or "://" in path or (source.startswith("notebooks/") and posixpath.dirname(path) == ""):
        return link
    target = site_path(source, path)
    if not (path.endswith(".ipynb") or target.startswith("project/")):
        return link
    return posixpath.relpath(target, posixpath.dirname(source)) + mark + anchor


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Convert formulas to MathML, which browsers draw without a script; make pictures follow the palette."""
    return THEMED_PICTURE.sub(_by_palette, FORMULA.sub(_formula, html))


def _by_palette(match: re.Match[str]) -> str:
    """Show both versions of a picture to the theme, which hides one: <picture> knows the system's setting alone."""
    dark, light, rest = match.groups()
    return f'<img src="{light}#only-light"{rest}><img src="{dark}#only-dark"{rest}>'


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Add the missing accessible name to the search dialogue of the theme."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def _formula(match: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    return convert(html.unescape(match[2]), display="block" if match[1] == "div" else "inline")
