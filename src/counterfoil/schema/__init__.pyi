"""The public names of `counterfoil.schema`, each from its home."""

from counterfoil.schema.boolean import Boolean as Boolean
from counterfoil.schema.categorical import Categorical as Categorical
from counterfoil.schema.column import Column as Column
from counterfoil.schema.derived import Derived as Derived
from counterfoil.schema.drafting import draft as draft
from counterfoil.schema.errors import SchemaError as SchemaError
from counterfoil.schema.errors import UnconfirmedSchema as UnconfirmedSchema
from counterfoil.schema.errors import UnplacedValue as UnplacedValue
from counterfoil.schema.identifier import Identifier as Identifier
from counterfoil.schema.instant import Date as Date
from counterfoil.schema.instant import Datetime as Datetime
from counterfoil.schema.integer import Integer as Integer
from counterfoil.schema.patterns import Pattern as Pattern
from counterfoil.schema.real import Real as Real
from counterfoil.schema.rules import Rule as Rule
from counterfoil.schema.rules import Zeros as Zeros
from counterfoil.schema.schema import Schema as Schema

__all__: list[str]
