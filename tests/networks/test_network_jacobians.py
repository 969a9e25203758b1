"""Gram matrices and pull-backs against Jacobians of single records, by torch.func and by finite differences."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="networks need torch")
nn = torch.nn

from counterfoil.networks import layered_pass  # noqa: E402
from counterfoil.networks.architectures import autoencoder, linear, mlp  # noqa: E402
from counterfoil.networks.network import Network  # noqa: E402

ACTIVATIONS = [nn.ReLU, nn.Tanh, nn.Sigmoid, nn.ELU, nn.GELU, nn.Softplus, nn.LeakyReLU, nn.SiLU, nn.Hardtanh]
OTHERS = [nn.Identity, nn.Flatten, lambda: nn.Softmax(1), lambda: nn.Softmax(-1), lambda: nn.Dropout(0.0)]


def rows_for(network, n=6, seed=0, scale=1.0):
    return scale * torch.randn(n, network.inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def jacobians(module, rows):
    """[n, d, P] of the trained parameters, by torch.func, one record after another."""
    trained = {name: value.detach() for name, value in module.named_parameters() if value.requires_grad}
    found = []
    for row in rows:
        one = torch.func.jacrev(lambda p, row=row: torch.func.functional_call(module, p, (row[None],))[0])(trained)
        found.append(torch.cat([one[name].reshape(len(one[name]), -1) for name in trained], dim=1))
    return torch.stack(found)


def differences(network, rows, step=1e-6):
    """[n, d, P] by central differences of the outputs in each parameter."""
    theta, columns = network.parameters_vector(), []
    for at in range(len(theta)):
        outputs = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[at] += sign * step
            network.load_vector(moved)
            outputs.append(network.outputs(rows))
        columns.append((outputs[0] - outputs[1]) / (2 * step))
    network.load_vector(theta)
    return torch.stack(columns, dim=2)


def close(found, expected, relative=1e-12):
    """Relative to the largest entry, or to 1: normalization cancels what is of the size of the parameters."""
    size = max(1.0, float(abs(expected).max()))
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=0, atol=relative * size)


def require_exact(network, module, rows, relative=1e-12):
    passed, explicit = network.forward(rows), jacobians(module, rows)
    coefficients = torch.randn(passed.outputs.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    for each in (passed, network.forward_general(rows)):
        close(each.outputs, module(rows).detach(), relative)
        close(each.gram(), explicit @ explicit.transpose(1, 2), relative)
        close(each.pull_back(coefficients), torch.einsum("ndp,nd->p", explicit, coefficients), relative)


@st.composite
def layered_modules(draw):
    """A layered module, perhaps nested, with all, or some, parameters trained."""
    widths = draw(st.lists(st.integers(1, 5), min_size=2, max_size=5))
    torch_seed = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    layers = []
    for entering, leaving in itertools.pairwise(widths):
        layers.append(nn.Linear(entering, leaving, bias=draw(st.booleans())))
        for make in draw(st.lists(st.sampled_from([*ACTIVATIONS, *OTHERS]), max_size=2)):
            layers.append(make())
        if leaving > 2 and draw(st.booleans()):
            layers.append(nn.LayerNorm(leaving, elementwise_affine=draw(st.booleans()), bias=draw(st.booleans())))
    if draw(st.booleans()):
        layers = [*layers[:-1], nn.Sequential(layers[-1])]
    module = nn.Sequential(*layers).double()
    with torch.no_grad():
        for value in module.parameters():
            value.copy_(torch.randn(value.shape, dtype=torch.float64, generator=torch_seed))
            value.requires_grad_(draw(st.integers(0, 3)) > 0)
    next(module.parameters()).requires_grad_()
    return module, widths[0]


@settings(max_examples=60)
@given(layered_modules(), st.integers(0, 2**31))
def test_layered_networks_are_exact(made, seed):
    module, inputs = made
    network = Network.wrap(module, inputs=inputs)
    assert network.way == "layered"
    assert network.is_known
    require_exact(network, module, rows_for(network, seed=seed), 1e-10)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_factories_agree_with_finite_differences(activation):
    for network in (
        linear(3, 2, seed=1),
        mlp(3, 2, hidden=(5, 4), activation=activation, seed=1),
        autoencoder(3, hidden=(4,), code=2, activation=activation, seed=1),
    ):
        rows = rows_for(network)
        expected = differences(network, rows)
        close(network.forward(rows).gram(), expected @ expected.transpose(1, 2), 1e-8)
        close(network.forward(rows).pull_back(np.ones((6, network.outputs_count))), expected.sum((0, 1)), 1e-8)


def test_many_records_are_computed_in_parts(monkeypatch):
    network = mlp(3, 2, hidden=(5,), activation="tanh", seed=1)
    rows = rows_for(network, 40)
    whole = network.forward(rows)
    monkeypatch.setattr(layered_pass, "BLOCK_ENTRIES", 35)
    monkeypatch.setattr(layered_pass, "SIGNAL_ENTRIES", 20)
    parts = network.forward(rows)
    assert len(parts._blocks) == 6
    close(parts.gram(), whole.gram())
    close(parts.pull_back(whole.outputs), whole.pull_back(whole.outputs))
    rows[0] = torch.inf
    without = network.forward(rows[1:]).pull_back(np.ones((39, 2)))
    close(network.forward(rows).pull_back(np.ones((40, 2))), without)


class Residual(nn.Module):
    """Layers that a user's code combines, on two ways."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.second, self.last = (
            nn.Linear(3, 4),
            nn.LayerNorm(4),
            nn.Linear(4, 4),
            nn.Linear(4, 2),
        )
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.last(h + self.second(torch.sin(self.norm(h)))) * x[:, :1].exp()


