"""From the data of a study to its results: the plan, the measures, the tests, the words."""

from cobandit.analysis.analysis import Analysis, PlanState, about_data, analyse, analyse_data
from cobandit.analysis.findings import Described, Grid, GridRow, Result
from cobandit.analysis.measures import Exclusion, Flow, Gap, Measures, measures
from cobandit.analysis.plan import (
    AnalysisPlan,
    Exclusions,
    Hypothesis,
    Listed,
    default_plan,
    parse_plan,
    plan_toml,
    read_plan_text,
    text_digest,
)

__all__ = [
    "Analysis",
    "AnalysisPlan",
    "Described",
    "Exclusion",
    "Exclusions",
    "Flow",
    "Gap",
    "Grid",
    "GridRow",
    "Hypothesis",
    "Listed",
    "Measures",
    "PlanState",
    "Result",
    "about_data",
    "analyse",
    "analyse_data",
    "default_plan",
    "measures",
    "parse_plan",
    "plan_toml",
    "read_plan_text",
    "text_digest",
]
