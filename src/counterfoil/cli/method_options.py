"""The options that say how a method works, shared by commands that run one."""

from __future__ import annotations

from typing import Annotated

import typer

METHOD = "Method"
"""Their group in the help."""

WorkloadOption = Annotated[
    str | None,
    typer.Option(
        "--workload",
        help="Keep all marginals of 1, 2 or 3 columns, or those of a TOML.",
        metavar="W",
        rich_help_panel=METHOD,
    ),
]

MaxModelSize = Annotated[
    float | None,
    typer.Option("--max-model-size", help="The most megabytes of a model.", metavar="MB", rich_help_panel=METHOD),
]

Variant = Annotated[
    str | None,
    typer.Option(
        "--variant",
        help="With aim: batched (the default), gaussian or published.",
        metavar="V",
        rich_help_panel=METHOD,
    ),
]

Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="With evolution: bounded-lipschitz, practical, theoretical or laplace-threshold.",
        metavar="P",
        rich_help_panel=METHOD,
    ),
]

Iterations = Annotated[
    int | None, typer.Option("--iterations", help="With evolution: how many.", metavar="T", rich_help_panel=METHOD)
]

Population = Annotated[
    int | None,
    typer.Option("--population", help="With evolution: how many points.", metavar="N", rich_help_panel=METHOD),
]

Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        help="With reweighting: product, uniform, histogram, bernstein, tree, or the path of another release.",
        metavar="R",
        rich_help_panel=METHOD,
    ),
]

Queries = Annotated[
    str | None,
    typer.Option(
        "--queries",
        help="With reweighting: marginals:K, moments:K, losses:..., or a TOML file.",
        metavar="Q",
        rich_help_panel=METHOD,
    ),
]

Fit = Annotated[
    str | None,
    typer.Option("--fit", help="With reweighting: likelihood or minimax.", metavar="F", rich_help_panel=METHOD),
]

Support = Annotated[
    int | None,
    typer.Option(
        "--support",
        help="With reweighting: how many records to draw and weigh.",
        metavar="M",
        rich_help_panel=METHOD,
    ),
]

KeepRare = Annotated[
    bool,
    typer.Option(
        "--keep-rare",
        help="With reweighting: each value has cells of its own in `marginals:K`, however rare it is.",
        rich_help_panel=METHOD,
    ),
]
