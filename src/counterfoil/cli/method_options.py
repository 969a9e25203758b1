"""The options that say how a method works, shared by commands that run one."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

of_method = partial(typer.Option, rich_help_panel="Method")
"""An option of their group in the help."""

WorkloadOption = Annotated[
    str | None,
    of_method("--workload", help="Keep all marginals of 1, 2 or 3 columns, or those of a TOML.", metavar="W"),
]

MaxModelSize = Annotated[
    float | None, of_method("--max-model-size", help="The most megabytes of a model.", metavar="MB")
]

Variant = Annotated[
    str | None, of_method("--variant", help="With aim: batched (the default), gaussian or published.", metavar="V")
]

Preset = Annotated[
    str | None,
    of_method(
        "--preset", help="With evolution: bounded-lipschitz, practical, theoretical or laplace-threshold.", metavar="P"
    ),
]

Iterations = Annotated[int | None, of_method("--iterations", help="With evolution: how many.", metavar="T")]

Population = Annotated[int | None, of_method("--population", help="With evolution: how many points.", metavar="N")]

Reference = Annotated[
    str | None,
    of_method(
        "--reference",
        help="With reweighting: product, uniform, histogram, bernstein, tree, or the path of another release.",
        metavar="R",
    ),
]

Queries = Annotated[
    str | None,
    of_method("--queries", help="With reweighting: marginals:K, moments:K, losses:..., or a TOML file.", metavar="Q"),
]

Fit = Annotated[str | None, of_method("--fit", help="With reweighting: likelihood or minimax.", metavar="F")]

Support = Annotated[
    int | None, of_method("--support", help="With reweighting: how many records to draw and weigh.", metavar="M")
]

KeepRare = Annotated[
    bool,
    of_method(
        "--keep-rare", help="With reweighting: each value has cells of its own in `marginals:K`, however rare it is."
    ),
]
