"""Figure 3: Table 2 as curves, one panel for each table and metric, with the paper's numbers dashed.

Expected: accuracy and AUC rise with epsilon towards those of real rows, the risk falls. Takes as long as Table 2, which
it runs; see there.
"""

from __future__ import annotations

from reproductions.excess_risk.table_2 import main

if __name__ == "__main__":
    main(name="figure_3")
