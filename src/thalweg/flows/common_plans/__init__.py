"""Many plans in one pipeline: equal sub-plans are run once, and plans come and go while it runs."""

from thalweg.flows.common_plans.cohort import Birth
from thalweg.flows.common_plans.pipeline import Gained, SharedPipeline
from thalweg.flows.common_plans.usage import Usage

__all__ = ["Birth", "Gained", "SharedPipeline", "Usage"]
