"""The pages about simulated participants: whole, offline, escaped, and plain about what they are."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from cobandit.analysis import PUBLISHED, Population, calibrate, power_analysis
from cobandit.analysis.calibration import FITTING, WARNING
from cobandit.base.errors import InvalidInput
from cobandit.report.calibration import write_calibration_figures, write_calibration_page
from cobandit.report.power import write_power_figures, write_power_page

VOID = {"meta", "link", "br", "path", "rect", "circle"}


class Balanced(HTMLParser):
    """Fails where a tag is closed that is not the last one opened."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(path):
    text = path.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "<script" not in text
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
    return text


@pytest.fixture(scope="module")
def analyses():
    return [power_analysis("burger", name, (5, 10, 20), 20) for name in ("softmax", "knowledge-gradient")]


@pytest.fixture(scope="module")
def calibration():
    return calibrate(["burger"], 4, 10)


class TestPower:
    def test_page(self, analyses, tmp_path):
        write_power_figures(analyses, tmp_path / "figures")
        text = checked(write_power_page(analyses, tmp_path, {"command": "cobandit <study>"}))
        assert "All participants here are simulated" in text
        assert "cobandit &lt;study&gt;" in text
        for one in analyses[0].left_out:
            assert one.hypothesis.id in text
        assert 'href="figures/power.pdf"' in text
        point = analyses[1].curves[0].points[-1]
        assert f"{100 * point.power.value:.1f} %" in text
        assert str(analyses[1].curves[0].smallest(0.8)) in text.replace("\N{NO-BREAK SPACE}", " ")
        assert text.count('class="still"') == 2

    def test_text_from_elsewhere_is_escaped(self, analyses, tmp_path):
        evil = replace(analyses[0], population=Population("<script>x</script>", analyses[0].population.members))
        text = checked(write_power_page([evil], tmp_path, {}))
        assert "&lt;script&gt;" in text

    def test_figures_are_equal_for_equal_numbers(self, analyses, tmp_path):
        first, second = (write_power_figures(analyses, tmp_path / name) for name in ("a", "b"))
        assert set(first) == {"pdf", "svg", "png"}
        for kind, path in first.items():
            assert path.read_bytes() == second[kind].read_bytes()
        svg = first["svg"].read_text(encoding="utf-8")
        assert "population-1" in svg
        assert "simulated participants" in svg

    def test_one_size_and_mistakes(self, analyses, tmp_path):
        single = [power_analysis("burger", "softmax", (6,), 5)]
        write_power_figures(single, tmp_path)
        checked(write_power_page(single, tmp_path, {}))
        with pytest.raises(InvalidInput, match="empty"):
            write_power_page([], tmp_path, {})
        with pytest.raises(InvalidInput, match="different"):
            write_power_page([analyses[0], single[0]], tmp_path, {})


class TestCalibration:
    def test_page(self, calibration, tmp_path):
        figures = write_calibration_figures(calibration, tmp_path / "figures")
        text = checked(write_calibration_page(calibration, tmp_path, {}))
        top = text.index(WARNING.split(";")[0])
        assert top < text.index("<h2>")
        assert FITTING.split(":")[0] in text
        for one in PUBLISHED["burger"]:
            assert one.text.replace("'", "&#x27;").replace("<", "&lt;") in text
        assert "(other direction)" in text
        assert 'href="figures/calibration-burger.svg"' in text
        assert set(figures["burger"]) == {"pdf", "svg", "png"}
        nearest = calibration.of("burger")[0]
        assert f"{nearest.distance:.2f}" in text
