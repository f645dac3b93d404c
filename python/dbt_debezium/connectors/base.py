"""What every connector's messages have in common, and what its module must answer."""

from typing import Annotated, ClassVar, Final, NamedTuple

from msgspec import Meta, Raw, Struct

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
NATURAL_DIGITS: Final = 19
Small = (
    Annotated[int, Meta(ge=0, le=2**32 - 1)] | Annotated[str, Meta(pattern="^[0-9]{1,10}$")] | None
)
SMALL_DIGITS: Final = 10

SNAPSHOTS: Final[dict[bool | str | None, str | None]] = {
    None: None,
    False: None,
    "false": None,
    True: "true",
    "true": "true",
    "first": "first",
    "first_in_data_collection": "first_in_data_collection",
    "last_in_data_collection": "last_in_data_collection",
    "last": "last",
    "incremental": "incremental",
}


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


def padded(number: int | str | None, digits: int) -> str | None:
    """The number at one width; None when it is not there.

    >>> padded("7", 4), padded(None, 4)
    ('0007', None)
    """
    return None if number is None else str(int(number)).zfill(digits)


def position_of(*parts: str | None, separator: str = "/") -> str | None:
    """The parts as one position; None when one is missing, because a guess would be wrong.

    >>> position_of("0007", "0001"), position_of("0007", None)
    ('0007/0001', None)
    """
    known = [part for part in parts if part is not None]
    return separator.join(known) if len(known) == len(parts) else None


def micros(ts_us: int | str | None, ts_ms: int | str | None) -> int | None:
    """Microseconds since 1970-01-01 UTC, from milliseconds where that is all there is.

    A time orders nothing, so one that needs more than 64 bits is none.

    >>> micros(None, "7"), micros(8, 7), micros(None, 2**62)
    (7000, 8, None)
    """
    if type(ts_us) is int and ts_us > 0:
        return ts_us  # msgspec has checked its size
    for number, factor in ((ts_us, 1), (ts_ms, 1000)):
        if number is not None and -LARGEST <= (moment := int(number) * factor) <= LARGEST:
            return moment
    return None


def snapshot_marker(marker: bool | str | None, operation: str) -> str | None:
    """One spelling for the marks of a read; None for a change that was streamed.

    Raises:
        EnvelopeError: the mark is not known.
    """
    if marker not in SNAPSHOTS:
        known = ", ".join(text for text in SNAPSHOTS if isinstance(text, str))
        raise EnvelopeError("bad_type", f"source.snapshot: expected one of {known}")
    snapshot = SNAPSHOTS[marker]
    return "true" if snapshot is None and operation == "r" else snapshot


def image(name: str, row: Raw) -> str | None:
    """The text of a row exactly as sent; None where there is none.

    Raises:
        EnvelopeError: it is not an object.
    """
    if not row:
        return None
    text = str(row, "utf-8")
    if text == "null":
        return None
    if text[0] == "{":
        return text
    raise EnvelopeError("bad_type", f"{name}: expected an object or null")


class Transaction(Struct):
    """The transaction block of a change."""

    id: str | None = None
    total_order: Natural = None
    data_collection_order: Natural = None

    def orders(self) -> tuple[int | None, int | None]:
        """The two orders as integers."""
        total, of_collection = self.total_order, self.data_collection_order
        if type(total) is int and type(of_collection) is int:
            return total, of_collection  # msgspec has checked their size
        return integer("total_order", total), integer("data_collection_order", of_collection)


class Place(NamedTuple):
    """Where a change stands. Positions have one width in a source and compare as text."""

    transaction_id: str | None
    """None for a read of a snapshot, which belongs to no transaction."""
    commit_position: str | None
    """Of the transaction, where a change tells it."""
    previous_commit_position: str | None
    """Of the transaction before it."""
    event_position: str | None
    """None when any part of it is missing. Then only the order of its transaction block places the
    change, and a change without one cannot be read."""
    is_whole_transaction: bool = False
    """Whether the change is a transaction by itself, without BEGIN and END."""
    log_position: str | None = None
    """`<log>#<number>`: the log that numbers the transaction, and its number there. Of connectors
    whose transactions are in the order of their END, and of no other."""


class Mark(NamedTuple):
    """What a transaction's id says."""

    transaction_id: str
    commit_position: str | None = None
    """Of an END."""
    log_position: str | None = None
    """As that of a `Place`."""


class Source(Struct):
    """The source block. A connector's subclass is tagged with the connector's name."""

    connector: ClassVar[str]
    has_own_transaction_ids: ClassVar[bool] = False
    """Whether no other connector has ids of this form."""
    position_fields: ClassVar[tuple[str, ...]] = ()
    """The fields of the source block that make the position of a change."""
    names_databases: ClassVar[bool] = False
    """Whether END may put a database before schema and table, which `read_collection` takes off."""

    name: str | None = None
    db: str | None = None
    schema: str | None = None
    table: str | None = None
    snapshot: bool | str | None = None
    ts_ms: Integer = None
    ts_us: Integer = None

    def named(self) -> tuple[str | None, str | None, str]:
        """The source, the schema, and END's name for the table.

        Two tables of one source differ in schema or name, so a connector of several databases
        makes the database a part of the source, or the schema of the table.
        """
        return self.name, self.schema, f"{self.schema}.{self.table}"

    def place(self, transaction: Transaction | None, snapshot: str | None, operation: str) -> Place:
        """Where the change stands.

        Raises:
            EnvelopeError: a position is not in this connector's form.
        """
        raise NotImplementedError

    def missing_fields(self) -> list[str]:
        """Those of its position that are not there."""
        return [name for name in self.position_fields if getattr(self, name) in (None, "")]

    @staticmethod
    def read_transaction_id(transaction_id: str) -> Mark | None:
        """The parts of a transaction's id; None when the id is not in this connector's form."""
        raise NotImplementedError

    @staticmethod
    def read_collection(name: str) -> tuple[str | None, str]:
        """Of a table's name in an END, the database where that belongs to the source, and the rest.

        The rest is what `named` calls the table.
        """
        return None, name
