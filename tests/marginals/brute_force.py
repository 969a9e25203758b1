"""The joint distribution over a tiny domain, enumerated: the oracle of the tests beside it."""

import itertools

import numpy as np
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain


def enumerate_joint(domain, potentials):
    """Log partition function and probabilities [domain.sizes] of the product of exp(potentials)."""
    log_joint = np.zeros(domain.sizes)
    for clique, table in potentials.items():
        names = domain.canonical(clique)
        table = np.transpose(table, [clique.index(name) for name in names])
        log_joint = log_joint + table.reshape([domain[a] if a in names else 1 for a in domain.attributes])
    peak = log_joint.max()
    joint = np.exp(log_joint - peak)
    return peak + np.log(joint.sum()), joint / joint.sum()


def marginal_of(domain, joint, clique):
    """Sum of `joint` over all but `clique`, axes in the clique's order."""
    names = domain.canonical(clique)
    absent = tuple(i for i, name in enumerate(domain.attributes) if name not in names)
    return joint.sum(axis=absent).transpose([names.index(name) for name in clique])


def all_cliques(domain, largest=None):
    """Every subset of the attributes, in domain order."""
    n = len(domain.attributes) if largest is None else largest
    return [c for k in range(n + 1) for c in itertools.combinations(domain.attributes, k)]


@st.composite
def domains(draw, attributes=5, size=4):
    sizes = draw(st.lists(st.integers(1, size), min_size=1, max_size=attributes))
    return Domain(tuple("abcdefgh"[: len(sizes)]), tuple(sizes))


@st.composite
def cliques_of(draw, domain, count=6, largest=4):
    names = st.lists(st.sampled_from(domain.attributes), unique=True, max_size=largest).map(tuple)
    return draw(st.lists(names, min_size=1, max_size=count, unique_by=lambda c: domain.canonical(c)))