class Shared(Residual):
    """One layer used twice."""

    def forward(self, x):
        h = self.first(x)
        return self.last(h + torch.tanh(self.second(torch.tanh(self.second(h)))))


class Elsewhere(Residual):
    """A weight that is used outside of its layer too."""

    def forward(self, x):
        h = self.first(x)
        return self.last(torch.tanh(self.second(h)) + h @ self.second.weight)


class Instead(Residual):
    """A layer whose result is dropped, and its weight used elsewhere."""

    def forward(self, x):
        h = self.first(x)
        self.second(h)
        return self.last(torch.tanh(h @ self.second.weight))


class InPlace(Residual):
    """What leaves a layer is overwritten."""

    def forward(self, x):
        return self.last(self.first(x).mul_(x[:, :1]))


class Exchanged(Residual):
    """Rows change places within, and back."""

    def forward(self, x):
        return self.last(torch.tanh(self.first(x.flip(0)))).flip(0)


class Own(nn.Module):
    """Parameters that belong to no layer."""

    def __init__(self):
        super().__init__()
        self.theta = nn.Parameter(torch.linspace(-1, 1, 6).view(3, 2))

    def forward(self, x):
        return torch.sin(x @ self.theta)


class Branching(Own):
    """Code that asks for the values of a record, which torch.func can't vectorize."""

    def forward(self, x):
        return torch.stack([torch.sin(row @ self.theta) * (2.0 if row[0].item() > 0 else 1.0) for row in x])


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        (Residual, "leafwise"),
        (Shared, "mixed"),
        (Elsewhere, "mixed"),
        (Instead, "mixed"),
        (InPlace, "mixed"),
        (Exchanged, "general"),
        (Own, "general"),
        (Branching, "one by one"),
    ],
)
def test_modules_of_users_are_exact(kind, way):
    torch.manual_seed(3)
    module = kind().double()
    network = Network.wrap(module, inputs=3)
    assert network.way == way
    assert network.brought == (f"{kind.__name__} of {kind.__module__}",)
    assert not network.is_known
    rows = rows_for(network)
    if way == "one by one":
        expected = differences(network, rows)
        passed = network.forward(rows)
        close(passed.gram(), expected @ expected.transpose(1, 2), 1e-8)
        close(passed.pull_back(passed.outputs), torch.einsum("ndp,nd->p", expected, passed.outputs), 1e-8)
    else:
        require_exact(network, module, rows)


def test_leafwise_in_parts(monkeypatch):
    network = Network.wrap(Residual(), inputs=3)
    rows = rows_for(network, 30)
    whole = network.forward(rows).gram()
    monkeypatch.setattr("counterfoil.networks.general_pass.SIGNAL_ENTRIES", 100)
    close(network.forward(rows).gram(), whole)


