"""Noisy losses at a net of models, as they were bought."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.features.losses import UNIT, LossNet
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.inference.pooled_marginal import total_of
from counterfoil.inference.risk_sampling import RiskSampling
from counterfoil.receipt.answers import RecordedAnswers

ROUNDED = 1 / UNIT
"""More than the average of rounded losses can be off: half of it, and what the arithmetic before adds."""


@dataclass(frozen=True, eq=False)
class BoughtLosses:
    """Noisy averages over the records of the losses of a net.

    Args:
        net: the net.
        averages: float64 [points]: of the loss of each model of the net minus that of the model 0.
        base: of the loss of the model 0.
        records: the number of records.
        count: the law of the noise in it.
        noise: the kind of the noise in each average.
        scale: its scale parameter there.
        base_scale: that of the noise in `base`; 0 where the loss of the model 0 is known.
        charges: the charges that bought them, and the number of records.
    """

    net: LossNet
    averages: np.ndarray
    base: float
    records: float
    count: NoiseLaw
    noise: str
    scale: float
    base_scale: float
    charges: tuple[int, ...]

    @staticmethod
    def of(answers: RecordedAnswers, target: str | None) -> BoughtLosses:
        """The losses of models for `target`, the only one where None. Of several nets, that with the least noise.

        Raises:
            Unanswerable: where none were bought, for several targets, or the number of records is not positive.
        """
        bought = [(one, one.family) for one in answers.averages if isinstance(one.family, LossNet)]
        found = [(one, net) for one, net in bought if target in (None, net.target)]
        if not found:
            others = f" Those of {bought[0][1].target} were." if bought else ""
            raise Unanswerable(
                f"The losses of models{'' if target is None else f' for {target}'} were never measured.{others} Buy "
                "them with a release by `--queries losses:logistic:TARGET~COLUMN,COLUMN`, or moments by `--queries "
                "moments:2`, and ask `risk`."
            )
        targets = sorted({net.target for _, net in found})
        if len(targets) > 1:
            raise Unanswerable(f"Losses of models for {', '.join(targets)} were bought: name one of them.")
        one, net = min(found, key=lambda pair: pair[0].scale)
        total = total_of(answers)
        if total.value < 1:
            raise Unanswerable("By its noisy answers the release is of no records: nothing can be said of averages.")
        values = one.sums * one.slopes / total.value
        return BoughtLosses(
            net,
            values[net.first :],
            math.log(2) if net.loss.of_labels else float(values[net.first - 1]),
            total.value,
            total.law,
            one.noise,
            one.scale / (UNIT * total.value),
            0.0 if net.loss.of_labels else one.scale * float(one.slopes[net.first - 1]) / total.value,
            tuple(sorted({one.charge, *total.charges})),
        )

    def share(self, noise: float) -> float:
        """The probability with which each bound on noise may fail: of losses, of that of 0, and of the count."""
        return noise / (1 + (self.base_scale > 0) + (self.count.deviation > 0))

    def count_error(self, noise: float | None) -> float:
        """The most that the number of records is off, but with its share of `noise`; 0 where noise is left out."""
        return 0.0 if noise is None else self.count.quantile(1 - self.share(noise))

    def base_error(self, noise: float | None) -> float:
        """The most that the average loss of the model 0 is off, likewise."""
        if self.net.loss.of_labels or noise is None:
            return ROUNDED
        scales = np.array([self.base_scale] * (self.noise == "discrete_laplace"))
        law = NoiseLaw(0.0 if len(scales) else self.base_scale**2, scales, np.ones(len(scales)))
        count = self.net.loss.base * self.count_error(noise) / self.records
        return law.quantile(1 - self.share(noise)) + count + ROUNDED

    def sampling(self, noise: float | None, failure: float | None) -> RiskSampling:
        """The sampling error of risks, of as few records as there may be; see `RiskSampling`.

        Raises:
            Unanswerable: where there may be none.
        """
        least = self.records - self.count_error(noise)
        if least <= 0:
            raise Unanswerable("The number of records is known too badly to say how far the sample's risks may be off.")
        return RiskSampling(self.net, least, failure)
