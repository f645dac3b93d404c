"""What SQL Server and Db2 have in common: LSNs in hexadecimal, also as ids of transactions."""

from typing import Final

from histories.plan import Event, Plan, Transaction

OTHER_DATABASE: Final = "other"


def lsn_text(lsn: int) -> str:
    """Virtual log file, block and slot, each in a fixed width, so that texts compare as numbers.

    >>> lsn_text(0x27_0758_05)
    '00000027:00000758:0005'
    """
    return f"{lsn >> 24:08x}:{lsn >> 8 & 0xFFFF:08x}:{lsn & 0xFF:04x}"


def commit_lsn(transaction: Transaction) -> str:
    """Where the commit record begins, which is also the transaction's id."""
    return lsn_text(transaction.end_lsn - 8)


def place(plan: Plan, transaction: Transaction, event: Event) -> str:
    """A change's part of the source block."""
    serial = f',"event_serial_no":{_serial(transaction, event)}'
    return (
        f'"change_lsn":"{lsn_text(event.lsn)}","commit_lsn":"{commit_lsn(transaction)}"'
        f"{serial if plan.connector == 'sqlserver' else ''}"
    )


def read_place(plan: Plan, snapshot_lsn: int) -> str:
    """A read's part of the source block: the last commit before it."""
    serial = ',"event_serial_no":null' if plan.connector == "sqlserver" else ""
    return f'"change_lsn":null,"commit_lsn":"{lsn_text(snapshot_lsn - 8)}"{serial}'


def _serial(transaction: Transaction, event: Event) -> int:
    """How many rows of change tables there are at the event's LSN, up to its own."""
    serial = 0
    for one in transaction.events:
        if one.lsn == event.lsn:
            serial += 2 if one.operation == "u" else 1
        if one is event:
            break
    return serial
