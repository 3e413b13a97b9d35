"""Catalogues as JSON: streams, tables and views, and the declarations of users' functions."""

from __future__ import annotations

from thalweg.algebra.catalog import Catalog
from thalweg.algebra.codec.functions import Functions, declaration, declared_aggregate, declared_function
from thalweg.algebra.codec.values import Json, from_json, to_json


def catalog_tree(catalog: Catalog) -> Json:
    """A catalogue as JSON, without the code of users' functions."""
    return {
        "entries": [to_json(entry) for entry in catalog.entries],
        "functions": [declaration(function) for function in catalog.functions],
        "aggregates": [declaration(aggregate) for aggregate in catalog.aggregates],
    }


def read_catalog(tree: Json) -> Catalog:
    """The catalogue that `catalog_tree` wrote: queries compile with it, but users' functions raise if called."""
    catalog = Catalog()
    for given in tree["functions"]:
        catalog.add_function(declared_function(given))
    for given in tree["aggregates"]:
        catalog.add_aggregate(declared_aggregate(given))
    functions = Functions.of([*catalog.functions, *catalog.aggregates])
    for entry in tree["entries"]:
        catalog.add(from_json(entry, functions))
    return catalog
