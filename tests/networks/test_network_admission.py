"""Which modules are refused, and by which sentence."""

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
nn = torch.nn

from counterfoil.networks.network import Network  # noqa: E402


class Own(nn.Module):
    """What a user may bring."""

    def __init__(self, function, **buffers):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        self.gate = nn.Parameter(torch.zeros(()))
        for name, value in buffers.items():
            self.register_buffer(name, torch.tensor(value))
        self.function = function

    def forward(self, x):
        return self.function(self, x)


def counted(self, x):
    self.seen += 1
    return self.layer(x)


def overwritten(self, x):
    return self.layer(x.mul_(2))


def attention(self, x):
    z = self.layer(x)
    return torch.softmax(z @ z.T, 1) @ z


MIXING = {
    "a mean": lambda self, x: self.layer(x - x.mean(0)),
    "a gate that is closed at first": lambda self, x: self.layer(x) + self.gate * self.layer(x).mean(0),
    "a neighbor": lambda self, x: self.layer(x + 1e-4 * x.roll(1, 0)),
    "the number of records": lambda self, x: self.layer(x) / len(x),
    "the place in the batch": lambda self, x: self.layer(x) * torch.arange(len(x)).double()[:, None],
    "the largest value": lambda self, x: self.layer(x) / x.abs().max(),
    "attention": attention,
}


@pytest.mark.parametrize("how", MIXING)
def test_modules_that_mix_records_are_refused(how):
    with pytest.raises(ValueError, match=r"`module` must treat each record by itself. Found"):
        Network.wrap(Own(MIXING[how]), inputs=4)


@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.BatchNorm1d(2),
        lambda: nn.SyncBatchNorm(2),
        lambda: nn.InstanceNorm1d(2, track_running_stats=True),
        lambda: nn.LazyBatchNorm1d(),
    ],
)
@pytest.mark.parametrize("training", [True, False])
def test_normalization_by_the_batch_is_refused_by_name(layer, training):
    module = nn.Sequential(nn.Linear(4, 2), layer()).train(training)
    with pytest.raises(ValueError, match=r"treat each record by itself. Found .*Norm.*mixes a batch: use LayerNorm"):
        Network.wrap(module, inputs=4)


@pytest.mark.parametrize("layer", [nn.Softmax(0), nn.LogSoftmax(0), nn.Softmin(0)])
def test_known_modules_are_tried_too(layer):
    with pytest.raises(ValueError, match=r"`module` must treat each record by itself"):
        Network.wrap(nn.Sequential(nn.Linear(4, 2), layer), inputs=4)


@pytest.mark.parametrize("layer", [nn.Dropout(0.1), nn.AlphaDropout(0.5)])
@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_refused(layer, training):
    with pytest.raises(
        ValueError, match=r"must not draw random numbers. Found .*Dropout with p=0.*set p=0 or remove it"
    ):
        Network.wrap(nn.Sequential(nn.Linear(4, 2), layer).train(training), inputs=4)


REFUSED = {
    "randomness": (Own(lambda self, x: self.layer(x + torch.randn_like(x))), "must not draw random numbers"),
    "a buffer": (Own(counted, seen=0), "must keep nothing of what it has seen"),
    "writing": (Own(overwritten), "must leave its inputs as they are"),
    "float32": (Own(lambda self, x: self.layer(x).float()), "must compute in float64. Found outputs of torch.float32"),
    "NaN": (Own(lambda self, x: torch.log(self.layer(x))), "must have finite outputs on public rows"),
    "one number": (Own(lambda self, x: self.layer(x)[:, 0]), r"must turn \[n, 4\] into \[n, d\]. Found \(24,\)"),
    "a sum": (Own(lambda self, x: self.layer(x).sum(0, keepdim=True)), r"must turn \[n, 4\] into \[n, d\]"),
    "a pair": (Own(lambda self, x: (x, x)), r"Found tuple for n = 24"),
    "no parameter used": (Own(lambda self, x: x), "must depend on parameters to train"),
    "no parameters": (nn.ReLU(), "must have parameters to train. Found none"),
    "frozen": (nn.Linear(4, 2).requires_grad_(False), "must have parameters to train. Found none"),
    "complex": (nn.Linear(4, 2, dtype=torch.complex64), "must be real numbers. Found weight of torch.complex64"),
    "lazy": (nn.LazyLinear(2), "must have all its parameters. Found weight without a shape"),
    "another width": (nn.Linear(5, 2), "must take any number of float64 rows of length 4. Found RuntimeError"),
    "a function": (torch.relu, "`module` must be a torch.nn.Module"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_else_is_refused(what):
    module, sentence = REFUSED[what]
    with pytest.raises(ValueError, match=sentence):
        Network.wrap(module, inputs=4)


def test_hooks_are_refused():
    module = nn.Sequential(nn.Linear(4, 2))
    module[0].register_forward_hook(lambda layer, x, z: 2 * z)
    with pytest.raises(ValueError, match=r"`module` must have no hooks. Found a hook of Linear"):
        Network.wrap(module, inputs=4)


def test_inputs_are_counted():
    with pytest.raises(ValueError, match=r"`inputs` must be at least 1. Found 0"):
        Network.wrap(nn.Linear(4, 2), inputs=0)


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match=r"`device` must be one that this machine has: cpu.* Found 'tpu'"):
        Network.wrap(nn.Linear(4, 2), inputs=4, device="tpu")


def test_what_is_brought_is_named():
    def doubled(x):
        return 2 * x

    class Linear(nn.Linear):
        pass

    replaced = nn.ReLU()
    replaced.forward = doubled
    known = nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.0), nn.LayerNorm(2), nn.Flatten())
    assert Network.wrap(known, inputs=4).brought == ()
    network = Network.wrap(nn.Sequential(Linear(4, 2), replaced, nn.Tanh()), inputs=4)
    assert network.brought == (
        f"ReLU of {nn.ReLU.__module__}",
        f"test_what_is_brought_is_named.<locals>.Linear of {__name__}",
    )
    assert not network.is_known
    assert network.way != "layered", "what is not PyTorch's has no closed form"
    assert network.describe()["brought"] == list(network.brought)


def test_a_trial_leaves_the_parameters_alone():
    module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    expected = torch.cat([value.detach().flatten() for value in module.parameters()])
    assert np.array_equal(Network.wrap(module, inputs=4).parameters_vector(), expected)


def test_frozen_parameters_are_not_trained():
    module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    module[0].requires_grad_(False)
    network = Network.wrap(module, inputs=4)
    assert len(network.parameters_vector()) == 8
    assert network.forward(np.ones((2, 4))).pull_back(np.ones((2, 2))).shape == (8,)


def test_without_torch_a_sentence_says_what_to_install():
    program = (
        "import sys\n"
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *rest: None if name in ('torch', 'safetensors') else find(name, *rest)\n"
        "import counterfoil.networks\n"
        "assert 'torch' not in sys.modules\n"
        "try:\n    counterfoil.networks.require_torch()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert shown == (
        "Networks need the packages torch and safetensors. Found no torch and no safetensors: "
        "Install counterfoil[torch]."
    )
