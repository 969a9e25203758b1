"""The public names of `counterfoil.geometry`, each from its home."""

from counterfoil.geometry.euclidean import Ball as Ball
from counterfoil.geometry.euclidean import Box as Box
from counterfoil.geometry.euclidean import point_schema as point_schema
from counterfoil.geometry.lattice import KernelLattice as KernelLattice
from counterfoil.geometry.partition import Grid as Grid
from counterfoil.geometry.partition import Partition as Partition
from counterfoil.geometry.space import Space as Space
from counterfoil.geometry.table_space import TableSpace as TableSpace

__all__: list[str]
