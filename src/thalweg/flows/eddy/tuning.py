"""Sizes at which the eddy changes how it works."""

from __future__ import annotations

from dataclasses import dataclass

from thalweg.core.errors import PlanError
from thalweg.flows.eddy.bits import WORD


@dataclass(frozen=True)
class EddyTuning:
    """Sizes that were found by measuring. No answer depends on them; tests make them small.

    `Eddy` takes an EddyTuning and hands it to its sources, filters and groups.
    """

    # Grouped filters
    rebuild_index_after: int = 64  # new predicates of an attribute, or an eighth of its others if that is more
    largest_table: int = 1 << 21  # words of bitmaps; a larger table has bitmaps for some values only
    direct_lookup_up_to: int = 1 << 16  # difference of the greatest and the least constant; beyond, a binary search

    # Blocks of tuples that pass the filters together
    block_words: int = 1 << 16  # of lineage: a block should stay in the cache

    # Pages, the index of many queries that only select
    pages_from_words: int = 64  # of lineage; from then on pages are faster, ...
    pages_up_to_bits: float = 1  # ... if tuples keep at most this many bits per word
    tuples_before_pages: int = 128  # of each chunk pass the filters, to find the route and to count recipients
    queries_per_page: int = 1024  # the tables of one page stay in the cache

    # Recipients of results
    list_from_queries: int = 16  # for each recipient of a result: then a list is shorter and faster than bitmaps

    def __post_init__(self) -> None:
        if self.queries_per_page < WORD or self.queries_per_page % WORD:
            raise PlanError(f"queries_per_page must be a multiple of {WORD}, not {self.queries_per_page}")


DEFAULT = EddyTuning()
