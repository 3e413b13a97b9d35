"""Sizes at which operators change how they work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Sizes and shares that were found by measuring. No answer depends on them; tests make them small.

    The constructors of buffers and operators take a Tuning, and so does `build` for a whole pipeline.
    """

    # Runs of a buffer, and of the results of an ordered join
    always_merge_runs_up_to: int = 1024  # tuples: copying them costs less than probing one more run
    result_runs: int = 16  # a merged run of results holds at most 1 / result_runs of all results
    lay_out_recent_at_share: float = 0.5  # of all tuples: then recent tuples are sorted into partitions by end
    reserved_places: int = 1024  # numbers that `PlacedTuples` can remember from the beginning

    # Joins
    pairs_at_once: int = 1 << 16  # candidate pairs that fit into a cache
    results_at_once: int = 1 << 20  # results in a piece of a join's output; most batches are one piece
    filter_when_times_fewer: int = 16  # one side has so many times fewer tuples: first drop tuples without its keys

    # Multi-way joins
    partials_at_once: int = 1 << 15  # partial results that a scan collects before the next step of a walk
    comparisons_at_once: int = 1 << 20  # of a scan
    copy_matches_from_codes: int = 16  # look-ups of so many codes: copy their tuples into one run, ...
    copy_matches_up_to: int = 4096  # ... if there are at most so many tuples
    first_look_after: int = 64  # arrivals before rates can be judged
    look_at_least_every: int = 2048  # arrivals: they pay for a search among the orders of six streams

    # Top-k
    near_spare: int = 64  # near tuples beyond the needed ones: this many, ...
    near_factor: int = 4  # ... plus this many times the needed ones
    prune_above: int = 4096  # tuples; fewer are not worth pruning
    skyband_part: int = 64  # tuples in the first part of a skyband; the parts double in size


DEFAULT = Tuning()
