"""The report of the paper's studies, rehearsed."""

from __future__ import annotations

from html import unescape
from typing import Any

import numpy as np
import pytest

from cobandit.analysis.calibration import FITTING, WARNING, Calibration, Rehearsal, _compared, calibrate
from cobandit.analysis.population import population
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

    def test_the_bank_stands_beside_what_people_played(self, tmp_path, checked):
        rng = np.random.default_rng(1)
        rows = []
        for number in PUBLISHED["casino-bank"]:
            values: Any = rng.normal(18_000.0, 500.0, 4)
            rows.append(_compared(number, values > 18_000.0 if number.id.endswith("-p") else values))
        people = population((("softmax", 1.0),), "softmax")
        rehearsal = Rehearsal("casino-bank", "paper", people, 4, tuple(rows))
        made = Calibration((rehearsal,), {"casino-bank": 24}, 0, "fast", 1.0)
        text = unescape(checked(write_calibration_report(made, tmp_path)))
        assert "with the bank (not played by people)" in text
        assert "Coins, bank minus Partner-Aware" in text
        assert f"{rehearsal.row('coins-bank').mean:,.0f}" in text
        assert "The means of the paper's casinos are not known" in " ".join(text.split())
