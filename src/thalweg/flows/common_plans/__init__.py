"""Common plans: equal sub-plans of many queries run once, and queries come and go."""

from thalweg.flows.common_plans.cohort import Cohort
from thalweg.flows.common_plans.pipeline import Gained, SharedPipeline
from thalweg.flows.common_plans.usage import Usage

__all__ = ["Cohort", "Gained", "SharedPipeline", "Usage"]
