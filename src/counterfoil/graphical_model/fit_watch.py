"""Who hears how a fit goes on, and may end it before its goal."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


class FitWatch:
    """Hears of each fit, in the order of its methods. This one lets every fit reach its goal.

    Whatever a watch decides, it decides from noisy answers and from clocks, never from records (see
    `synthesis.time_limit`).
    """

    def begins(self, goal: float) -> None:
        """A fit begins.

        Args:
            goal: the relative gap at which it ends.
        """

    def may_go_on(self, evaluations: int, relative_gap: float) -> bool:
        """Whether the fit takes another step; asked before each.

        Args:
            evaluations: how often its objective was computed, at least once.
            relative_gap: the smallest so far, certified; above the goal.
        """
        return True

    def ends(self, evaluations: int, *, stopped: bool) -> None:
        """The fit has ended.

        Args:
            evaluations: how often its objective was computed.
            stopped: whether `may_go_on` ended it.
        """

    def working(self) -> AbstractContextManager[None]:
        """Around other work that reads no record: what the fitted model says, or would grow to."""
        return nullcontext()


UNWATCHED = FitWatch()
