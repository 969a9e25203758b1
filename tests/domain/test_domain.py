import pytest

from counterfoil.domain.domain import Domain

DOMAIN = Domain(("age", "sex", "job"), (85, 2, 15))


def test_cliques_come_back_in_domain_order_and_once():
    assert DOMAIN.canonical(("job", "age", "job")) == ("age", "job")
    assert DOMAIN.shape(("job", "age")) == (15, 85)
    assert DOMAIN["sex"] == 2
    assert DOMAIN.size(()) == 1
    assert DOMAIN.project(("job", "age")) == Domain(("age", "job"), (85, 15))


def test_sizes_do_not_overflow():
    wide = Domain(tuple(f"a{i}" for i in range(40)), (1000,) * 40)
    assert wide.size(wide.attributes) == 10**120


def test_unknown_attributes_are_named():
    with pytest.raises(ValueError, match="Unknown: 'income'; the domain has 'age', 'sex', 'job'"):
        DOMAIN.canonical(("age", "income"))


@pytest.mark.parametrize(
    ("attributes", "sizes", "message"),
    [
        (("a", "a"), (2, 2), "Found more than once: a"),
        (("a", "b"), (2,), "one size for each attribute"),
        (("a",), (0,), "at least one value. Found 0 for 'a'"),
    ],
)
def test_bad_domains_are_refused(attributes, sizes, message):
    with pytest.raises(ValueError, match=message):
        Domain(attributes, sizes)
