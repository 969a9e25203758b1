"""The two kinds of simulated records, between which the errors of real tables should be.

The constants were chosen by hand so that the mean pair errors of AIM on five public tables (Adult, ACS 2018, Heart,
COMPAS, Churn; epsilon .3 to 10) lie between those of the two; others were then looked at (docs/decisions.md). The two
are about a factor 2 apart where columns are categories, and 3 or more where there are counts and amounts: the same
bounds fit a count that is mostly 0 and one that fills its range. What is skewed is easy where the budget is large, as
few cells have records.
"""

from __future__ import annotations

from counterfoil.planning.public_table import World
from counterfoil.planning.random_law import Relations
from counterfoil.planning.random_shares import Skew

SKEWS = {
    World.WEAK: Skew(
        spiked=0.45,
        spike=(0.85, 0.98),
        falling=0.9,
        fall=(2.0, 5.0),
        reach=(0.0, 0.0),
        hill=6.0,
        rough=0.2,
        power=(1.0, 2.5),
        target=(0.0, 0.5),
    ),
    World.STRONG: Skew(
        spiked=0.15,
        spike=(0.5, 0.9),
        falling=0.6,
        fall=(0.5, 2.0),
        reach=(0.7, 1.0),
        hill=3.0,
        rough=1.2,
        power=(0.4, 1.3),
        target=(0.7, 2.0),
    ),
}
"""Skewed and smooth, as COMPAS with its counts of which most are 0; even and rougher, as ages and hours of Adult.

In the second, amounts fall over their whole range, as months and charges of Churn.
"""

RELATIONS = {
    World.WEAK: Relations(kinds=8, tilt=1.4, least=0.1, most=0.7, leads=False),
    World.STRONG: Relations(kinds=8, tilt=2.0, least=0.5, most=0.99, leads=True),
}
"""Both have all pairs related, by less and by more; in the second some columns nearly copy others, as in real tables.

In the second, eight kinds leave as much beyond the best tree of pairs as Adult has: a mean L1 distance of .05.
"""
