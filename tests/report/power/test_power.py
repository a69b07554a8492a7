"""The report of a power analysis: figure and page, escaped, and plain about what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cobandit.analysis import Population, power_analysis
from cobandit.base.errors import InvalidInput
from cobandit.report import write_power_report


@pytest.fixture(scope="module")
def analyses():
    return [power_analysis("burger", name, (5, 10, 20), 20) for name in ("softmax", "knowledge-gradient")]


class TestPower:
    def test_page(self, analyses, tmp_path, checked):
        text = checked(write_power_report(analyses, tmp_path, {"command": "cobandit <study>"}))
        assert "All participants here are simulated" in text
        assert "cobandit &lt;study&gt;" in text
        for one in analyses[0].left_out:
            assert one.hypothesis.id in text
        assert 'href="figures/power.pdf"' in text
        point = analyses[1].curves[0].points[-1]
        assert f"{100 * point.power.value:.1f} %" in text
        assert str(analyses[1].curves[0].smallest(0.8)) in text.replace("\N{NO-BREAK SPACE}", " ")
        assert text.count('class="drawn"') == 2

    def test_text_from_elsewhere_is_escaped(self, analyses, tmp_path, checked):
        evil = replace(analyses[0], population=Population("<script>x</script>", analyses[0].population.members))
        text = checked(write_power_report([evil], tmp_path, {}))
        assert "&lt;script&gt;" in text

    def test_figures_are_equal_for_equal_numbers(self, analyses, tmp_path):
        for name in ("a", "b"):
            write_power_report(analyses, tmp_path / name)
        files = sorted((tmp_path / "a" / "figures").iterdir())
        assert [path.name for path in files] == ["power.pdf", "power.png", "power.svg"]
        for path in files:
            assert path.read_bytes() == (tmp_path / "b" / "figures" / path.name).read_bytes()
        svg = (tmp_path / "a" / "figures" / "power.svg").read_text(encoding="utf-8")
        assert "population-1" in svg
        assert "simulated participants" in svg

    def test_one_size_and_mistakes(self, analyses, tmp_path, checked):
        single = [power_analysis("burger", "softmax", (6,), 5)]
        checked(write_power_report(single, tmp_path))
        with pytest.raises(InvalidInput, match="empty"):
            write_power_report([], tmp_path, {})
        with pytest.raises(InvalidInput, match="different"):
            write_power_report([analyses[0], single[0]], tmp_path, {})
