"""Which modules of PyTorch are known to treat each record by itself, and which of them have layers in closed form."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from counterfoil.networks.layers import ACTIVATIONS, AnyActivation, Layer, LayerNormLayer, LinearLayer, SoftmaxLayer

ELEMENTWISE: frozenset[type[nn.Module]] = frozenset(
    {
        *(nn.CELU, nn.ELU, nn.GELU, nn.Hardshrink, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.LeakyReLU),
        *(nn.LogSigmoid, nn.Mish, nn.ReLU, nn.ReLU6, nn.SELU, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.Softshrink),
        *(nn.Softsign, nn.Tanh, nn.Tanhshrink, nn.Threshold),
    }
)
"""Activations h_j = phi(a_j) without parameters."""

KNOWN: frozenset[type[nn.Module]] = ELEMENTWISE | {
    *(nn.Sequential, nn.Identity, nn.Flatten, nn.Unflatten, nn.Linear, nn.LayerNorm, nn.GroupNorm, nn.PReLU, nn.GLU),
    *(nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d),
    *(nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d),
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d, nn.Upsample, nn.ZeroPad1d, nn.ZeroPad2d),
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout),
    *(nn.Softmax, nn.LogSoftmax, nn.Softmin),
}
"""Modules whose code is PyTorch's. Those that may mix records or draw numbers are examined besides."""

MIXING = (nn.modules.batchnorm._NormBase,)
"""Modules with statistics of the batch, or of what they have seen."""

DROPPING = (nn.modules.dropout._DropoutNd,)


def layered(module: nn.Module) -> list[Layer] | None:
    """The steps of `module` for rows [n, p]; None where one has no closed form, or where parameters are used twice."""
    steps = list(_steps(module))
    if any(step is None for step in steps):
        return None
    layers = [step for step in steps if step is not None]
    parameters = [id(parameter) for layer in layers for parameter in layer.parameters()]
    return layers if len(set(parameters)) == len(parameters) else None


def _steps(module: nn.Module) -> Iterator[Layer | None]:
    """The steps in order; None for one that has no closed form."""
    match module:
        case nn.Sequential() if type(module) is nn.Sequential:
            for child in module:
                yield from _steps(child)
        case nn.Linear() if type(module) is nn.Linear:
            yield LinearLayer(module)
        case nn.LayerNorm() if type(module) is nn.LayerNorm and len(module.normalized_shape) == 1:
            yield LayerNormLayer(module)
        case nn.Softmax(dim=1 | -1) if type(module) is nn.Softmax:
            yield SoftmaxLayer()
        case _ if type(module) in ELEMENTWISE:
            yield ACTIVATIONS.get(type(module)) or AnyActivation(module)
        case nn.Flatten(start_dim=1, end_dim=-1 | 1) if type(module) is nn.Flatten:
            pass  # rows are flat already
        case _ if type(module) is nn.Identity or (isinstance(module, DROPPING) and type(module) in KNOWN):
            pass  # what drops with a probability other than zero was refused
        case _:
            yield None
