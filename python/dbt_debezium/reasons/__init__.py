"""Every reason to hold, flag or quarantine, defined once: its name, its rule, and what to do.

The models give these names, `status`, `run` and `preview` print their sentences, and
docs/runbook.md has an entry for each.
"""

from dbt_debezium.reasons.flagged import FLAGS
from dbt_debezium.reasons.held import HELD
from dbt_debezium.reasons.quarantined import DISCARDED, QUARANTINED
from dbt_debezium.reasons.reason import PREVIEWS, Command, Reason

__all__ = ["DISCARDED", "FLAGS", "HELD", "PREVIEWS", "QUARANTINED", "Command", "Reason"]
