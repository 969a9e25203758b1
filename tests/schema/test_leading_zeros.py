"""Integers that are codes: how they are written with leading zeros, and who says that zeros may be lost."""

from __future__ import annotations

import io
import re

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.schema import Categorical, Integer, Schema, SchemaError
from counterfoil.schema.drafting import draft, may_name_somebody
from counterfoil.schema.leading_zeros import may_be_code, zeros_lost
from counterfoil.synthesis.csv_writing import write_csv

ZIP = Integer("zip", 0, 99_999, digits=5, missing=True, missing_values=("?",))


def test_digits_fill_numbers_up_with_zeros_in_csv_files_alone() -> None:
    assert ZIP.encode(pa.array(["00123", "123", "123.0"])).tolist() == [ZIP.encode(pa.array([123]))[0]] * 3
    numbers = pa.array([123, None, 0, 99_999])
    assert ZIP.written(numbers).to_pylist() == ["00123", "?", "00000", "99999"]
    assert ZIP.stated(numbers).equals(numbers)
    file = io.BytesIO()
    write_csv(pa.table({"zip": numbers, "n": [1, 2, 3, 4]}), {"zip": ZIP, "n": Integer("n", 0, 9)}, file)
    assert file.getvalue() == b"zip,n\n00123,1\n?,2\n00000,3\n99999,4\n"
    codes = np.arange(ZIP.size)
    written = ZIP.written(ZIP.decode(codes, np.random.default_rng(0)))
    np.testing.assert_array_equal(ZIP.encode(written), codes)
    assert Integer("x", 0, 999, digits=2).written(pa.array([7, 123])).to_pylist() == ["07", "123"]


def test_digits_are_a_fact_of_the_file() -> None:
    text = '[columns.zip]\nkind = "integer"\nlower = 0\nupper = 99999\ndigits = 5\n'
    schema = Schema.from_toml(text)
    assert schema.columns == (Integer("zip", 0, 99_999, digits=5),)
    assert Schema.from_toml(schema.to_toml()) == schema
    assert "digits" not in Integer("zip", 0, 9).facts()
    with pytest.raises(SchemaError, match="`digits` must be above 0; found 0"):
        Schema.from_toml(text.replace("digits = 5", "digits = 0"))


@pytest.mark.parametrize(
    ("lower", "digits", "message"), [(-1, 5, "goes with numbers from 0 on; found -1"), (0, 19, "must be from 1 to 18")]
)
def test_digits_that_can_not_be_written_are_refused(lower: int, digits: int, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Integer("zip", lower, 99, digits=digits)


def test_a_medical_record_number_may_name_somebody_and_terms_do_not() -> None:
    assert [*filter(may_name_somebody, ("mrn", "patient_MRN", "term", "mrna"))] == ["mrn", "patient_MRN"]


@pytest.mark.parametrize(
    "name",
    [
        *("zip", "ZIP", "zipCode", "postal code", "home_plz", "fips2020", "code", "EAN", "icd.10", "branch_no"),
        *("region", "district_home", "MUNICIPALITY", "ISCO08", "ward", "stateOfBirth"),
        *("Store Nr", "Kundennr.", "Filialnummer", "employee_number", "storeNumber", "Invoice No.", "provnum"),
        *("id", "patientID", "person_id", "customer", "Kunde", "mrn"),
        *("mcc", "merchantMcc", "mcc_home", "mnc", "BLZ", "sku", "imsi", "msisdn", "store", "Filiale"),
    ],
)
def test_names_of_codes_are_asked_about_where_the_storage_has_texts(name: str) -> None:
    assert may_be_code(name)
    assert "digits = 5" in draft({name: pa.null()}, typed=False).split("\n[columns.")[1]
    assert "digits" not in draft({name: pa.int64()}).split("\n[columns.")[1]
    (named,) = re.findall("If (.*) may have some", zeros_lost(Schema((Integer(name, 0, 9), Integer("age", 0, 9)))))
    assert named == name


@pytest.mark.parametrize(
    "name",
    [
        *("age", "unzipped", "encoded", "decoder", "Telemetry", "escape", "mean", "reward", "statement", "soccer"),
        *("number_of_children", "NumberOfRooms", "answered_no", "casino", "n", "num", "enrolled"),
        *("valid", "member_since", "customer_age", "patients", "bid"),
    ],
)
def test_other_names_are_none(name: str) -> None:
    assert not may_be_code(name)
    assert "may begin with 0" not in draft({name: pa.null()}, typed=False)


def test_nothing_is_said_of_columns_that_keep_their_zeros() -> None:
    assert zeros_lost(Schema((ZIP, Categorical("code", ("007",))))) == ""
    assert zeros_lost(Schema((Integer("has_phone", 0, 1),))) == "", "a flag is no code"
    many = Schema(tuple(Integer(f"code_{i}", 0, 9) for i in range(10)))
    assert "code_7 and 2 more may have some" in zeros_lost(many)
