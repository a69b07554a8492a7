"""What it must show: sublinear regret even with 900 team actions."""

from __future__ import annotations

from cobandit.experiments.claims import Sublinear

CLAIMS = (Sublinear("k-30", "With K = 30 the regret is sublinear."),)