class Twice(nn.Module):
    """A layer, tanh, and the layer once more; that it is there twice is not known to PyTorch."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(x)))


def test_layers_that_are_used_twice_in_a_row():
    shared = nn.Linear(3, 3)
    module = nn.Sequential(shared, nn.Tanh(), shared).double()
    network = Network.wrap(module, inputs=3)
    assert network.way == "general"
    assert len(network.parameters_vector()) == 12
    require_exact(network, Twice(shared), rows_for(network))
    network.load_vector(2 * network.parameters_vector())
    with torch.no_grad():
        for value in shared.parameters():
            value.mul_(2)
    require_exact(network, Twice(shared), rows_for(network))
    tied = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3)).double()
    tied[2].weight = tied[0].weight
    network = Network.wrap(tied, inputs=3)
    assert network.way == "general"
    require_exact(network, tied, rows_for(network))


@st.composite
def convolutions(draw):
    """A module with a convolution over one or two dimensions, of any stride, dilation, padding and groups."""
    two, groups = draw(st.booleans()), draw(st.sampled_from([1, 2]))
    numbers = lambda low, high: draw(st.tuples(*[st.integers(low, high)] * (1 + two)))  # noqa: E731
    sizes = {"kernel_size": numbers(1, 2), "stride": numbers(1, 2), "dilation": numbers(1, 2), "padding": numbers(0, 1)}
    made = (nn.Conv2d if two else nn.Conv1d)(2, 2 * groups, groups=groups, bias=draw(st.booleans()), **sizes)
    side = (2, 3, 4) if two else (2, 5)
    norm = [nn.LayerNorm(made(torch.zeros(1, *side)).shape[2:])] if draw(st.booleans()) else []
    module = nn.Sequential(nn.Unflatten(1, side), made, *norm, nn.Tanh(), nn.Flatten(), nn.LazyLinear(2))
    module(torch.zeros(1, int(np.prod(side))))
    made.weight.requires_grad_(draw(st.integers(0, 3)) > 0)
    return module.double(), int(np.prod(side))


@settings(max_examples=25)
@given(convolutions(), st.integers(0, 2**31))
def test_convolutions_are_exact(made, seed):
    module, inputs = made
    network = Network.wrap(module, inputs=inputs)
    assert network.way == "leafwise"
    # That rows stay apart, and that clipping bounds what is released, is proved for networks in closed form alone.
    assert network.brought == ("Sequential of torch.nn.modules.container",)
    require_exact(network, module, rows_for(network, seed=seed), 1e-10)


class Sequences(nn.Module):
    """Attention: linear layers and norms over the steps of a sequence, with a scale of its own."""

    def __init__(self, steps, width, *, bias=True):
        super().__init__()
        self.steps = steps
        self.into, self.out = nn.Linear(2, width, bias=bias), nn.Linear(width, 2, bias=bias)
        self.asked, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.tensor(0.7))

    def forward(self, x):
        h = self.norm(self.into(x.view(len(x), self.steps, 2)))
        weights = torch.softmax(self.asked(h) @ h.transpose(1, 2) * self.scale, -1)
        return self.out(weights @ h).mean(1)


@settings(max_examples=15)
@given(st.integers(1, 7), st.integers(2, 4), st.booleans(), st.integers(0, 2**31))
def test_sequences_are_exact(steps, width, bias, seed):
    torch.manual_seed(seed % 1000)
    module = Sequences(steps, width, bias=bias).double()
    network = Network.wrap(module, inputs=2 * steps)
    assert network.way == "mixed"
    require_exact(network, module, rows_for(network, seed=seed), 1e-10)


class Across(nn.Module):
    """A layer that runs over the features of all records: the first dimension of what enters is no record's."""

    def __init__(self, inputs):
        super().__init__()
        self.mixes, self.last = nn.Linear(1, 3), nn.Linear(3, 2)

    def forward(self, x):
        h = torch.tanh(self.mixes(x.T[:, :, None]))  # [inputs, n, 3]
        return self.last(h.mean(0))


@pytest.mark.parametrize("inputs", [3, 5, 6])
def test_layers_whose_first_dimension_is_not_the_records(inputs):
    module = Across(inputs).double()
    network = Network.wrap(module, inputs=inputs)
    assert network.way == "mixed"
    require_exact(network, module, rows_for(network, 6))


