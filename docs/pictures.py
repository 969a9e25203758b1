"""Draws the pictures of these pages into docs/pictures: python docs/pictures.py [NAME ...].

What is measured comes from the package and from the public survey of `counterfoil demo`; diagrams are drawn by hand.
Each is an <svg> that a page includes, whose marks have the classes that docs/style.css paints light and dark. Takes two
minutes of one core and needs the extras test and torch.
"""

from __future__ import annotations

import html
import sys
import time
import tomllib
from csv import DictReader
from functools import cache
from pathlib import Path

import numpy as np
from pyarrow import csv

from counterfoil.pictures.style import BLUE, COLORS, FONTS, GRAY, INK, ORANGE, SOFT, STEPS, style_sheet
from counterfoil.pictures.svg import render

OUT = Path(__file__).parent / "pictures"
ROOT = Path(__file__).parents[1]
EPSILON, DELTA = 1.0, 1e-9

# Diagrams.


def text(x, y, words, *, color="ink", size=14, anchor="middle", weight="normal"):
    bold = f' font-weight="{weight}"' if weight != "normal" else ""
    fill = COLORS[color].light
    return (
        f'<text class="f-{color}" fill="{fill}" x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{bold}>'
        f"{html.escape(words)}</text>"
    )


def box(x, y, width, height, *lines, color="step0", edge="soft", dashed=False, ink="ink"):
    """A box with lines of words in it, the first one bold."""
    dash = ' stroke-dasharray="6 4"' if dashed else ""
    parts = [
        f'<rect class="f-{color} s-{edge}" fill="{COLORS[color].light}" stroke="{COLORS[edge].light}" x="{x}" y="{y}"'
        f" "
        f'width="{width}" height="{height}" rx="6"{dash}/>'
    ]
    first = y + height / 2 + 5 - 9 * (len(lines) - 1)
    for number, line in enumerate(lines):
        size, weight = (14, "bold") if number == 0 else (12.5, "normal")
        parts.append(text(x + width / 2, first + 18 * number, line, size=size, weight=weight, color=ink))
    return "".join(parts)


def arrow(x1, y1, x2, y2, words="", *, color="soft", dx=0, dy=-7, anchor="middle"):
    """A straight arrow with words at its middle."""
    length = float(np.hypot(x2 - x1, y2 - y1))
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    ink = COLORS[color].light
    left = (x2 - 9 * ux + 5 * uy, y2 - 9 * uy - 5 * ux)
    right = (x2 - 9 * ux - 5 * uy, y2 - 9 * uy + 5 * ux)
    head = " ".join(f"{a:.1f},{b:.1f}" for a, b in ((x2, y2), left, right))
    said = text((x1 + x2) / 2 + dx, (y1 + y2) / 2 + dy, words, color="soft", size=12, anchor=anchor) if words else ""
    return (
        f'<path class="s-{color}" stroke="{ink}" stroke-width="1.6" '
        f'd="M{x1},{y1}L{x2 - 7 * ux:.1f},{y2 - 7 * uy:.1f}"/>'
        f'<polygon class="f-{color}" fill="{ink}" points="{head}"/>{said}'
    )


def diagram(width, height, title, description, *parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}" '
        f'font-family="{html.escape(FONTS)}" '
        f'fill="none"><title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>{"".join(parts)}</svg>'
    )


def wall():
    return diagram(
        560,
        260,
        "The wall",
        "Records stay inside the curator. A query charges the ledger, counts, and adds noise; only the noisy answer "
        "leaves. The synthesizer makes the table and the receipt from noisy answers alone.",
        box(130, 20, 270, 220, color="ground", edge="blue", dashed=True),
        text(265, 45, "curator: the wall", color="blue", weight="bold"),
        box(8, 105, 92, 60, "records"),
        arrow(100, 135, 147, 135),
        box(148, 105, 106, 60, "exact count"),
        arrow(254, 135, 291, 135),
        box(292, 105, 92, 60, "+ noise", color="step1"),
        box(148, 182, 236, 44, "ledger: charged first", edge="orange"),
        arrow(201, 182, 201, 167, color="orange"),
        arrow(384, 135, 431, 135),
        box(432, 105, 120, 60, "synthesizer", "sees noise only"),
        arrow(492, 105, 492, 73),
        box(432, 20, 120, 52, "table", "and receipt", color="step1", edge="blue"),
        text(265, 82, "what is asked is a proved query", color="soft", size=12.5),
    )


