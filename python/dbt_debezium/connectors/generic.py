"""A connector that we do not know, in the order that the setting `generic_sources` gives it.

The setting names the fields of `source` that tell a change's place, the transaction's commit first.
What else is needed is taken as every Debezium connector has it: BEGIN and END with counts, END in
the order of commits, and a transaction block in each change. The example is Informix, whose
`source` has `commit_lsn` and `change_lsn` as text (SourceInfo of debezium-connector-informix).
"""

from collections.abc import Sequence
from typing import ClassVar

import msgspec
from msgspec import Raw

from dbt_debezium.connectors.base import (
    NATURAL_DIGITS,
    Mark,
    Natural,
    Place,
    Source,
    Transaction,
    padded,
    position_of,
)
from dbt_debezium.errors import EnvelopeError
from dbt_debezium.json_values import json_decoder, json_members


class GenericSource(Source):
    """The source block of a change of such a connector."""

    connector: ClassVar[str] = "generic"
    has_own_transaction_ids: ClassVar[bool] = True
    names_databases: ClassVar[bool] = True

    order: tuple[str, ...] = ()
    """The fields that the setting names."""
    numbers: tuple[str | None, ...] = ()
    """Their numbers at one width; None where there is none."""

    def named(self) -> tuple[str | None, str | None, str]:
        """The schema is the database where there is no schema."""
        schema = self.schema or self.db
        return self.name, schema, f"{schema}.{self.table}"

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """The transaction by its block.

        Of a read of an initial snapshot the first number alone says where the log was; without it
        the read stands before the stream.
        """
        if snapshot is not None and snapshot != "incremental":
            no_number = "0" * NATURAL_DIGITS
            place = [self.numbers[0] or no_number, *[no_number] * (len(self.numbers) - 1)]
            return Place(None, None, None, position_of(*place))
        log_position = transaction_id = None
        position = position_of(*self.numbers)
        if position is not None:
            log_position = f"commit#{self.numbers[0]}"
        if snapshot is None and transaction is not None:
            transaction_id = transaction.id
        return Place(transaction_id, None, None, position, log_position=log_position)

    def missing_fields(self) -> list[str]:
        """Those that the setting names."""
        return [name for name, one in zip(self.order, self.numbers, strict=True) if one is None]

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The id as it is: nothing is known of its form.

        >>> GenericSource.read_transaction_id("42")
        Mark(transaction_id='42', commit_position=None, log_position=None)
        >>> GenericSource.read_transaction_id("")
        """
        return Mark(transaction_id) if transaction_id else None

    @staticmethod
    def read_collection(name: str) -> tuple[str | None, str]:
        """The last two parts: END may put a database before schema and table.

        >>> GenericSource.read_collection("db.app.orders")
        (None, 'app.orders')
        """
        return None, ".".join(name.rsplit(".", 2)[-2:])


_common = json_decoder(Source)
_natural = json_decoder(Natural)


def read_generic(source: Raw, order: Sequence[str]) -> GenericSource:
    """Read a source block.

    Args:
        source: its JSON text.
        order: names of its fields that tell a change's place, the transaction's commit first.

    Raises:
        EnvelopeError: such a field is no number.
        msgspec.ValidationError: another field is of the wrong type.
    """
    fields = json_members(source)
    numbers = tuple(_number(name, fields.get(name)) for name in order)
    common = msgspec.structs.asdict(_common(source))
    return GenericSource(**common, order=tuple(order), numbers=numbers)


def _number(name: str, text: Raw | None) -> str | None:
    try:
        number = None if text is None else _natural(text)
    except msgspec.ValidationError:
        raise EnvelopeError(
            "bad_type", f"source.{name}: expected a natural number, as generic_sources asks"
        ) from None
    return None if number is None else padded(number, NATURAL_DIGITS)
