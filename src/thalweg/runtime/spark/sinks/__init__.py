"""Where the changes of an answer go. Each sink takes a batch once, however often it is given."""

from thalweg.runtime.spark.sinks.answers import AnswerSink
from thalweg.runtime.spark.sinks.base import Sink

__all__ = ["AnswerSink", "Sink"]
