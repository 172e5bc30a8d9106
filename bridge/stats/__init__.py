"""Statistics of a gate: numbers in, numbers out; numpy and the standard library alone."""

from bridge.stats.agreement import bland_altman, cohen_kappa, raw_agreement, spearman
from bridge.stats.bootstrap import bca_mean
from bridge.stats.distributions import (
    beta_cdf,
    beta_quantile,
    binomial_survival,
    normal_cdf,
    normal_quantile,
    student_t_cdf,
    student_t_quantile,
)
from bridge.stats.intervals import difference_interval, mean_interval, t_interval
from bridge.stats.mcnemar import exact_mcnemar
from bridge.stats.multiplicity import benjamini_hochberg, holm
from bridge.stats.paired import paired_test
from bridge.stats.power import (
    difference_sd,
    minimum_detectable_effect,
    nonzero_needed,
    required_n,
)
from bridge.stats.proportions import (
    PairedCounts,
    clopper_pearson,
    newcombe_paired,
    rule_of_three,
    tango,
    wilson,
)
from bridge.stats.results import BlandAltman, Interval, PairedTest
from bridge.stats.samples import is_binary
from bridge.stats.sign_flip import exact_sign_flip, monte_carlo_sign_flip
from bridge.stats.sign_test import exact_sign_test

__all__ = [
    "BlandAltman",
    "Interval",
    "PairedCounts",
    "PairedTest",
    "bca_mean",
    "benjamini_hochberg",
    "beta_cdf",
    "beta_quantile",
    "binomial_survival",
    "bland_altman",
    "clopper_pearson",
    "cohen_kappa",
    "difference_interval",
    "difference_sd",
    "exact_mcnemar",
    "exact_sign_flip",
    "exact_sign_test",
    "holm",
    "is_binary",
    "mean_interval",
    "minimum_detectable_effect",
    "monte_carlo_sign_flip",
    "newcombe_paired",
    "nonzero_needed",
    "normal_cdf",
    "normal_quantile",
    "paired_test",
    "raw_agreement",
    "required_n",
    "rule_of_three",
    "spearman",
    "student_t_cdf",
    "student_t_quantile",
    "t_interval",
    "tango",
    "wilson",
]
