"""How Db2's connector reads its change tables, which know only rows that went and rows that came.

A row that goes is taken for one with the next that comes, if that is the next of the table in its
transaction: an update, or a change of key. It is sent where the one stood, with the other's LSN.
"""

from collections.abc import Iterable

from histories.plan import Event


def as_read(events: Iterable[Event]) -> list[Event]:
    """The events that are sent of a transaction."""
    sent: list[list[Event]] = []
    gone: dict[str, list[Event]] = {}
    for event in events:
        waiting = gone.pop(event.table, None)
        if waiting and event.operation == "c":
            waiting[:] = _joined(waiting[0], event)
            continue
        sent.append([event])
        if event.operation == "d" and event.new_key is None:
            gone[event.table] = sent[-1]
    return [event for some in sent for event in some]


def _joined(gone: Event, come: Event) -> list[Event]:
    if gone.key == come.key:
        update = Event(gone.table, "u", gone.key, gone.before, come.after, lsn=come.lsn)
        return [update]
    gone.lsn, gone.new_key, come.old_key = come.lsn, come.key, gone.key
    return [gone, come]
