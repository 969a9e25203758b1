"""Lists in sentences."""

from __future__ import annotations

import pytest

from counterfoil.listing import first_few


@pytest.mark.parametrize(
    ("texts", "more", "said"),
    [
        ([], {}, ""),
        (["a", "b"], {}, "a, b"),
        (["a", "b", "c"], {}, "a, b and 1 more"),
        (["a", "b", *"c" * 1200], {"of": "columns"}, "a, b and 1,200 more columns"),
        (["a", "b", "c"], {"between": "; "}, "a; b and 1 more"),
    ],
)
def test_the_first_few_are_named_and_the_others_counted(texts, more, said):
    assert first_few(texts, 2, **more) == said
