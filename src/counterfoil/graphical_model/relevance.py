"""Which tensors of a program a marginal needs."""

from __future__ import annotations

from collections.abc import Iterable

from counterfoil.graphical_model.elimination import Program, Step


class Relevance:
    """Which tensors of a program a marginal needs: what its steps say about that, gathered once for all marginals."""

    def __init__(self, program: Program) -> None:
        self._output = program.output
        self._made = {step.out: step for step in program.steps}
        self._axes = [mask_of(axes) for axes in program.axes]
        self._inside = list(self._axes)
        for step in program.steps:
            for side in _sides(step):
                self._inside[step.out] |= self._inside[side]

    def of(self, axes: Iterable[int]) -> tuple[list[int], list[int], int]:
        """Slots whose product with the derivative at `top` is the model, marginalized to what `axes` need.

        Walks down while one side alone contains every wanted axis, then opens only the tensors inside which a
        wanted axis was summed out. Returns those slots, the slots that were opened, and `top`.
        """
        wanted = mask_of(axes)
        top = self._output
        while top in self._made:
            sides = [side for side in _sides(self._made[top]) if not wanted & ~self._inside[side]]
            if not sides:
                break
            top = min(sides, key=lambda side: self._inside[side].bit_count())
        slots, opened, pending = [], [], [top]
        while pending:
            slot = pending.pop()
            if slot in self._made and self._inside[slot] & ~self._axes[slot] & wanted:
                opened.append(slot)
                pending += _sides(self._made[slot])
            else:
                slots.append(slot)
        return slots, opened, top


def mask_of(axes: Iterable[int]) -> int:
    mask = 0
    for x in axes:
        mask |= 1 << x
    return mask


def _sides(step: Step) -> list[int]:
    return [step.left] if step.right < 0 else [step.left, step.right]
