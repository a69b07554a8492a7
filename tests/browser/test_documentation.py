"""The documentation as a site: built with warnings as errors, whole, searchable, and asking for nothing elsewhere."""

from __future__ import annotations

import contextlib
import html
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.browser.accessibility import violations
from tests.browser.site import Site
from tests.clients import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]*)"|<link\b[^>]*\bhref="([^"]*)"|url\(([^)]*)\)"""
)
SIZES = [(1366, 625, "light"), (390, 664, "dark")]
TRIES = 30
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
OF_NARROW_AND_DARK = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"]

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, with gallery and notebooks run for it."""
    folder = tmp_path_factory.mktemp("documentation")
    environment = os.environ | {"COBANDIT_DOCS_CACHE": str(folder / "cache")}
    command = [sys.executable, str(ROOT / "tools" / "docs.py"), str(folder / "site")]
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder / "site"


def article(built: Path, page: str) -> str:
    """What a page of the site says, without what stands around it."""
    text = (built / page).read_text(encoding="utf-8")
    return text[text.index("<article") : text.index("</article>")]


def site_page(path: Path) -> str:
    return str(path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html"))


def test_every_page_is_there_as_github_shows_it(built: Path) -> None:
    """Renderers differ in small things: a list without a blank line before it would be lost, and a table, too."""
    github = MarkdownIt("gfm-like", {"linkify": False})
    made_at_build = {Path("gallery.md"), Path("reference/api.md")}
    for path in set(PAGES) - made_at_build:
        expected, came = (
            github.render((ROOT / "docs" / path).read_text(encoding="utf-8")),
            article(built, site_page(path)),
        )
        for tag in ("h2", "h3", "li", "ol", "tr", "ul"):
            counts = [len(re.findall(rf"<{tag}[ >]", text)) for text in (expected, came)]
            assert counts[0] == counts[1], f"{path}: {tag}"


def test_every_public_name_with_signature_and_words(built: Path) -> None:
    modules = re.findall(
        r"^## (cobandit\S*)$", (ROOT / "docs/reference/api.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    for module in modules:
        page = article(built, f"reference/api/{module}.html")
        room = importlib.import_module(module)
        names = [name for name in room.__all__ if not inspect.ismodule(getattr(room, name))]
        assert not [name for name in names if f'id="{module}.{name}"' not in page]
    page = html.unescape(re.sub(r"<[^>]+>", "", article(built, "reference/api/cobandit.html")))
    assert re.search(r"simulate\(\s*problem: Problem,\s*team: ", page)
    assert "Play a team on a problem" in page or "runs" in page


def test_the_gallery_shows_what_its_code_drew(built: Path) -> None:
    page = article(built, "gallery.html")
    pictures = re.findall(r'<img alt="([^"]+)" class="picture" src="gallery/([\w-]+\.svg)#only-(?:light|dark)"', page)
    assert len(pictures) == 2 * (ROOT / "docs/gallery.md").read_text(encoding="utf-8").count("```python") >= 5
    for words, name in pictures:
        assert words
        assert "<svg" in (built / "gallery" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_show_what_they_gave(built: Path, notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs")], "outputs are made at build, and not kept"
    page = article(built, f"notebooks/{notebook.stem}.html")
    assert "Traceback" not in page
    assert "Compiling the fast engine" not in page
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert page.count('<div class="highlight"') + page.count("<pre><code>") > len(code), "nothing was printed"
    for picture in re.findall(r'src="([^"]+\.png)#only-(?:light|dark)"', page):
        assert (built / "notebooks" / picture).read_bytes().startswith(b"\x89PNG")
    assert "<img" in page
    assert (built / "notebooks" / notebook.name).read_bytes() == notebook.read_bytes()


def test_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    files = [*built.rglob("*.html"), *built.rglob("*.css")]
    assert len(files) > 60
    for file in files:
        loaded = [next(filter(None, match), "") for match in LOADED.findall(file.read_text(encoding="utf-8"))]
        away = [link for link in loaded if re.match(r"""["']?(https?:)?//""", link)]
        assert not away, f"{file.relative_to(built)} loads {away}"


def search(page: Any, word: str) -> None:
    """Look for a word, once the search says that it can, and wait for what it finds."""
    expect = pytest.importorskip("playwright.sync_api").expect
    box = page.get_by_role("textbox", name="Search")
    box.click()
    expect(page.locator(".md-search-result__meta")).to_have_text("Type to start searching")
    # The theme may begin to listen to keys a little after it says so: whoever sees nothing types again.
    for _ in range(TRIES):
        box.fill("")
        box.press_sequentially(word, delay=50)
        with contextlib.suppress(AssertionError):
            expect(page.locator(".md-search-result__item").first).to_contain_text(
                re.compile(word[:6], re.IGNORECASE), timeout=1000 * PATIENCE / TRIES
            )
            return
    raise AssertionError(f"nothing was found for {word!r}: {page.locator('.md-search-result__meta').inner_text()}")


def test_a_search_from_the_file_system(built: Path, visit: Any) -> None:
    opened = visit(built / "index.html")
    search(opened.page, "Thompson")
    assert not [request for request in opened.requests if not request.startswith(("file:", "data:", "about:", "blob:"))]
    assert opened.complaints == []


@pytest.mark.parametrize("word", ["regret", "observability", "window", "export", "simulate"])
def test_guides_are_found_before_symbols(built: Path, visit: Any, word: str) -> None:
    page = visit(built / "index.html").page
    search(page, word)
    first = str(page.locator(".md-search-result__item > a").first.get_attribute("href"))
    assert re.search(r"/(how-to|tutorials|discussion)/", first), first


@pytest.mark.parametrize("name", ["index", "gallery", "tutorials/first-simulation", "notebooks/own-agent"])
def test_the_palette_chooses_the_picture(built: Path, visit: Any, name: str) -> None:
    for scheme in ("light", "dark"):
        page = visit(built / f"{name}.html", color_scheme=scheme).page
        shown = [str(image.get_attribute("src")) for image in page.locator("article img").all() if image.is_visible()]
        assert shown
        assert all(source.endswith(f"#only-{scheme}") for source in shown), shown


def test_pictures_of_the_house_and_formulas_are_drawn(built: Path, visit: Any) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    opened = visit(built / "discussion" / "architecture.html")
    expect(opened.page.locator("div.mermaid")).to_have_count(5)
    assert opened.complaints == []
    page = visit(built / "notebooks" / "first-simulation.html").page
    expect(page.locator('math[display="block"] munderover').first).to_be_visible()


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_it_fits_and_can_be_used_by_all(
    built: Path, visit: Any, fits: Any, width: int, height: int, scheme: str
) -> None:
    for name in ("index", "gallery", "notebooks/first-simulation", "reference/api/cobandit.report"):
        page = visit(built / f"{name}.html", viewport={"width": width, "height": height}, color_scheme=scheme).page
        fits(page, name)
        if name == "index":
            assert violations(page, runOnly=WCAG) == []
            continue
        # What stands around an article is that of the index; a narrow dark one may spoil colours and what is cut off.
        rules = WCAG if scheme == "light" else {"type": "rule", "values": OF_NARROW_AND_DARK}
        assert violations(page, "article", runOnly=rules) == [], name


def test_the_server_shows_it_beside_the_studies(built: Path, tmp_path: Path, new_context: Any) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    with contextlib.closing(Site(tmp_path, docs=str(built))) as site:
        page = new_context().new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(site.address)
        page.get_by_role("navigation").get_by_role("link", name="Documentation").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("cobandit")
        search(page, "regret")
        page.goto(f"{site.address}/docs/discussion/architecture.html")
        expect(page.locator("div.mermaid")).to_have_count(5)
        assert complaints == []
