"""The report of a study as files: it says what the analysis says; what a browser makes of it is in tests/browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cobandit.analysis import Analysis, analyse_data, default_plan, plan_toml
from cobandit.analysis.findings import mark
from cobandit.analysis.words import apa_number, effect, p_value, statistic
from cobandit.base.errors import InvalidInput, MissingExtra
from cobandit.base.records import Table
from cobandit.report import write_study_report
from cobandit.stats import Finding
from cobandit.studies import StudyData, StudyDesign, load_design
from tests.parameters import quick
from tests.report.study.people import opinion, simulated_people

VOID = {"meta", "link", "br", "img", "path", "input", "use", "rect"}
SILENT = {"script", "style"}
DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


class Page(HTMLParser):
    """Elements, visible text, and the rows of the tables; complains of tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.shown: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.rows: dict[str, dict[str, str]] = {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(tag in SILENT for tag, _ in self.open):
            return
        self.shown.append(data)
        row = ""
        for _, attributes in self.open:
            if attributes.get("id"):
                self.texts.setdefault(str(attributes["id"]), []).append(data)
            row = str(attributes.get("id")) if str(attributes.get("id")).startswith("result-") else row
            if row and attributes.get("data-head"):
                cells = self.rows.setdefault(row, {})
                head = str(attributes["data-head"])
                cells[head] = cells.get(head, "") + data

    @cached_property
    def text(self) -> str:
        return " ".join(" ".join(self.shown).split())

    def part(self, id: str) -> str:
        return "".join(self.texts[id])

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]


class Report(NamedTuple):
    analysis: Analysis
    folder: Path
    page: Page


def people(design: StudyDesign, count: int, answers: Any = "drawn") -> StudyData:
    return simulated_people(design, count, answers, "win-stay-lose-shift")


def as_if_real(design: StudyDesign, count: int) -> StudyData:
    """Made-up people with a plan that came first; the last one left, and two are simulated after all."""
    data = people(design, count, opinion)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = [
        replace(person, id=f"p{i}", kind="rehearsal" if i < 2 else "real", consented_at=start + timedelta(hours=i))
        for i, person in enumerate(data.participants)
    ]
    made[-1] = replace(made[-1], status="dropped", episodes={0: made[-1].episodes[0]})
    plan = default_plan(design, n=count)
    plan = replace(plan, hypotheses=tuple(one for one in plan.hypotheses if one.family != "P"))
    about = {"plan_fixed_at": "2025-12-31T00:00:00Z"}
    return replace(data, participants=tuple(made), plan=plan_toml(plan), plan_digest=None, about=about)


def casino(rounds: int = 12, episodes: int = 3) -> StudyDesign:
    return replace(load_design("casino"), rounds=rounds, episodes=episodes, practice=None)


