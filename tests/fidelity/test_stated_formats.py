"""A stated notation of dates in which none is found is refused before anything is charged."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import counterfoil as cf
from counterfoil.schema import SchemaError


@pytest.mark.parametrize(
    ("written", "more", "said"),
    [
        ("%Y-%m", "", "must tell all values apart"),
        ("%Y-%m", 'resolution = "1mo"', "can't be bought.* State `lower` and `upper` too"),
        ("%Y-%j", "", "can't be bought.* State `lower` and `upper` too"),
        ("%d.%m.%Y", "", ""),
        ("%d.%m.%Y", 'resolution = "calendar 1y"', ""),
    ],
)
def test_bounds_are_bought_of_notations_that_are_found(tmp_path, written, more, said):
    """All of the budget was spent, and then the schema lacked `lower`."""
    rng = np.random.default_rng(0)
    days = [date(2003, 3, 17) + timedelta(days=int(day)) for day in rng.integers(0, 5000, 3000)]
    path = tmp_path / "visits.csv"
    pyarrow.csv.write_csv(
        pa.table({"seen": [day.strftime(written) for day in days], "x": rng.integers(0, 5, 3000)}), path
    )
    stated = f'[columns.seen]\nkind = "date"\nformat = "{written}"\n{more}\n'
    with cf.Ledger.create(tmp_path / "visits.ledger", source=str(path), total=(5.0, 1e-3)) as ledger:
        if said:
            with pytest.raises(SchemaError, match=said):
                cf.buy_schema(str(path), epsilon=1, delta=1e-6, stated=stated, ledger=ledger)
            assert ledger.spent().epsilon == 0
            return
        schema, _ = cf.buy_schema(str(path), epsilon=1, delta=1e-6, stated=stated, ledger=ledger)
    assert schema["seen"].lower <= min(days)
    assert schema["seen"].upper >= max(days)


def test_dates_that_are_stored_as_such_need_no_notation_that_is_found():
    days = pa.array(np.random.default_rng(0).integers(12_000, 15_000, 3000).astype(np.int32)).cast(pa.date32())
    stated = '[columns.seen]\nkind = "date"\nformat = "%Y-%j"\n'
    schema, _ = cf.buy_schema(pa.table({"seen": days}), epsilon=1, delta=1e-6, stated=stated)
    assert schema["seen"].format == "%Y-%j"