class Odd(nn.Module):
    """One layer, used in a way that a closed form does not cover."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x[:, None, :].expand(-1, 2, -1)).flatten(1)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"),
        lambda: nn.Conv1d(2, 3, 3, padding="same"),
        lambda: nn.ConvTranspose1d(2, 3, 2),
        lambda: nn.GroupNorm(1, 2),
    ],
)
def test_layers_without_a_closed_form_go_the_general_way(layer):
    torch.manual_seed(4)
    module = Odd(layer()).double()
    network = Network.wrap(module, inputs=4)
    assert network.way == "general"
    require_exact(network, module, rows_for(network))


def test_only_what_has_no_closed_form_is_explicit(monkeypatch):
    """Of a module with a scale of its own, the Jacobians of one parameter are formed, and none of its layers."""
    from counterfoil.networks.jacobians import Differentiable

    asked, before = [], Differentiable.jacobians
    monkeypatch.setattr(
        Differentiable, "jacobians", lambda self, rows, names=None: asked.append(names) or before(self, rows, names)
    )
    network = Network.wrap(Sequences(3, 4), inputs=6)
    asked.clear()
    network.forward(rows_for(network)).gram()
    assert asked == [("scale",)]


def test_overwriting_activations_leave_inputs_alone():
    module = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2)).double()
    network = Network.wrap(module, inputs=3)
    rows = rows_for(network)
    kept = rows.clone()
    require_exact(network, nn.Sequential(nn.ReLU(), module[1], nn.ReLU(), module[3]), rows)
    assert torch.equal(rows, kept)


def test_an_empty_batch_adds_nothing():
    for network in (mlp(3, 2, seed=1), Network.wrap(Residual(), inputs=3), Network.wrap(Own(), inputs=3)):
        passed = network.forward(np.zeros((0, 3)))
        assert passed.gram().shape == (0, 2, 2)
        assert network.outputs(np.zeros((0, 3))).shape == (0, 2)
        assert np.array_equal(passed.pull_back(np.zeros((0, 2))), np.zeros(len(network.parameters_vector())))


def test_outputs_in_parts_are_those_of_a_pass(monkeypatch):
    network = mlp(3, 2, seed=1)
    rows = rows_for(network, 10)
    monkeypatch.setattr("counterfoil.networks.network.CHUNK_ROWS", 3)
    close(network.outputs(rows.numpy()), network.forward(rows).outputs)


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_that_pytorch_does_not_have_are_refused(seed):
    with pytest.raises(ValueError, match=r"A seed must be from -2\*\*63 to 2\*\*64 - 1"):
        linear(2, 1, seed=seed)


def test_the_same_seed_gives_the_same_network():
    state = torch.get_rng_state()
    first, second, third = (mlp(3, 2, seed=seed).parameters_vector() for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)
    assert torch.equal(torch.get_rng_state(), state), "the global generator is left alone"
    assert abs(linear(100, 50, seed=1).parameters_vector()).max() <= 0.1


def test_wrapping_makes_a_private_copy():
    module = nn.Linear(3, 2)
    network = Network.wrap(module, inputs=3)
    network.load_vector(np.zeros(8))
    assert module.weight.abs().sum() > 0
    assert module.weight.dtype == torch.float32
    network.parameters_vector()[:] = 7
    assert not network.parameters_vector().any()


def test_a_pass_is_of_the_parameters_that_it_was_made_with():
    network = linear(3, 2, seed=1)
    passed = network.forward(np.ones((4, 3)))
    network.load_vector(np.zeros(8))
    for use in (passed.gram, lambda: passed.pull_back(np.ones((4, 2)))):
        with pytest.raises(ValueError, match="call `forward` again"):
            use()


def test_arrays_of_any_kind_are_taken():
    network = linear(3, 2, seed=1)
    array = np.random.default_rng(0).normal(size=(4, 3))
    expected = network.forward(array).outputs
    fixed = array.copy()
    fixed.flags.writeable = False
    for kind in (fixed, array[::-1][::-1], np.asfortranarray(array), array.tolist(), torch.tensor(array)):
        assert torch.equal(network.forward(kind).outputs, expected)
    backward = network.forward(array[::-1])
    assert torch.equal(backward.outputs, expected.flip(0))
    weights = np.arange(8.0).reshape(4, 2)
    assert np.array_equal(
        backward.pull_back(weights[::-1]), network.forward(array[::-1].copy()).pull_back(weights[::-1])
    )
    assert torch.equal(network.outputs(array.astype(np.float32)), network.outputs(array.astype(np.float32).tolist()))


def test_what_is_given_is_checked():
    network = linear(3, 2, seed=1)
    with pytest.raises(ValueError, match=r"`x` must be of shape \[n, 3\].* Found \(4, 2\)"):
        network.forward(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"`coefficients` must have .*\(4, 2\). Found \(4, 1\)"):
        network.forward(np.ones((4, 3))).pull_back(np.ones((4, 1)))
    with pytest.raises(ValueError, match="one number for each of the 8 parameters"):
        network.load_vector(np.ones(7))
    with pytest.raises(ValueError, match="`vector` must be finite"):
        network.load_vector(np.full(8, np.nan))


def test_descriptions_are_plain():
    import json

    network = mlp(3, 2, hidden=(4,), seed=1)
    assert json.loads(json.dumps(network.describe())) == {
        "inputs": 3,
        "outputs": 2,
        "parameters": 26,
        "gram": "layered",
        "layers": [
            "Linear(in_features=3, out_features=4, bias=True)",
            "ReLU()",
            "Linear(in_features=4, out_features=2, bias=True)",
        ],
        "brought": [],
    }
