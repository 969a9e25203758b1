"""The public names of `counterfoil.errors`, each from its home."""

from counterfoil.curator.errors import SourceError as SourceError
from counterfoil.curator.judged_runs import Withheld as Withheld
from counterfoil.ledger.errors import BudgetExceeded as BudgetExceeded
from counterfoil.ledger.errors import LedgerCutShort as LedgerCutShort
from counterfoil.ledger.errors import LedgerEdited as LedgerEdited
from counterfoil.ledger.errors import LedgerError as LedgerError
from counterfoil.ledger.errors import LedgerLocked as LedgerLocked
from counterfoil.ledger.errors import LedgerUnwritable as LedgerUnwritable
from counterfoil.ledger.errors import NotALedger as NotALedger
from counterfoil.ledger.errors import ReleaseClosed as ReleaseClosed
from counterfoil.ledger.errors import WrongSource as WrongSource
from counterfoil.schema.errors import SchemaError as SchemaError
from counterfoil.schema.errors import UnconfirmedSchema as UnconfirmedSchema
from counterfoil.schema.errors import UnplacedValue as UnplacedValue

__all__: list[str]
