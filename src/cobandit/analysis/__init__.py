"""From the data of a study to its results: the plan, the measures, the tests, the words; and how many people it needs.

`analyse` takes exported tables, `analyse_data` a study in memory, `power_analysis` a design and a mixture of simulated
participants, `calibrate` the paper's own studies, `fit_models` models of people to their choices. Each gives data with
a ``save``.
"""

from cobandit.analysis.analysis import Analysis, about_data, analyse, analyse_data
from cobandit.analysis.calibration import Calibration, Comparison, Rehearsal, calibrate
from cobandit.analysis.choice_models import CHOICE_MODELS, ChoiceModel, Parameter
from cobandit.analysis.choices import Choices, StudyChoices, read_choices
from cobandit.analysis.exclusions import Exclusion, Gap
from cobandit.analysis.findings import Described, Grid, GridRow, StudyResult
from cobandit.analysis.fitted_population import FittedPopulation, fitted_population, read_fitted_population
from cobandit.analysis.fitting import Estimate, Fit
from cobandit.analysis.measures import Flow, Measures, measures
from cobandit.analysis.model_fits import ModelFits, ModelTotal, fit_models
from cobandit.analysis.plan import (
    AnalysisPlan,
    Exclusions,
    Hypothesis,
    Listed,
    default_plan,
    parse_plan,
    read_plan_text,
    text_digest,
)
from cobandit.analysis.plan_file import plan_toml
from cobandit.analysis.plan_state import PlanState
from cobandit.analysis.population import Population, population, read_population
from cobandit.analysis.power import power_analysis
from cobandit.analysis.power_curves import (
    LeftOut,
    PowerAnalysis,
    PowerCurve,
    PowerPoint,
    Smallest,
    save_power_analyses,
)
from cobandit.analysis.preregistration import preregistration
from cobandit.analysis.published import PUBLISHED, Published
from cobandit.analysis.recovery import ParameterRecovery, Recovery, recover_models

__all__ = [
    "CHOICE_MODELS",
    "PUBLISHED",
    "Analysis",
    "AnalysisPlan",
    "Calibration",
    "ChoiceModel",
    "Choices",
    "Comparison",
    "Described",
    "Estimate",
    "Exclusion",
    "Exclusions",
    "Fit",
    "FittedPopulation",
    "Flow",
    "Gap",
    "Grid",
    "GridRow",
    "Hypothesis",
    "LeftOut",
    "Listed",
    "Measures",
    "ModelFits",
    "ModelTotal",
    "Parameter",
    "ParameterRecovery",
    "PlanState",
    "Population",
    "PowerAnalysis",
    "PowerCurve",
    "PowerPoint",
    "Published",
    "Recovery",
    "Rehearsal",
    "Smallest",
    "StudyChoices",
    "StudyResult",
    "about_data",
    "analyse",
    "analyse_data",
    "calibrate",
    "default_plan",
    "fit_models",
    "fitted_population",
    "measures",
    "parse_plan",
    "plan_toml",
    "population",
    "power_analysis",
    "preregistration",
    "read_choices",
    "read_fitted_population",
    "read_plan_text",
    "read_population",
    "recover_models",
    "save_power_analyses",
    "text_digest",
]
