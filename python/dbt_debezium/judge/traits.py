"""In what connectors differ, as data. Rules ask for a trait, and not for a connector's name."""

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Traits:
    """What the messages of a connector show of the order of commits (S2)."""

    change_place: Literal["predecessor", "commit", "change"]
    """What the place of a change in the log is, by which partitions are compared. `predecessor`:
    the commit that it names as the one before its own, so that a partition which names a commit is
    past it. `commit`: its own commit, of which more changes may follow. `change`: its own, where
    the log holds one transaction after the other."""
    is_ordered_by_end: bool = False
    """Whether only the order of ENDs is that of commits. The position of a transaction is then the
    offset of its first END."""
    counts_truncates: bool = True
    """Whether END counts truncates, or none is ever sent. Else a truncate is a transaction by
    itself, without END, and one may be missing before any commit (S8)."""
    sends_markers: bool = True
    """Whether it sends BEGIN and END. Else nothing counts its changes (S22)."""
    is_known: bool = True
    """Whether we know its messages. Of others a setting names the fields that order changes; such a
    connector may give an id out again, and its messages may lack fields."""
    is_by_database: bool = False
    """Whether each database is a source, and one transaction topic is that of all (S0)."""

    @property
    def names_predecessor(self) -> bool:
        """Whether a change names the commit before its own."""
        return self.change_place == "predecessor"


TRAITS: Final = {
    "cdl": Traits("change", sends_markers=False),
    "db2": Traits("commit"),
    "generic": Traits("change", is_ordered_by_end=True, is_known=False),
    "mariadb": Traits("change", is_ordered_by_end=True, counts_truncates=False),
    "mysql": Traits("change", is_ordered_by_end=True, counts_truncates=False),
    "oracle": Traits("change", is_ordered_by_end=True),
    "postgresql": Traits("predecessor"),
    "sqlserver": Traits("commit", is_by_database=True),
}
"""By the name of the connector."""