def cluster():
    parts = []
    for number, name in enumerate(("executor 1", "executor 2", "executor ...")):
        y = 14 + 84 * number
        parts += [
            box(8, y + 10, 84, 48, "rows"),
            arrow(92, y + 34, 127, y + 34, "once"),
            box(128, y + 10, 104, 48, "codes", "bounded units", edge="blue"),
            arrow(232, y + 34, 267, y + 34),
            box(268, y + 10, 84, 48, "sums", color="step1"),
            arrow(352, y + 34, 431, 132),
            text(180, y + 4, name, color="blue", size=12.5),
        ]
    return diagram(
        620,
        256,
        "A table in Spark",
        "Executors encode their rows once and keep the codes, with at most so many rows of each unit. Each query is "
        "summed by them over the codes; only sums reach the curator, which adds noise once.",
        *parts,
        box(432, 100, 168, 64, "curator", "adds up, adds noise", color="step1", edge="blue"),
        text(516, 186, "sums alone come here", color="soft", size=12.5),
    )


def cells():
    rows = (
        ("41", "bounds 0 to 120", "41", "step1"),
        ("450", "above the upper bound", "120", "step1"),
        ("n/a", "a word for missing", "missing", "step1"),
        ("teal", "unknown category", "other", "step1"),
        ("twelve", "no place for it", "refused", "ground"),
    )
    parts = [
        text(62, 22, "a cell", color="soft"),
        text(258, 22, "what the schema says", color="soft"),
        text(472, 22, "what is counted", color="soft"),
    ]
    for number, (cell, rule, code, color) in enumerate(rows):
        y = 36 + 46 * number
        edge = "red" if code == "refused" else "soft"
        parts += [
            box(8, y, 108, 34, cell),
            arrow(118, y + 17, 398, y + 17, rule),
            box(400, y, 146, 34, code, color=color, edge=edge),
        ]
    return diagram(
        560,
        270,
        "What becomes of a cell",
        "Each cell is read by itself and becomes one code: a value within bounds, a bound, missing or other. "
        "What has no place is refused before anything is charged.",
        *parts,
    )


def composing():
    return diagram(
        560,
        230,
        "Four parts compose",
        "A query with a proof and a noise with a price meet in an account, which charges before it answers. Whatever "
        "is made of the answer costs nothing.",
        box(8, 20, 150, 70, "query", "how far one record", "can move it"),
        box(8, 130, 150, 70, "noise", "its scale is", "its price"),
        arrow(158, 55, 218, 95),
        arrow(158, 165, 218, 125),
        box(220, 72, 140, 76, "account", "charged first,", "then answered", edge="orange"),
        arrow(360, 110, 408, 110, "answer", dy=-9),
        box(410, 72, 142, 76, "post-processing", "model, rows,", "intervals: free", color="step1", edge="blue"),
    )


def training():
    return diagram(
        560,
        200,
        "One step of private training",
        "A random batch gives one gradient for each record. Each is shortened to a norm, the mean gets noise, and only "
        "the noisy gradient moves the weights. Steps repeat, and are charged as a whole.",
        box(8, 60, 92, 66, "batch", "at random"),
        arrow(100, 93, 134, 93),
        box(136, 60, 112, 66, "gradients", "each shortened", "to C"),
        arrow(248, 93, 282, 93),
        box(284, 60, 104, 66, "mean", "+ noise", color="step1", edge="orange"),
        arrow(388, 93, 422, 93),
        box(424, 60, 128, 66, "weights", "anyone may", "have them", color="step1", edge="blue"),
        arrow(488, 126, 488, 170),
        f'<path class="s-soft" stroke="{SOFT}" stroke-width="1.6" d="M488,170L54,170"/>',
        arrow(54, 170, 54, 128),
        text(271, 163, "T times; the whole run is charged before the first", color="soft", size=12),
    )


def evolving():
    return diagram(
        560,
        205,
        "A round of Private Evolution",
        "Random points are varied; each record votes for the nearest variation; noise is added to the votes; the next "
        "population is drawn from what they say.",
        box(8, 20, 118, 60, "population", "public"),
        arrow(126, 50, 176, 50),
        box(178, 20, 130, 60, "variations", "public"),
        arrow(308, 50, 410, 50, "nearest of each"),
        box(412, 20, 140, 60, "votes", "of the records", edge="orange"),
        arrow(482, 80, 482, 128),
        box(412, 130, 140, 60, "votes + noise", "charged", color="step1", edge="orange"),
        arrow(412, 160, 310, 160),
        box(178, 130, 130, 60, "measure", "made probable", color="step1", edge="blue"),
        arrow(178, 160, 67, 160),
        f'<path class="s-soft" stroke="{SOFT}" stroke-width="1.6" d="M67,160L67,92"/>',
        arrow(67, 100, 67, 82),
    )