def reported(data: StudyData, folder: Path, **about: Any) -> Report:
    analysis = analyse_data(data)
    path = write_study_report(analysis, folder, about)
    assert path == folder / "report.html"
    return Report(analysis, folder, Page(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return reported(
        as_if_real(load_design("burger"), 14), tmp_path_factory.mktemp("real"), when="today", command="a <b>"
    )


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return reported(people(casino(), 5), tmp_path_factory.mktemp("rehearsal"))


def shown_p(p: float | None, stars: str) -> str:
    return DASH if p is None else f"{p_value(p).removeprefix('p ').removeprefix('= ')} {stars}".strip()


def cells_of(found: Finding, of: str) -> dict[str, str]:
    """What a row of the results must show, from the words of the analysis; ``of``: the rule for asterisks."""
    one = re.sub(r"\(.*?\)(?= = )", "", statistic(found))
    limits = (
        f" [{apa_number(found.estimate_low)}, {apa_number(found.estimate_high or 0.0)}]"
        if found.estimate_low is not None
        else ""
    )
    size = effect(found).replace("_", "").replace("generalised eta squared", "η²").replace("Cronbach alpha", "alpha")
    return {
        "n": str(found.n),
        "Statistic": one or DASH,
        "p": shown_p(found.p, mark(found.p) if of == "paper" or found.p_adjusted is None else ""),
        "p, corrected": shown_p(found.p_adjusted, mark(found.p_adjusted)),
        "Difference": DASH if found.estimate is None else apa_number(found.estimate) + limits,
        "Effect": re.sub(r", [\d.]+% CI", "", size) or DASH,
    }


@pytest.mark.parametrize("which", quick(["real", "rehearsal"], ["real"]))
def test_every_row_shows_the_numbers_of_the_analysis(which: str, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(which)
    assert len(report.page.rows) == len(report.analysis.results)
    for row in report.analysis.results:
        shown = report.page.rows["result-" + re.sub(r"[^A-Za-z0-9_-]+", "-", row.id)]
        plain = {head: cell.replace(MINUS, "-").replace("\N{NO-BREAK SPACE}", " ") for head, cell in shown.items()}
        if " minus " in row.finding.estimate_name:
            plain["Difference"] = plain["Difference"].removesuffix(row.finding.estimate_name)
        wanted = cells_of(row.finding, report.analysis.plan.marks)
        assert {head: plain[head] for head in wanted} == wanted, row.id
        df = row.finding.df
        assert (shown["df"] == DASH) == (df is None)
        if df is not None:
            assert [float(value) for value in shown["df"].split(", ")] == pytest.approx(df, abs=0.006)
        if row.finding.note:
            assert row.finding.note in report.page.text, row.id


def test_the_page_opens_with_its_headline_figure(real: Report) -> None:
    source, text = real.page.source, real.page.text
    first = source.index('<figure class="chart study-figure" id="figure-regret"')
    assert first == source.index("<figure"), "no other figure stands before it"
    assert first < source.index('id="participants"') < source.index('id="figures"')
    assert source.count('id="figure-regret"') == 1
    answers = source[first : source.index('id="participants"')]
    assert 'href="#result-H1-regret"' in answers
    assert 'href="#result-H1-good"' in answers
    assert text.index("Task regret over time") < text.index("Participants and exclusions")


def test_the_page_says_of_which_p_values_and_which_regret_it_speaks(real: Report) -> None:
    assert "Asterisks show uncorrected p-values, as in the paper" in real.page.text
    assert "Team regret, the paper's R(T), is 0.75 times task regret in this design" in real.page.text


def test_planned_and_exploratory_results_stand_apart(real: Report) -> None:
    assert [row.id for row in real.analysis.planned][:2] == ["H1-regret", "H1-good"]
    assert "P-regret-naive-ucb" in [row.id for row in real.analysis.exploratory]
    source = real.page.source
    tables = source.split('aria-label="Planned results"')[1].split('aria-label="Exploratory results"')
    for row in real.analysis.section("hypothesis"):
        mine, other = tables if row.planned else tables[::-1]
        anchor = f'id="result-{row.id}"'
        assert anchor in mine.split("</table>")[0]
        assert anchor not in other.split("</table>")[0]
    assert tables[0].split("</table>")[0].count("(not planned)") == 7, "Wilcoxon's test stands beside each"
    assert "(not planned)" not in tables[1].split("</table>")[0]


def test_every_hypothesis_has_its_verdict_and_reason(real: Report) -> None:
    rows = (*real.analysis.planned, *real.analysis.exploratory)
    for row in rows:
        assert f'<tr data-outcome="{row.verdict}"><td><a href="#result-{row.id}">' in real.page.source
        assert row.question in real.page.text
        assert row.reason in real.page.text
    assert {row.verdict for row in rows} == {"supported", "not supported", "cannot be tested"}
    assert real.page.source.count("<tr data-outcome=") == len(rows)


def test_plan_deviations_and_exclusions_are_named(real: Report) -> None:
    text, analysis = real.page.text, real.analysis
    assert "fixed before the first participant" in text
    assert analysis.stored.sentence in text
    assert str(analysis.stored.digest) in text
    assert analysis.deviations
    for sentence in (*analysis.deviations, *analysis.exclusions, *analysis.notes):
        assert sentence in text
    assert len(analysis.exclusions) == 1
    assert "11 participants are analysed, of 12 who began." in text
    assert "Real participants." in text
    assert "SIMULATED" not in text


def test_simulated_participants_are_announced_first_of_all(rehearsal: Report) -> None:
    text = rehearsal.page.text
    assert text.index("SIMULATED PARTICIPANTS. No person took part.") < text.index("Participants and exclusions")
    assert "results of simulated participants" in text
    assert "There are no planned results. No analysis plan was stored" in text
    assert "no plan was stored" in text


@pytest.mark.parametrize("which", ["real", "rehearsal"])
def test_the_paragraphs_are_those_of_the_analysis_to_the_letter(which: str, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(which)
    assert report.page.part("results-text") == report.analysis.results_text.replace("\n\n", "\n")
    assert report.page.part("methods-text") == report.analysis.methods.replace("\n\n", "\n")


def test_every_figure_lies_beside_the_page_and_is_linked(rehearsal: Report) -> None:
    names = ["regret", "slopes", "participants", "casinos", "survey", "population"]
    files = {f"{name}.{kind}" for name in names for kind in ("pdf", "svg", "png")}
    assert {path.name for path in (rehearsal.folder / "figures").iterdir()} == files
    assert {link for link in rehearsal.page.attributes("href") if link.startswith("figures/")} == {
        f"figures/{name}" for name in files
    }
    for name in names:
        assert f'id="figure-{name}"' in rehearsal.page.source
        head = (rehearsal.folder / "figures" / f"{name}.pdf").read_bytes()[:4]
        assert head == b"%PDF"
    assert rehearsal.page.source.count("<summary>The numbers behind it</summary>") == len(names)


def test_the_chart_is_drawn_from_the_curves(rehearsal: Report) -> None:
    found = re.search(r'id="data">(.*?)</script>', rehearsal.page.source, re.DOTALL)
    assert found is not None
    (panel,) = json.loads(found[1])["panels"]
    assert panel["regret"] == "task"
    mean = rehearsal.analysis.measures.mean_curves[:, 1].mean(axis=0)
    assert panel["curves"][1]["mean"] == pytest.approx(mean.tolist(), rel=1e-4)
    assert panel["curves"][0]["factor"] == 0.7


def check_page(page: Page) -> None:
    """Whatever the data, a page is well formed, needs nobody and shows no number that is none."""
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    wanted = page.attributes("aria-describedby") + [link[1:] for link in page.attributes("href") if link[:1] == "#"]
    assert set(wanted) <= set(ids)
    assert all(link.startswith(("#", "data:", "figures/")) for link in page.attributes("href"))
    assert page.attributes("src") == []
    assert [name for _, attributes in page.elements for name in attributes if name.startswith("on")] == []
    assert re.search(r"\b(nan|none|undefined|inf|null)\b", page.text.replace("There are none.", ""), re.I) is None
    assert re.search(r"\bNaN\b", page.source.split('id="data"')[1].split("</script>")[0]) is None


@pytest.mark.parametrize("which", ["real", "rehearsal"])
def test_one_file_with_everything_in_it(which: str, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(which)
    check_page(report.page)
    assert len(report.page.source) < 600_000


Odd = Callable[[], StudyData]


def one_set(design: StudyDesign) -> StudyDesign:
    """The first condition alone; partners and attention checks go by the sets, and translations name them."""
    return replace(
        design,
        conditions=design.conditions[:1],
        partners=(),
        attention=(),
        languages=design.languages[:1],
        translations=Table(),
    )


ODD: dict[str, tuple[Odd, str]] = {
    "nobody": (lambda: people(load_design("burger"), 0), "Not drawn. No participant remains for the analysis."),
    "one": (lambda: people(load_design("burger"), 1), "A single participant has no standard error"),
    "constant": (
        lambda: people(load_design("burger"), 3, "neutral"),
        "both conditions have the same value for all participants",
    ),
    "silent": (lambda: people(load_design("burger"), 3, "none"), "Not drawn. No participant has answered the survey."),
    "one condition": (
        lambda: people(one_set(load_design("burger")), 3),
        "The design has one condition only, so there is nothing to compare.",
    ),
    "no casino": (lambda: people(casino(), 0), "No participants. No one has begun"),
    "all left": (
        lambda: _all_dropped(people(load_design("burger"), 14)),
        "Excluded: 14 had not finished.",
    ),
}


def _all_dropped(data: StudyData) -> StudyData:
    return replace(data, participants=tuple(replace(person, status="dropped") for person in data.participants))


@pytest.mark.usefixtures("svg_alone")
@pytest.mark.parametrize("name", ODD)
def test_odd_data_end_in_a_statement(name: str, tmp_path: Path) -> None:
    make, statement = ODD[name]
    report = reported(make(), tmp_path)
    check_page(report.page)
    assert statement in report.page.text
    for sentence in report.analysis.exclusions:
        assert sentence in report.page.text
    for row in report.analysis.results:
        if row.finding.p is None and row.section != "reliability":
            assert f"{row.id}: {row.finding.note}" in report.page.text, "a test that was not made is told"


def test_equal_analyses_give_equal_files(real: Report, tmp_path: Path) -> None:
    write_study_report(
        analyse_data(as_if_real(load_design("burger"), 14)), tmp_path, {"when": "today", "command": "a <b>"}
    )
    one, two = (sorted(path for path in folder.rglob("*") if path.is_file()) for folder in (real.folder, tmp_path))
    assert len(one) == len(two) == 13
    for mine, other in zip(one, two, strict=True):
        assert mine.read_bytes() == other.read_bytes(), mine.name


def test_it_says_how_it_was_made(real: Report) -> None:
    source = real.page.source
    assert "<dt>Made</dt><dd>today</dd>" in source
    assert '<dt>Command</dt><dd><code tabindex="0">a &lt;b&gt;</code></dd>' in source
    assert f"<dd>SHA-256 {real.analysis.design.digest}</dd>" in source
    for head in ("Machine", "Version", "Data written by", "Analysed with", "Plan fixed at"):
        assert f"<dt>{head}</dt>" in source


@pytest.mark.usefixtures("svg_alone")
def test_no_text_can_break_out(tmp_path: Path) -> None:
    nasty = "</script><!--<script>&\"'><img src=x>$title${script}"
    survey = load_design("burger").survey
    items = (replace(survey.items[0], text=nasty), *survey.items[1:])
    design = replace(load_design("burger"), title=nasty, survey=replace(survey, items=items))
    report = reported(people(design, 2), tmp_path, when=nasty, **{nasty: nasty})
    check_page(report.page)
    assert "img" not in [tag for tag, _ in report.page.elements]
    assert report.page.source.count("</script>") == 3
    assert nasty in report.page.text


def test_figures_of_an_earlier_report_are_taken_away(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("population.png", "mine.png"):
        (tmp_path / "figures" / name).touch()
    reported(people(load_design("burger"), 0), tmp_path)
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["mine.png"]


def test_what_cannot_be_reported_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = analyse_data(people(load_design("burger"), 0))
    with pytest.raises(InvalidInput, match="what `analyse` gives is needed"):
        write_study_report("analysis", tmp_path)  # type: ignore[arg-type]
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="cannot be made"):
        write_study_report(analysis, tmp_path / "file")

    def nothing(name: str) -> Any:
        return None

    someone = analyse_data(people(load_design("burger"), 1))
    monkeypatch.setattr("importlib.util.find_spec", nothing)
    with pytest.raises(MissingExtra, match=r"pip install 'cobandit\[plot\]'"):
        write_study_report(someone, tmp_path / "new")
    assert not (tmp_path / "new").exists()
