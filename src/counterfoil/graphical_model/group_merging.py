"""Merging rare categories with those of their own group first."""

from __future__ import annotations

import numpy as np


def merge_in_groups(counts: np.ndarray, groups: np.ndarray, threshold: float) -> np.ndarray:
    """int64 [n]: the coarse code of each value; frequent ones stand alone, rare ones share.

    Rare values of one group become one where their noisy sum stands out of its own noise, which grows with the root of
    how many they are. All other rare values become one together, as without groups. Which are rare is decided by
    released answers alone, and groups are public.

    Args:
        counts: noisy counts [n].
        groups: int64 [n], the group of each value; -1 for none.
        threshold: noisy counts below it are rare.
    """
    rare = counts < threshold
    heaps = np.where(rare & (groups >= 0), groups, -1)
    if (heaps >= 0).any():
        grouped = heaps >= 0
        totals, members = np.bincount(heaps[grouped], counts[grouped]), np.bincount(heaps[grouped])
        stands_out = totals >= threshold * np.sqrt(members)
        heaps = np.where(grouped & stands_out[np.maximum(heaps, 0)], heaps, -1)
    n = len(counts)
    # Each value has a mark: its own, its group's, or that of the common heap; marks in order give the codes.
    marks = np.where(~rare, np.arange(n), np.where(heaps >= 0, n + heaps, np.iinfo(np.int64).max))
    return np.unique(marks, return_inverse=True)[1].reshape(-1).astype(np.int64)