def reweighing():
    return diagram(
        560,
        190,
        "What reweighting buys, and what is free",
        "Points of a reference get weights, so that their averages come near the noisy averages of the records. Only "
        "the averages are bought.",
        box(8, 20, 120, 60, "records"),
        arrow(128, 50, 210, 50, "F functions"),
        box(212, 20, 140, 60, "averages", "+ noise, charged", color="step1", edge="orange"),
        box(8, 110, 120, 60, "reference", "public, or bought"),
        arrow(128, 140, 210, 140, "m points"),
        box(212, 110, 140, 60, "support", "public then"),
        arrow(352, 50, 412, 84),
        arrow(352, 140, 412, 106),
        box(414, 60, 138, 70, "weights", "meet the averages,", "free", color="step1", edge="blue"),
    )


def judging():
    return diagram(
        560,
        190,
        "A release that has to be accepted",
        "The whole budget is charged. A run makes a release and noisy measures of it; if they keep the bounds that were "
        "declared, it is released. If not, a secret coin ends everything, or another run follows.",
        box(8, 20, 118, 60, "bounds", "declared before"),
        arrow(126, 50, 190, 50),
        box(192, 20, 150, 60, "a run", "release and measures", color="step1", edge="orange"),
        arrow(342, 50, 412, 50, "passes"),
        box(414, 20, 138, 60, "released", "with its receipt", color="step1", edge="blue"),
        arrow(250, 80, 250, 118, "fails", dx=22, dy=4),
        box(192, 120, 150, 60, "a secret coin", "1 in K"),
        arrow(342, 150, 412, 150, "ends"),
        box(414, 120, 138, 60, "withheld", "nothing is told", dashed=True),
        f'<path class="s-soft" stroke="{SOFT}" stroke-width="1.6" d="M192,150L156,150L156,68L180,68"/>',
        arrow(170, 68, 190, 68),
        text(148, 114, "another run", color="soft", size=12, anchor="end"),
    )


