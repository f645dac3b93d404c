"""What every connector's messages have in common, and what its module must answer."""

from typing import Annotated, ClassVar, TypeAlias

from msgspec import Meta, Struct

from dbt_debezium.errors import EnvelopeError

LARGEST = 2**63 - 1

Integer = (
    Annotated[int, Meta(ge=-(2**63), le=LARGEST)]
    | Annotated[str, Meta(pattern="^-?[0-9]{1,19}$")]
    | None
)
"""Documents and proxies print numbers as text: `"total_order":"1"`."""

Natural = (
    Annotated[int, Meta(ge=0, le=LARGEST)] | Annotated[str, Meta(pattern="^[0-9]{1,19}$")] | None
)


def integer(name: str, number: int | str | None) -> int | None:
    """The number as a signed 64-bit integer.

    Raises:
        EnvelopeError: it needs more than 64 bits.

    >>> integer("total_order", "1"), integer("total_order", 2), integer("total_order", None)
    (1, 2, None)
    """
    if isinstance(number, str):
        number = int(number)
    if number is not None and not -LARGEST <= number <= LARGEST:
        raise EnvelopeError("bad_type", f"{name}: expected a 64-bit integer")
    return number


class Transaction(Struct):
    """The transaction block of a change."""

    id: str | None = None
    total_order: Natural = None
    data_collection_order: Natural = None


Place: TypeAlias = tuple[str | None, str | None, str | None]
"""Transaction id (None for a snapshot read, which belongs to no transaction), commit position of
the transaction before it, position of the change. Positions have one width and compare as text."""

Mark: TypeAlias = tuple[str, str | None]
"""What a transaction's id says: the transaction, and in an END its commit position."""


class Source(Struct):
    """The source block. A connector's subclass is tagged with the connector's name."""

    connector: ClassVar[str]
    has_schemas: ClassVar[bool] = True

    name: str | None = None
    db: str | None = None
    schema: str | None = None
    table: str | None = None
    snapshot: bool | str | None = None
    ts_ms: Integer = None
    ts_us: Integer = None

    def place(self, transaction: Transaction | None, is_snapshot: bool) -> Place:
        """Where the change stands.

        Raises:
            EnvelopeError: a position is not in this connector's form.
        """
        raise NotImplementedError

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The parts of a transaction's id; None when the id is not in this connector's form."""
        raise NotImplementedError
