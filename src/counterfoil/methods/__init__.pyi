"""The public names of `counterfoil.methods`, each from its home."""

from counterfoil.marginals.measure import measure as measure
from counterfoil.marginals.measure import measure_by_size as measure_by_size
from counterfoil.methods.method import Method as Method
from counterfoil.methods.method import Synthesizer as Synthesizer
from counterfoil.methods.method import SyntheticRelease as SyntheticRelease
from counterfoil.methods.registry import method_named as method_named
from counterfoil.methods.registry import method_names as method_names
from counterfoil.synthesis.point_synthesis import release_points as release_points
from counterfoil.synthesis.progress import Progress as Progress
from counterfoil.synthesis.progress import quiet as quiet
from counterfoil.synthesis.release import Fitted as Fitted
from counterfoil.synthesis.release import check_rows as check_rows
from counterfoil.synthesis.release import release as release

__all__: list[str]