def rooms():
    """The floors of the house, as the import contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    floors = next(c for c in contracts if c["type"] == "layers")["layers"]
    parts = []
    for number, floor in enumerate(floors):
        names, y = [name.strip() for name in floor.split("|")], 6 + 32 * number
        wall_here = "curator" in names
        color, edge = ("step1", "blue") if wall_here else ("step0", "grid")
        parts.append(box(44, y, 568, 27, color=color, edge=edge))
        # Names of a crowded floor are smaller, so that they stay within it in wide fonts too.
        said = " · ".join(names)
        parts.append(text(328, y + 18.5, said, size=14 if len(said) < 50 else 11.5, weight="bold"))
        parts.append(text(22, y + 19, str(len(floors) - number), color="soft", size=12))
    return diagram(
        620,
        10 + 32 * len(floors),
        "The rooms, floor by floor",
        "From the ground floor up: a room imports from floors below it alone. The curator is the wall.",
        *parts,
    )


# Pictures of what the package says.


def chart(values, title, description, *, mark, width=330, height=190, **encoding):
    import altair as alt

    made = alt.Chart(alt.Data(values=values), width=width, height=height)
    return render(
        getattr(made, f"mark_{mark.pop('kind')}")(**mark).encode(**encoding), title=title, description=description
    )


@cache
def survey():
    from counterfoil.demo import Demo

    found = Demo.find()
    return found, csv.read_csv(found.source).select([column.name for column in found.schema.columns])


@cache
def released():
    from counterfoil import AIM, Budget
    from counterfoil.curator import Curator

    found, _ = survey()
    with Curator(found.source, found.schema, budget=Budget(EPSILON, DELTA), seed=20) as curator:
        return AIM().synthesize(curator)


def trade_off():
    from counterfoil.accounting import Budget, GaussianFilter
    from counterfoil.accounting.trade_off import trade_off as curve_of
    from counterfoil.pictures.trade_off import trade_off_curve

    curve, grid = curve_of(GaussianFilter(), Budget(EPSILON, DELTA)), np.linspace(0, 1, 201)
    found = curve.found(0.05)
    drawn = trade_off_curve(grid, curve.misses(grid), marked=(0.05, 1 - found))
    return render(
        drawn,
        title="How well could anyone tell?",
        description=(
            f"The fewest misses at each share of false alarms, at epsilon 1 and delta 1e-9. With 5% false alarms "
            f"nobody finds more than {found:.1%} of those who are in the table."
        ),
    )


def first_release():
    from counterfoil.pictures.overlay import overlaid_categories

    _, real = survey()
    rows = released().to_arrow()
    labels = ("very poor", "poor", "fair", "good", "very good")
    shares = [np.array([np.mean(t["rate_marriage"].to_numpy() == i) for i in range(1, 6)]) for t in (real, rows)]
    return render(
        overlaid_categories(labels, *shares),
        title="How women rate their marriage: real and synthetic",
        description="Shares of five ratings in the public survey and in its synthetic copy at epsilon 1.",
    )


def affairs_by_rating():
    """Real shares, and intervals that count the noise beside naive ones."""
    import altair as alt

    from counterfoil import inference
    from counterfoil.inference.naive import naive_proportion

    _, real = survey()
    found = list(inference.proportion(released(), "affairs > 0", by="rate_marriage"))
    naive = list(naive_proportion(released(), "affairs > 0", by="rate_marriage"))
    ratings = real["rate_marriage"].to_numpy()
    truth = [float(np.mean(real["affairs"].to_numpy()[ratings == i] > 0)) for i in range(1, 6)]
    values = []
    for number, (ours, theirs) in enumerate(zip(found, naive, strict=True)):
        for kind, one in (("counting the noise", ours), ("naive, on the rows", theirs)):
            values.append(
                {"rating": str(number + 1), "kind": kind, "low": one.lower, "high": one.upper, "mid": one.estimate}
            )
    base = alt.Chart(alt.Data(values=values))
    shift = alt.XOffset("kind:N", sort=["counting the noise", "naive, on the rows"])
    color = alt.Color(
        "kind:N",
        title=None,
        legend=alt.Legend(columnPadding=22),
        scale=alt.Scale(domain=["counting the noise", "naive, on the rows"], range=[BLUE, ORANGE]),
    )
    x = alt.X("rating:N", title="how they rate their marriage, 5 being best", axis=alt.Axis(labelAngle=0, grid=False))
    rule = base.mark_rule(strokeWidth=3).encode(
        x=x,
        xOffset=shift,
        color=color,
        y=alt.Y("low:Q", title="share with an affair", axis=alt.Axis(format="%")),
        y2="high:Q",
    )
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, xOffset=shift, color=color, y="mid:Q")
    true = alt.Chart(alt.Data(values=[{"rating": str(i + 1), "t": t} for i, t in enumerate(truth)]))
    ticks = true.mark_tick(color=INK, thickness=2, size=44).encode(x=x, y="t:Q")
    return render(
        alt.layer(rule, dots, ticks, width=360, height=210),
        title="Intervals beside the truth",
        description="The share of women with an affair by rating, from a copy at epsilon 1: intervals that count "
        "the noise, naive ones that take synthetic rows for records, and the real shares as black lines.",
    )


def conditional():

    counts = released().marginal(["rate_marriage", "affairs"])
    return _given(counts)


def _given(counts):
    import altair as alt

    table = np.asarray(counts.values if hasattr(counts, "values") else counts)
    any_affair = table[:, 1:].sum(axis=1)
    values = [
        {"rating": str(i + 1), "who": who, "share": float(v)}
        for who, column in (("all women", table.sum(axis=1)), ("those with an affair", any_affair))
        for i, v in enumerate(column / column.sum())
    ]
    color = alt.Color(
        "who:N", title=None, scale=alt.Scale(domain=["all women", "those with an affair"], range=[GRAY, BLUE])
    )
    return chart(
        values,
        "A question asked of a release",
        "The ratings of all women and of those with an affair, by the "
        "model of a release at epsilon 1; asking costs nothing.",
        mark={"kind": "bar"},
        width=330,
        x=alt.X("rating:N", title="how they rate their marriage", axis=alt.Axis(labelAngle=0)),
        xOffset="who:N",
        y=alt.Y("share:Q", title="share of women", axis=alt.Axis(format="%")),
        color=color,
    )


def column():
    from counterfoil.report.columns import columns
    from counterfoil.report.release import ReleaseFacts

    return columns(ReleaseFacts.of(released())).figures[0].svg


def related():
    from counterfoil.report.pairs import pairs
    from counterfoil.report.release import ReleaseFacts

    return pairs(ReleaseFacts.of(released())).figures[0].svg


def budget_parts():
    from counterfoil.report.cost import cost
    from counterfoil.report.release import ReleaseFacts

    return cost(ReleaseFacts.of(released())).figures[-1].svg


def certified():
    from counterfoil import AIM, Budget, Curator
    from counterfoil.fidelity.fidelity import Fidelity
    from counterfoil.report.certificates import certificates
    from counterfoil.report.release import ReleaseFacts

    found, _ = survey()
    with Curator(found.source, found.schema, budget=Budget(EPSILON, DELTA), seed=20) as curator:
        fidelity = Fidelity(0.05, target="religious")
        fidelity.prepare(curator)
        made = fidelity.measure(curator, AIM().synthesize(curator))
    return certificates(ReleaseFacts.of(made)).figures[0].svg


def reweighted():
    from counterfoil import Budget, Curator, Reweighting
    from counterfoil.pictures.overlay import overlaid_categories

    found, real = survey()
    with Curator(found.source, found.schema, budget=Budget(EPSILON, DELTA), seed=20) as curator:
        rows = Reweighting().synthesize(curator).to_arrow()
    own = VALUES["yrs_married"]
    shares = [np.array([np.mean(t["yrs_married"].to_numpy() == v) for v in own]) for t in (real, rows)]
    labels = ("under 1", "1 to 4", "5 to 7", "8 to 10", "11 to 15", "16 to 20", "over 20")
    return render(
        overlaid_categories(labels, *shares),
        title="Years married: real and reweighted",
        description="Shares of the years married in the public survey and in its copy by reweighting at epsilon 1.",
    )


def ledger():
    from counterfoil.pictures.ledger_timeline import spent_over_time

    times = ["2026-01-12", "2026-03-02", "2026-03-30", "2026-06-15"]
    drawn = spent_over_time(times, [1, 1.5, 1.75, 2.75], total=3, looks=["2026-02-10"])
    return render(
        drawn,
        title="A ledger over time",
        description="Four releases of one source: the epsilon that is spent "
        "rises in steps and stays below the total of 3. A red line is a look without privacy.",
    )


def planned():
    from counterfoil.cli.plan_report import outlook_svg
    from counterfoil.planning import plan

    found, table = survey()
    return outlook_svg(plan(found.schema, rows=table.num_rows, epsilons=(0.3, 1, 3)))


def noise():
    import altair as alt

    deviation, x = 4.0, np.arange(28, 54)

    def law(m):
        return np.exp(-((x - m) ** 2) / (2 * deviation**2))

    values = [
        {"x": int(a), "who": who, "p": float(p)}
        for who, m in (("with you: 41", 41), ("without you: 40", 40))
        for a, p in zip(x, law(m) / law(m).sum())
    ]
    color = alt.Color(
        "who:N", title=None, scale=alt.Scale(domain=["with you: 41", "without you: 40"], range=[BLUE, ORANGE])
    )
    return chart(
        values,
        "One record more or less",
        "The law of a noisy count with a record and without it: the two are "
        "nearly the same, so that an answer says little about which table it came from.",
        mark={"kind": "line", "strokeWidth": 2.5},
        x=alt.X("x:Q", title="the noisy count that is released", scale=alt.Scale(zero=False)),
        y=alt.Y("p:Q", title="probability", axis=alt.Axis(format="%")),
        color=color,
    )


def bars(values, title, description, unit, *, format="%", lowest=0):
    import altair as alt

    rows = [{"label": label, "v": value, "kind": kind, "says": said} for label, value, kind, said in values]
    names = list(dict.fromkeys(row["kind"] for row in rows))
    base = alt.Chart(alt.Data(values=rows), width=250, height=26 * len(rows))
    room = 8 * max(len(row["label"]) for row in rows)  # readers' letters may be wider than those that are measured
    y = alt.Y(
        "label:N",
        sort=None,
        title=None,
        axis=alt.Axis(labelLimit=230, domain=False, ticks=False, minExtent=room, maxExtent=room),
    )
    x = alt.X("v:Q", title=unit, axis=alt.Axis(format=format, tickCount=4))
    color = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=names, range=[BLUE, ORANGE, GRAY][: len(names)]),
        legend=None if len(names) == 1 else alt.Legend(columnPadding=24),
    )
    drawn = base.mark_bar(size=15).encode(x=x, y=y, color=color)
    words = base.mark_text(align="left", dx=4, color=SOFT).encode(x="v:Q", y=y, text="says:N")
    return render(alt.layer(drawn, words), title=title, description=description)


def _measured(name):
    """The rows of a file of measured figures, with numbers as numbers."""
    with (Path(__file__).parents[1] / "benchmarks" / "figures" / name).open(newline="") as stream:
        return [
            {
                key: float(value) if key in ("epsilon", "pairs", "cpu_s") and value else value
                for key, value in row.items()
            }
            for row in DictReader(stream)
        ]


def _over_budgets(file, value_of, title, description, unit, **axis):
    """Small lines over epsilon, one panel for each table of `benchmarks/tables.py`, AIM beside MST."""
    import altair as alt

    rows = _measured(file)
    base = {
        table: np.mean([row["pairs"] for row in rows if (row["table"], row["method"]) == (table, "bootstrap")])
        for table in dict.fromkeys(row["table"] for row in rows)
    }
    found = {}
    for row in rows:
        if row["method"] in ("aim", "mst"):
            found.setdefault((row["table"], row["method"], row["epsilon"]), []).append(
                value_of(row, base[row["table"]])
            )
    values = [
        {"table": table, "method": method.upper(), "epsilon": epsilon, "value": float(np.mean(each))}
        for (table, method, epsilon), each in found.items()
    ]
    lines = (
        alt.Chart(alt.Data(values=values), width=170, height=120)
        .mark_line(point=alt.OverlayMarkDef(size=22), strokeWidth=1.8)
        .encode(
            x=alt.X("epsilon:Q", title="epsilon", scale=alt.Scale(type="log"), axis=alt.Axis(values=[0.3, 1, 10, 100])),
            y=alt.Y("value:Q", title=unit, scale=alt.Scale(type="log"), axis=alt.Axis(**axis)),
            color=alt.Color("method:N", title=None, scale=alt.Scale(domain=["AIM", "MST"], range=[BLUE, ORANGE])),
        )
    )
    titles = alt.Header(title=None, labelFontSize=12, labelColor=SOFT)
    panels = lines.facet(facet=alt.Facet("table:N", sort=None, header=titles), columns=3, spacing=16)
    return render(panels, title=title, description=description)


def nearness():
    return _over_budgets(
        "nearness.csv",
        lambda row, base: row["pairs"] / base,
        "How near copies come, over budgets",
        "The mean error of all pairs over that of as many resampled real rows, for several tables: it falls with "
        "epsilon, AIM's to that of resampled rows and below, MST's until its tree is all that it can say.",
        "error over resampling",
        values=[0.2, 0.5, 1, 2, 5, 10],
        format="~g",
    )


def processor_seconds():
    return _over_budgets(
        "nearness.csv",
        lambda row, base: row["cpu_s"],
        "What copies cost, over budgets",
        "Processor seconds of a release of several tables, over epsilon: AIM measures more, the more the budget shows; "
        "MST costs the same at each.",
        "processor seconds",
        values=[0.1, 0.3, 1, 3, 10, 30],
        format="~g",
    )


def corrected():
    return bars(
        [
            (f"asked for {asked:g}", spent, "what it spends", f"{spent:g}")
            for asked, spent in ((0.5, 2.9), (1, 5.9), (2, 11.9))
        ],
        "What a published program spends",
        "A published program takes noise without its constant, and spends an epsilon of "
        "2.9, 5.9 and 11.9 where 0.5, 1 and 2 were asked for.",
        "epsilon spent",
        format="g",
    )


def decided():
    return bars(
        [
            ("rounds of choices (default)", 0.0767, "a", ".0767"),
            ("errors of all measured", 0.0776, "a", ".0776"),
            ("as published", 0.0907, "a", ".0907"),
        ],
        "Three variants of AIM",
        "The mean error of pairs on Adult at epsilon 1: .0767, .0776 and .0907.",
        "mean L1 error of pairs",
        format="g",
    )


def polynomial():
    import altair as alt

    from counterfoil.theory.loss import LOGISTIC
    from counterfoil.theory.polynomials import bernstein, minimax

    margins = np.linspace(-5, 5, 81)
    curves = {
        "the logistic loss": LOGISTIC(margins),
        "best of degree 4": minimax(LOGISTIC, 4, 5.0)(margins),
        "Bernstein, degree 4": bernstein(LOGISTIC, 4, 5.0, iterations=1)(margins),
    }
    values = [{"x": float(a), "y": float(b), "k": k} for k, line in curves.items() for a, b in zip(margins, line)]
    color = alt.Color("k:N", title=None, scale=alt.Scale(domain=list(curves), range=[INK, BLUE, ORANGE]))
    # The best one lies on the loss itself: in dashes, both are seen.
    dashes = alt.Scale(domain=list(curves), range=[[1, 0], [6, 5], [1, 0]])
    return chart(
        values,
        "A polynomial in place of the loss",
        "The logistic loss, the best polynomial of degree 4 on "
        "margins from -5 to 5, which errs by .020, and Bernstein's, which errs by .545.",
        mark={"kind": "line", "strokeWidth": 2.2},
        x=alt.X("x:Q", title="margin"),
        y=alt.Y("y:Q", title="loss, in nats"),
        color=color,
        strokeDash=alt.StrokeDash("k:N", title=None, scale=dashes),
    )


@cache
def spiral():
    from counterfoil import Budget, Curator, MeasureTree
    from counterfoil.geometry import point_schema

    rng = np.random.default_rng(3)
    turn = np.sqrt(rng.random(20_000)) * 3.2 * np.pi
    points = np.stack([turn * np.cos(turn), turn * np.sin(turn)], axis=1) / 11 + 0.025 * rng.standard_normal(
        (20_000, 2)
    )
    with Curator(points, point_schema(lower=(-1.1, -1.1), upper=(1.1, 1.1)), budget=Budget(EPSILON), seed=5) as curator:
        return points, MeasureTree().synthesize(curator).to_numpy()


def density(points, title, description):
    import altair as alt

    counts, xs, ys = np.histogram2d(*points.T, bins=34, range=[(-1.1, 1.1)] * 2)
    level = np.ceil(5 * np.sqrt(counts / counts.max())).astype(int)
    values = [
        {"x": float(xs[i]), "x2": float(xs[i + 1]), "y": float(ys[j]), "y2": float(ys[j + 1]), "v": int(level[i, j])}
        for i, j in np.argwhere(level > 0)
    ]
    color = alt.Color("v:O", scale=alt.Scale(domain=list(range(6)), range=list(STEPS)), legend=None)
    none = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    return chart(
        values,
        title,
        description,
        mark={"kind": "rect"},
        width=235,
        height=235,
        x=alt.X("x:Q", axis=none, title=title),
        x2="x2",
        y=alt.Y("y:Q", axis=none, title=None),
        y2="y2",
        color=color,
    )


def points_real():
    return density(spiral()[0], "20,000 points", "Made points near a spiral; darker squares hold more.")


def points_synthetic():
    return density(spiral()[1], "synthetic, epsilon 1", "Points of the measure tree at epsilon 1: the same spiral.")


# The gallery: the same table and the same picture for each method.

VALUES = {"age": (17.5, 22.0, 27.0, 32.0, 37.0, 42.0), "yrs_married": (0.5, 2.5, 6.0, 9.0, 13.0, 16.5, 23.0)}
WHOLE = ("independent", "mst", "aim", "direct", "reweighting")
POINTS = ("measure-tree", "signed-measure", "evolution", "wasserstein-generator")
SAYS = {
    "independent": "each column by itself: every relation is gone",
    "mst": "every column, and pairs along one tree",
    "aim": "the pairs that matter most, chosen by noisy scores",
    "direct": "exactly the pairs with age or years married, named beforehand",
    "reweighting": "all pairs, by weights on a support",
    "measure-tree": "two columns as points: counts along a tree of halved cells",
    "signed-measure": "two columns as points: counts in a grid, moved to the nearest distribution",
    "evolution": "two columns as points, refined by votes",
    "wasserstein-generator": "two columns as points of a network, by noisy gradients (replace one)",
}


def joint(table):
    """Shares [6, 7] of age and years married, each number put to the nearest value of the survey's."""
    codes = [
        np.abs(table[name].to_numpy().astype(float)[:, None] - np.array(own)).argmin(axis=1)
        for name, own in VALUES.items()
    ]
    counts = np.zeros((6, 7))
    np.add.at(counts, tuple(codes), 1)
    return counts / counts.sum()


