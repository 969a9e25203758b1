"""A limit of the time that a release may spend on its models: on fits, and on what rounds ask the models.

Formal guarantee: a limit costs nothing, and changes no guarantee. Let a_1, ..., a_k be the noisy answers that a method
has seen, and T_1, ..., T_m the processor time of its thread in its stretches of work so far: a fit, the marginals of a
fitted model, and which candidates a model has room for. The clock is read at the beginning of a stretch, between the
steps of a fit and at its end, and nowhere else; no query is computed in between, and what a stretch computes is a
function of a_1, ..., a_k and of public facts. So T_i = t_i(a_1, ..., a_k, M), where M is the state of the machine.
Whether a fit takes another step, and whether a method begins another round, is decided from T_1, ..., T_m and the
answers. Where M is independent of the records, each decision is a function of answers and of a coin that is independent
of the records, and so is each further query: this is how filters allow queries to be chosen, by any rule that sees
earlier answers. Each query is charged before it is answered, and refused where the budget does not cover it, as without
a limit. Decisions depend on records through charged noisy answers alone.

What is counted is therefore not the time on the wall, and not the processor time of reading, encoding, counting and
choosing, which depends on the records.

What remains: a query leaves caches, the allocation of memory and the frequency of the processor in a state that its
records have influenced, and a fit that follows may take a trifle more or less time. As with the duration of a release,
no epsilon accounts for that; unlike it, a limit that ends a fit may carry it into the release, as a step more or less.
A release without a limit depends on no clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class TimeLimit:
    """How long the models of a release may take, all together.

    Args:
        seconds: of processor time; positive.
        clock: seconds since any moment, of the thread that fits.

    Raises:
        ValueError: for another number of seconds.
    """

    seconds: float
    clock: Callable[[], float] = time.thread_time

    def __post_init__(self) -> None:
        number = isinstance(self.seconds, (int, float)) and not isinstance(self.seconds, bool)
        if not (number and 0 < self.seconds <= sys.float_info.max):
            raise ValueError(f"`time_limit` must be a positive number of seconds. Found {self.seconds!r}.")

    @classmethod
    def of(cls, given: TimeLimit | float | None) -> TimeLimit | None:
        """The limit that is given as such, or as seconds; None where there is none.

        Raises:
            ValueError: for a number of seconds that is not positive and finite.
        """
        return given if given is None or isinstance(given, cls) else cls(given)  # type: ignore[arg-type]
