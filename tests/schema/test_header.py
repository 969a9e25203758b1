"""Names that may be a first record's, told from those that are meant."""

from __future__ import annotations

import random

import pytest

from counterfoil.schema.errors import SchemaError
from counterfoil.schema.header import may_be_a_record, require_names

MEANT = [
    "id,age,income",
    "country,2000,2005,2006",
    "state,2020,2010,change",
    "Province,Country,Lat,Long,1/22/20,1/23/20,1/31/20,2/1/20",
    "0,1,2,3",
    "x,2020-01,2020-02,2020-03",
    "who,31.01.2020,28.02.2020,31.03.2020",
    "who,31.12.2019,31.01.2020,29.02.2020",
    "item,1,2,5,7,11",
    "q,0.05,0.25,0.5,0.75",
    "a,b,c,1",
    "2-9,10-19,20+",
    "a,2,1,b,c,d",
]
RECORDS = [
    "30,23.12.2014,x",
    "17",
    "41,F,777777.77,2018-08-08",
    "39,State-gov,77516,Bachelors,13,Never-married,Adm-clerical,Not-in-family,White,Male,2174,0,40,US,<=50K",
    "5.1,3.5,1.4,0.2,setosa",
    "6,148,72,35,0,33.6,0.627,50,1",
    "1,0,3,male,22.0,1,0,7.25,S",
]


@pytest.mark.parametrize("names", MEANT)
def test_names_that_are_meant_pass(names):
    assert not may_be_a_record(names.split(","))
    require_names(names.split(","))


@pytest.mark.parametrize("names", RECORDS)
def test_a_record_is_refused_and_not_shown(names):
    with pytest.raises(SchemaError, match="add the line") as refused:
        require_names(names.split(","))
    assert not any(f" {value}" in str(refused.value) for value in names.split(",") if len(value) > 2)
    require_names(names.split(","), declared=[*names.split(","), "more"])
    with pytest.raises(SchemaError):
        require_names(names.split(","), declared=set(names.split(",")) - {names.split(",")[0]})


def test_numbers_in_random_order_rarely_pass_for_names():
    # Six numbers are in order in 2 of 720 orders: more than 60 of 2,000 with a probability below 1e-30.
    numbers = random.Random(0)
    records = ([str(numbers.randrange(10**6)) for _ in range(6)] for _ in range(2000))
    assert sum(not may_be_a_record(record) for record in records) <= 60
