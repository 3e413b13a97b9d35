"""A sink that fails for a moment is tried again: with delays that double, and then with a clear end.

Only transient errors are tried again: those after which the same batch may well succeed, such as a lost connection, a
locked file or a timeout. A sink decides which those are (`is_transient`). Writing a batch again is what every sink must
bear anyhow, since Spark sends a batch again after a crash.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from thalweg.core.errors import DataError, SinkError, ThalwegError
from thalweg.core.visible import visible

_LOG = logging.getLogger("thalweg.sinks")


@dataclass(frozen=True)
class Retry:
    """How often a sink is tried, and how long the pauses between are, in seconds.

    The first pause is `first_delay`, each further one twice as long, up to `longest_delay`; each is drawn at random
    between half and one and a half times its length, so that many queries do not come back at the same moment.
    """

    attempts: int = 5
    first_delay: float = 0.7
    longest_delay: float = 30.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_delay < 0 or self.longest_delay < 0:
            raise DataError(f"a retry policy wants at least one attempt and no negative delay, got {self}")

    def delay(self, failed: int) -> float:
        """The pause after the attempt number `failed`, from 1 on."""
        return min(self.first_delay * 2.0 ** (failed - 1), self.longest_delay) * random.uniform(0.5, 1.5)


NO_RETRY = Retry(attempts=1)


@runtime_checkable
class Deciding(Protocol):
    """A sink that knows which of its errors are transient."""

    def is_transient(self, error: Exception) -> bool:
        """Whether the same batch may succeed in a moment."""


@dataclass
class Retries:
    """Runs the calls of sinks, and counts by sink how often one was tried again in this run."""

    policy: Retry = field(default_factory=Retry)  # for sinks without a policy of their own
    counts: dict[str, int] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep

    def run(self, sink: object, batch: int, call: Callable[[], Any]) -> None:
        """Call until it succeeds, fails for good, or has failed too often."""
        policy, name = getattr(sink, "retry", None) or self.policy, sink_name(sink)
        began, failed = time.monotonic(), 0
        while True:
            try:
                call()
                return
            except (ThalwegError, PySparkException, Py4JError):
                raise  # the query's own errors: to run it again would not help
            except Exception as error:
                failed += 1
                said = visible(f"{type(error).__name__}: {error}")
                if not is_transient(sink, error) or failed >= policy.attempts:
                    raise _ended(name, batch, failed, time.monotonic() - began, said) from error
                delay = policy.delay(failed)
                self.counts[name] = self.counts.get(name, 0) + 1
                _LOG.warning(
                    "%s, batch %d: attempt %d of %d failed, the next is in %.1f s: %s",
                    name, batch, failed, policy.attempts, delay, said,
                )  # fmt: skip
                self.sleep(delay)


def is_transient(sink: object, error: Exception) -> bool:
    """What the sink says; of sinks that say nothing, lost connections and timeouts."""
    if isinstance(sink, Deciding):
        return sink.is_transient(error)
    return isinstance(error, ConnectionError | TimeoutError)


def sink_name(sink: object) -> str:
    """The name of a sink in metrics, logs and errors: its `name`, or its class."""
    return str(getattr(sink, "name", None) or type(sink).__name__)


def _ended(name: str, batch: int, attempts: int, seconds: float, said: str) -> SinkError:
    tried = "at the first attempt" if attempts == 1 else f"in {attempts} attempts over {seconds:.1f} seconds"
    return SinkError(
        f"the sink {name} could not write batch {batch} {tried}; the last error: {said}",
        hint="nothing is lost: the next start writes this batch again",
    )
