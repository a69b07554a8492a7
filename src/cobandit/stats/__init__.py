"""Pure functions on arrays."""

from cobandit.stats.anova import rm_anova
from cobandit.stats.bootstrap import (
    Interval,
    Resamples,
    mean_interval,
    ratio_interval,
    streamed_mean_interval,
    streamed_ratio_interval,
)
from cobandit.stats.correction import adjusted, holm, holm_p_values
from cobandit.stats.crossover import crossover_model, order_effects
from cobandit.stats.effects import hedges_correction, noncentrality_interval
from cobandit.stats.finding import Description, Finding
from cobandit.stats.mixed import mixed_model
from cobandit.stats.mixed_anova import anova, mixed_anova
from cobandit.stats.power import paired_t_p_values, two_sample_p_values, wilson_interval
from cobandit.stats.ranks import wilcoxon
from cobandit.stats.reliability import cronbach_alpha
from cobandit.stats.samples import describe
from cobandit.stats.streaming import Moment, Moments, StreamedSummary, worth_streaming
from cobandit.stats.summary import Summary, summarise
from cobandit.stats.team_mixed import team_mixed_model
from cobandit.stats.ttests import paired_t, student_t, welch_t

__all__ = [
    "Description",
    "Finding",
    "Interval",
    "Moment",
    "Moments",
    "Resamples",
    "StreamedSummary",
    "Summary",
    "adjusted",
    "anova",
    "cronbach_alpha",
    "crossover_model",
    "describe",
    "hedges_correction",
    "holm",
    "holm_p_values",
    "mean_interval",
    "mixed_anova",
    "mixed_model",
    "noncentrality_interval",
    "order_effects",
    "paired_t",
    "paired_t_p_values",
    "ratio_interval",
    "rm_anova",
    "streamed_mean_interval",
    "streamed_ratio_interval",
    "student_t",
    "summarise",
    "team_mixed_model",
    "two_sample_p_values",
    "welch_t",
    "wilcoxon",
    "wilson_interval",
    "worth_streaming",
]