def heat(shares, title, description):
    import altair as alt

    level = np.ceil(5 * np.sqrt(shares / 0.16)).clip(0, 5).astype(int)
    values = [
        {"age": f"{a:g}", "years": f"{y:g}", "v": int(level[i, j])}
        for i, a in enumerate(VALUES["age"])
        for j, y in enumerate(VALUES["yrs_married"])
    ]
    color = alt.Color("v:O", scale=alt.Scale(domain=list(range(6)), range=list(STEPS)), legend=None)
    return chart(
        values,
        title,
        description,
        mark={"kind": "rect"},
        width=231,
        height=150,
        x=alt.X("years:N", sort=None, title="years married", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("age:N", sort="descending", title="age"),
        color=color,
    )


def synthesizer(name):
    from counterfoil.methods import registry

    if name == "direct":
        from counterfoil import Direct
        from counterfoil.domain.workload import Workload

        names = [column.name for column in survey()[0].schema.columns]
        named = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if {a, b} & set(VALUES)]
        return Direct(Workload({survey()[0].schema.domain.canonical(pair): 1.0 for pair in named}))
    return registry.method_type(name)()


def gallery():
    """Writes gallery.html: a figure for each method, its caption measured."""
    import itertools

    from counterfoil import Budget, Curator
    from counterfoil.accounting import NeighboringRelation
    from counterfoil.schema import Real, Schema

    found, real = survey()
    flat = Schema((Real("age", 15.0, 45.0), Real("yrs_married", 0.0, 25.0)), name="affairs_points")
    two = real.select(list(VALUES))
    truth = joint(real)
    names = [column.name for column in found.schema.columns]
    affair_edges = np.array([0.0, 1e-9, 0.25, 0.5, 1, 2, 4, 8, 16, 60.1])

    def codes(table, name):
        values = table[name].to_numpy().astype(float)
        return (
            np.digitize(values, affair_edges)
            if name == "affairs"
            else np.searchsorted(np.unique(real[name].to_numpy()), values)
        )

    def pair_error(table):
        errors = []
        for a, b in itertools.combinations(names, 2):
            counts = []
            for t in (real, table):
                matrix = np.zeros((12, 12))
                np.add.at(matrix, (codes(t, a), codes(t, b)), 1)
                counts.append(matrix / matrix.sum())
            errors.append(np.abs(counts[0] - counts[1]).sum())
        return float(np.mean(errors))

    parts = [
        figure(
            heat(truth, "The public survey", "Shares of age and years married in the survey itself."),
            "<strong>The survey itself</strong>: 6,366 women; a stronger color means more.",
        )
    ]
    listed = []
    released()  # what is compiled at first use is not a method's time
    for name in (*WHOLE, *POINTS):
        whole, generator = name in WHOLE, name == "wasserstein-generator"
        source, schema = (real, found.schema) if whole else (two, flat)
        relation = NeighboringRelation.REPLACE_ONE if generator else NeighboringRelation.ADD_OR_REMOVE_ONE
        with Curator(source, schema, budget=Budget(EPSILON, DELTA), relation=relation, seed=7) as curator:
            method, began = synthesizer(name), time.process_time()
            rows = method.synthesize(curator).to_arrow()
        seconds, off = time.process_time() - began, float(np.abs(joint(rows) - truth).sum())
        mean = f"; mean over all pairs <strong>{pair_error(rows):.3f}</strong>" if whole else ""
        parts.append(
            figure(
                heat(joint(rows), f"{name}, epsilon 1", f"The same shares in the copy by {name}: {SAYS[name]}."),
                f"<code>{name}</code>: {SAYS[name]}. Error of this pair <strong>{off:.3f}</strong>{mean}; "
                f"{seconds:.2g} CPU s.",
            )
        )
        listed.append((name, off))
        print(name, f"{off:.3f} {mean} {seconds:.1f} s", flush=True)
    (OUT / "gallery.html").write_text('<div class="pictures">\n' + "\n".join(parts) + "\n</div>\n", encoding="utf-8")
    rest = sorted((one for one in listed), key=lambda one: one[1])
    (OUT / "methods.svg").write_text(
        bars(
            [
                (name, off, "the whole table" if name in WHOLE else "two columns as points", f"{off:.2f}")
                for name, off in rest
            ],
            "How far one pair is off, by method",
            "The L1 error of age and years married in copies of the survey at epsilon 1, "
            "by method: " + ", ".join(f"{n} {o:.2f}" for n, o in rest) + ".",
            "L1 error of the pair (2 at most)",
            format="g",
        )
        + "\n",
        encoding="utf-8",
    )


