"""Every report in one call: figures and page into one folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cobandit.analysis import Analysis, Calibration, PowerAnalysis
from cobandit.base.extras import require_extras
from cobandit.experiments import PanelResult
from cobandit.experiments.store import this_machine
from cobandit.report import calibration, figures, page, power, study

About = Mapping[str, Any]


def write_report(results: Sequence[PanelResult], folder: str | os.PathLike[str], about: About | None = None) -> Path:
    """Write ``report.html`` and ``figures/`` of some panels, and give the page.

    ``about`` says what the results do not know: ``title``, ``command``, ``executor`` (where the runs were played);
    any other key is shown as it is.
    """
    require_extras("A report", plot=True)
    out = Path(folder)
    figures.write_all_figures(results, out / "figures")
    return page.write_page(results, out, {**(about or {}), **_now(), "machine": this_machine()})


def write_study_report(analysis: Analysis, folder: str | os.PathLike[str], about: About | None = None) -> Path:
    """Write ``report.html`` of an analysed study, figures within, and give the page."""
    require_extras("A report", plot=True)
    return study.write_study_report(analysis, Path(folder), {**(about or {}), **_now()})


def write_power_report(
    analyses: Sequence[PowerAnalysis], folder: str | os.PathLike[str], about: About | None = None
) -> Path:
    """Write ``power.html`` and ``figures/`` of power analyses of one design, and give the page."""
    require_extras("A report", plot=True)
    out = Path(folder)
    power.write_power_figures(analyses, out / "figures")
    return power.write_power_page(analyses, out, {**_now(), **(about or {})})


def write_calibration_report(
    rehearsed: Calibration, folder: str | os.PathLike[str], about: About | None = None
) -> Path:
    """Write ``calibration.html`` and ``figures/`` of the paper's studies, rehearsed, and give the page."""
    require_extras("A report", plot=True)
    out = Path(folder)
    calibration.write_calibration_figures(rehearsed, out / "figures")
    return calibration.write_calibration_page(rehearsed, out, {**_now(), **(about or {})})


def _now() -> dict[str, str]:
    """The time for a page."""
    return {"when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
