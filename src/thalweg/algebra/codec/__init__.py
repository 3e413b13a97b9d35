"""Plans and catalogues as JSON, the form in which checkpoints store queries. Reading such a text runs no code."""

from thalweg.algebra.codec import table  # registers all names of the algebra
from thalweg.algebra.codec.digest import digest
from thalweg.algebra.codec.functions import NO_FUNCTIONS, Functions
from thalweg.algebra.codec.names import names, register
from thalweg.algebra.codec.plans import Written, catalog_tree, compact, read_catalog, read_plan, written
from thalweg.algebra.codec.values import Json, from_json, to_json

__all__ = [
    "Functions", "Json", "NO_FUNCTIONS", "Written", "catalog_tree", "compact", "digest", "from_json", "names",
    "read_catalog", "read_plan", "register", "table", "to_json", "written",
]  # fmt: skip
