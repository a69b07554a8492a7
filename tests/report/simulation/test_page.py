"""The report page as a file; what a browser makes of it is in tests/browser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.experiments import PanelResult
from cobandit.experiments.claims import Quantity, Verdict
from cobandit.experiments.figures import PANELS, THEORY
from cobandit.report.kit.assets import chart_library, static_text
from cobandit.report.simulation.page import deciding, write_page, write_report

Make = Callable[..., PanelResult]
VOID = {"meta", "link", "br", "img", "path", "input"}


class Outline(HTMLParser):
    """Which elements there are; complains of those that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]


def page_of(results: list[PanelResult], folder: Path, **about: Any) -> str:
    path = write_page(results, folder, about)
    assert path == folder / "report.html"
    return path.read_text(encoding="utf-8")


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture(scope="module")
def everything(made_up: Make) -> list[PanelResult]:
    return [made_up(name) for name in (*PANELS, THEORY)]


@pytest.fixture(scope="module")
def whole(everything: list[PanelResult], third_party_scripts: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of every panel, which takes a while to draw."""
    folder = tmp_path_factory.mktemp("whole")
    page = page_of(everything, folder)
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    return page


def test_one_file_with_everything_in_it(everything: list[PanelResult], whole: str) -> None:
    outline = Outline(whole)
    assert all(link.startswith(("#", "data:")) for link in outline.attributes("href"))
    assert outline.attributes("src") == []
    assert [name for _, attributes in outline.elements for name in attributes if name.startswith("on")] == []
    ids = outline.attributes("id")
    assert len(ids) == len(set(ids))
    for result in everything:
        assert result.panel.name in ids
    assert "Permission is hereby granted" in whole, "uPlot's licence asks to be passed on"
    assert len(whole.encode()) < 550_000


def test_without_uplot_the_page_has_static_charts_and_says_so(
    without_scripts: Path, made_up: Make, tmp_path: Path
) -> None:
    page = page_of([made_up()], tmp_path)
    assert "The charts are static, because uPlot" in page
    assert "drawn with uPlot" not in page
    assert "Permission is hereby granted" not in page
    assert '<div class="static-charts"><div class="pair"><svg' in page


def test_every_described_and_linked_id_is_there(whole: str) -> None:
    outline = Outline(whole)
    ids = set(outline.attributes("id"))
    wanted = outline.attributes("aria-describedby") + outline.attributes("aria-labelledby")
    wanted += [link[1:] for link in outline.attributes("href") if link.startswith("#")]
    assert set(wanted) <= ids


def test_every_claim_has_its_verdict_in_words_and_numbers(everything: list[PanelResult], whole: str) -> None:
    verdicts = [verdict for result in everything for verdict in result.verdicts]
    assert whole.count("<tr data-outcome=") == len(verdicts)
    for word in ("holds", "does not hold", "undecided at 20 runs"):
        outcome = word.split(" at ")[0]
        expected = 2 * sum(verdict.outcome == outcome for verdict in verdicts)
        assert len(re.findall(rf'<span aria-hidden="true">.</span> {word}</span>', whole)) == expected
    assert len({verdict.outcome for verdict in verdicts}) == 3, "the made-up numbers should give all kinds"
    assert "growth of Naive Thompson: " in whole
    assert "Partner-Aware UCB minus Naive UCB: " in whole
    assert "partner-aware-ucb - naive-ucb" not in whole


def test_it_says_how_it_was_made(made_up: Make, tmp_path: Path) -> None:
    page = page_of([made_up()], tmp_path, when="yesterday", executor="dask", command="cobandit <x>", colour="blue")
    for head, value in [
        ("Made", "yesterday"),
        ("Run by", "dask"),
        ("Runs", "20 runs for each curve"),
        ("Rounds", "200 rounds"),
        ("Seed", "0"),
        ("Index", "paper"),
        ("Engine", "fast, 1.5 s in all"),
        ("Command", '<code tabindex="0">cobandit &lt;x&gt;</code>'),
        ("colour", "blue"),
    ]:
        assert f"<dt>{head}</dt><dd>{value}</dd>" in page
    assert "<dt>Machine</dt>" in page
    assert "<dt>Version</dt>" in page


def test_heavy_tails_are_spoken_of_where_runs_are_few(made_up: Make, tmp_path: Path) -> None:
    assert "Heavy tails, 20 runs." in page_of([made_up()], tmp_path)
    assert "Heavy tails" not in page_of([made_up(runs=1_000)], tmp_path)


def test_final_values_are_rounded_for_people(made_up: Make, tmp_path: Path) -> None:
    result = made_up()
    page = page_of([result], tmp_path)
    final = result.curves[2].team_regret[:, -1]
    error = final.std(ddof=1) / math.sqrt(20)
    assert f'<td class="number">{final.mean():,.0f} ± {error:,.0f}</td>' in page


def test_the_data_are_those_drawn_rounded(made_up: Make, tmp_path: Path) -> None:
    result = made_up()
    (panel,) = data_of(page_of([result], tmp_path))["panels"]
    assert panel["rounds"] == result.curves[0].checkpoints.tolist()
    curve = panel["curves"][1]
    mean = result.curves[1].team_regret.mean(axis=0)
    assert [curve["factor"] * x for x in curve["mean"]] == pytest.approx(mean.tolist(), rel=1e-4)
    assert all(len(f"{x:g}".replace(".", "")) <= 6 for x in curve["mean"])


def test_theory_says_when_a_bound_says_nothing(made_up: Make, tmp_path: Path) -> None:
    page = page_of([made_up(THEORY, horizon=2_000)], tmp_path)
    assert "8,214" in page
    assert "lie above what losing every round would cost" in page
    levels = data_of(page)["panels"][0]["levels"]
    assert [level["label"] for level in levels] == [
        "bound as printed",
        "bound as proved",
        "safe bound",
        "every round lost",
    ]


def test_figures_are_linked_if_they_are_there(made_up: Make, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for kind in ("pdf", "svg"):
        (tmp_path / "figures" / f"sim1-left.{kind}").touch()
    page = page_of([made_up()], tmp_path)
    assert '<a href="figures/sim1-left.pdf">PDF</a>' in page
    assert '<a href="figures/sim1-left.svg">SVG</a>' in page
    assert "sim1-left.png" not in page


@pytest.mark.usefixtures("third_party_scripts")
def test_no_text_can_break_out(made_up: Make, tmp_path: Path) -> None:
    nasty = "</script><!--<script>&\"'><img src=x>$title${script}{{ 7 * 7 }}{% raw %}\u2028"
    result = made_up(labels=[nasty, "b"], title=nasty, varies=nasty, fixed=nasty, claims=())
    page = page_of([result], tmp_path, title=nasty, lead=nasty, when=nasty, **{nasty: nasty})
    assert "img" not in [tag for tag, _ in Outline(page).elements]
    assert page.count("</script>") == 3
    assert page.count("<script") == 3 + _static_mentions("<script")
    assert data_of(page)["panels"][0]["curves"][0]["label"].startswith("</script>")


def _static_mentions(text: str) -> int:
    library = chart_library()
    assert library is not None
    return static_text("report.js").count(text) + library.script.count(text)


def test_equal_results_give_equal_pages(made_up: Make, tmp_path: Path) -> None:
    assert page_of([made_up()], tmp_path / "a", when="now") == page_of([made_up()], tmp_path / "b", when="now")


def test_a_sweep_of_ones_own_without_claims(made_up: Make, tmp_path: Path) -> None:
    page = page_of([made_up(name="sim4", claims=()), made_up(name="apx1", claims=())], tmp_path)
    assert "No claims were made." in page
    assert "What it must show" not in page


def test_one_run_and_two_rounds(made_up: Make, tmp_path: Path) -> None:
    page = page_of([made_up(runs=1, horizon=2)], tmp_path)
    Outline(page)
    assert data_of(page)["panels"][0]["curves"][0]["se"] is None
    assert "NaN" not in page.split('id="data"')[1].split("</script>")[0]
    assert "(no interval)" in page


def test_nothing_to_report_is_refused(tmp_path: Path) -> None:
    for write in (write_page, write_report):
        with pytest.raises(InvalidInput, match="at least one panel"):
            write([], tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_the_whole_report_is_figures_and_page(made_up: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.report.kit.figure.FORMATS", ("svg",))
    path = write_report([made_up()], tmp_path)
    assert '<a href="figures/sim1-left.svg">SVG</a>' in path.read_text(encoding="utf-8")
    assert (tmp_path / "figures" / "sim1-left.svg").is_file()


def test_a_folder_that_cannot_be_made_is_refused(made_up: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="cannot be made"):
        write_page([made_up()], tmp_path / "file", {})


def verdict(kind: str, outcome: Any, *limits: tuple[float, float, float]) -> Verdict:
    found = tuple(Quantity(f"f{n}", *numbers) for n, numbers in enumerate(limits))
    return Verdict("c", kind, outcome, "r", found, 10)


@pytest.mark.parametrize(
    ("judged", "name"),
    [
        (verdict("linear", "holds", (2.0, 1.9, 2.1)), "f0"),
        (verdict("beats", "holds", (-9, -10, -8), (-3, -5, -1), (-6, -7, -5)), "f1"),
        (verdict("beats", "does not hold", (-9, -10, -8), (0, -5, 5), (3, 1, 4)), "f2"),
        (verdict("rises", "undecided", (-9, -10, -8), (0, -5, 5)), "f1"),
        (verdict("no difference", "holds", (0, -1, 1), (0.5, -1, 2), (5, 5, 5)), "f1"),
        (verdict("no difference", "does not hold", (1, 0.5, 2), (-9, -12, -6), (9, -1, 19), (5, 5, 5)), "f1"),
        (verdict("no difference", "undecided", (0, -1, 1), (0.5, -20, 2), (5, 5, 5)), "f1"),
        (verdict("below bound", "holds", (1, 0, 2), (9, 9, 9)), "f0"),
    ],
)
def test_the_deciding_number_is_the_one_nearest_to_the_wrong_side(judged: Verdict, name: str) -> None:
    assert deciding(judged).name == name
