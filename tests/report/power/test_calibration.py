"""The report of the paper's studies, rehearsed."""

from __future__ import annotations

from html import unescape

import pytest

from cobandit.analysis.calibration import FITTING, WARNING, calibrate
from cobandit.analysis.published import PUBLISHED
from cobandit.report import write_calibration_report


@pytest.fixture(scope="module")
def calibration():
    return calibrate(["burger"], 4, 10)


class TestCalibration:
    def test_page(self, calibration, tmp_path, checked):
        text = checked(write_calibration_report(calibration, tmp_path))
        top = text.index(WARNING.split(";")[0])
        assert top < text.index("<h2>")
        assert FITTING.split(":")[0] in text
        for one in PUBLISHED["burger"]:
            assert one.text in unescape(text)
        assert "(other direction)" in text
        assert 'href="figures/calibration-burger.svg"' in text
        names = {path.name for path in (tmp_path / "figures").iterdir()}
        assert names == {f"calibration-burger.{kind}" for kind in ("pdf", "svg", "png")}
        nearest = calibration.of("burger")[0]
        assert f"{nearest.distance:.2f}" in text
