"""How conclusions about the real table are drawn from a release, and that its rows alone allow none."""

INTERVALS = (
    "Conclusions about the real table need intervals that count the noise: counterfoil infer computes them from the "
    "receipt."
)
NO_INTERVALS = (
    "The receipt records no noisy counts that counterfoil infer could make intervals of: it does not say how far a "
    "number that is computed from these rows may be off."
)
ROWS_ALONE = "A test or an interval from the synthetic rows alone takes noise for truth."
