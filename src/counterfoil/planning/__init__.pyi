"""The public names of `counterfoil.planning`, each from its home."""

from counterfoil.planning.outlook import Outlook as Outlook
from counterfoil.planning.planned import plan as plan
from counterfoil.planning.spread import Spread as Spread
from counterfoil.planning.want import Answer as Answer
from counterfoil.planning.want import Want as Want

__all__: list[str]
