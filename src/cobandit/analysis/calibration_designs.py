"""The paper's studies in the variants that the calibration rehearses: another index, a third condition, own casinos."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cobandit.base.streams import CrowdStream
from cobandit.problem import FixedMeans
from cobandit.studies.design import MeansRule, StudyDesign

BANK = "bank"


def with_index(design: StudyDesign, index: str) -> StudyDesign:
    """Return the same study with another index of its robots, and of the simulated partner of the warm start."""
    data = design.to_dict()
    for choice in [*data["conditions"], data["warm_start"]]:
        if choice is not None:
            choice["options"]["index"] = index
    return StudyDesign.from_dict(data)


def with_bank(design: StudyDesign) -> StudyDesign:
    """Return the same study with the bank as a third condition, which meets the same luck as the others."""
    data = design.to_dict()
    data["conditions"].append({"name": BANK, "agent": BANK, "options": {"sight": design.observability[1]}})
    data |= {"partners": [], "languages": ["en"], "translations": {}}  # no participant sees these pages
    return StudyDesign.from_dict(data)


def with_casinos(design: StudyDesign, seed: int, study: int) -> StudyDesign:
    """Return the same study with means of its own, drawn once for all participants, as the design would draw them."""
    draws = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(CrowdStream.CASINOS, study)))
    rule = design.means
    values = rule.low + (rule.high - rule.low) * draws.random((design.episodes, *design.arms))
    return replace(design, means=MeansRule(draw="fixed", values=tuple(FixedMeans.of(matrix) for matrix in values)))