def figure(svg, caption):
    return f'<figure class="picture">\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>'


DRAWN = {
    "wall": wall,
    "cluster": cluster,
    "cells": cells,
    "composing": composing,
    "training": training,
    "evolving": evolving,
    "rooms": rooms,
    "reweighing": reweighing,
    "judging": judging,
    "planned": planned,
    "reweighted": reweighted,
    "certified": certified,
    "trade_off": trade_off,
    "first_release": first_release,
    "intervals": affairs_by_rating,
    "asked": conditional,
    "column": column,
    "related": related,
    "budget_parts": budget_parts,
    "ledger": ledger,
    "noise": noise,
    "corrected": corrected,
    "nearness": nearness,
    "processor_seconds": processor_seconds,
    "decided": decided,
    "polynomial": polynomial,
    "points_real": points_real,
    "points_synthetic": points_synthetic,
}


def main(chosen):
    OUT.mkdir(exist_ok=True)
    for name in chosen or [*DRAWN, "readme", "gallery"]:
        if name == "gallery":
            gallery()
        elif name == "readme":  # a file of its own, which needs its style sheet in it
            svg = wall().replace("<title>", f"<style>{style_sheet()}</style><title>", 1)
            (OUT / "readme.svg").write_text(svg + "\n", encoding="utf-8")
        else:
            (OUT / f"{name}.svg").write_text(DRAWN[name]() + "\n", encoding="utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
