"""Many plans in one pipeline: equal sub-plans are run once, and plans come and go while it runs."""

from thalweg.planner.shared.birth import Birth
from thalweg.planner.shared.pipeline import Gained, SharedPipeline
from thalweg.planner.shared.usage import Usage

__all__ = ["Birth", "Gained", "SharedPipeline", "Usage"]
