"""Which parameters the charges of each query have: what else stands there was added by somebody.

A sensitivity is computed from some of a charge's parameters, and the others are words about the question. This lists
the names of all that a query's `describe` gives, so that none can be made up; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BATCHES = frozenset(
    {"architecture", "parameters", "inputs", "targets", "groups", "group_sizes", "batch_sizes", "loss"}
)
"""Of all queries that read batches."""

NAMES: Mapping[str, frozenset[str]] = {
    "column_places": frozenset({"columns", "sign", "units"}),
    "column_ranges": frozenset({"columns", "sign", "apart"}),
    "correct_predictions": frozenset({"target"}),
    "cumulative_area": frozenset({"column", "points"}),
    "decimal_signs": frozenset({"columns"}),
    "generator_gradient": _BATCHES | {"bound", "jacobian_norm", "clipping", "protects", "sides"},
    "group_predictions": frozenset({"target", "positive", "protected", "groups", "model"}),
    "largest_marginal_error": frozenset({"marginals"}),
    "largest_moment_gap": frozenset({"target", "features", "order", "unit"}),
    "lattice_kernel_density": frozenset({"coordinates", "kernel", "steps", "bandwidth", "positions", "unit"}),
    "loss_gradient": _BATCHES,
    "marginal_counts": frozenset({"cliques", "weights"}),
    "marginal_errors": frozenset({"cliques"}),
    "nearest_neighbor_histogram": frozenset({"candidates", "space"}),
    "rest_of_texts": frozenset({"columns", "known", "longest", "numberless"}),
    "schema_placement": frozenset({"columns"}),
    "text_counts": frozenset({"columns", "longest"}),
    "teacher_votes": frozenset({"teachers", "teacher", "rows", "target", "classes", "inputs"}),
    "total_loss": frozenset({"target", "largest"}),
    "total_marginal_error": frozenset({"marginals"}),
    "transport_gradient": _BATCHES | {"alpha", "transport", "scorer"},
    "unit_sizes": frozenset({"max_rows"}),
    "worst_approximated_marginal": frozenset({"candidates", "largest_weight"}),
    "worst_of_many_marginals": frozenset({"candidates", "largest_weight"}),
}
"""By the name of the query."""

_FAMILIES: Mapping[Any, frozenset[str]] = {
    "moments": frozenset({"order", "columns", "ordered", "never_missing"}),
    "functions": frozenset(),
    "losses": frozenset({"loss", "delta", "target", "columns", "features", "radius", "steps"}),
}
"""Of averages of functions, by their family."""

_PARTITIONS: Mapping[Any, frozenset[str]] = {"grid": frozenset({"shape"}), "intervals": frozenset({"depth"})}
"""Of counts in the cells of a partition, by its kind."""


def strange_parameters(query: str, parameters: Mapping[str, Any]) -> list[str]:
    """The names among `parameters` that charges of `query` do not have.

    A partition that the maker of the release brought has words of its own, of which none is strange; the charge says
    that it was brought, and so do the warnings.

    Args:
        query: the name of a query of this package.
        parameters: of the charge, as they stand on a receipt.
    """
    known = _known(query, parameters)
    return [] if known is None else [name for name in parameters if name not in known and name != "vouched_for"]


def _known(query: str, parameters: Mapping[str, Any]) -> frozenset[str] | None:
    if query == "function_averages":
        return _FAMILIES.get(str(parameters.get("family")), frozenset()) | {"family", "counted", "functions", "unit"}
    if query == "partition_counts":
        if parameters.get("vouched_for"):
            return None
        return _PARTITIONS.get(str(parameters.get("partition")), frozenset()) | {"cells", "partition"}
    return NAMES.get(query)
