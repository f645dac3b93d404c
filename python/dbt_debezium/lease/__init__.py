"""One run at a time per lake: on this machine (`local`), on all of its catalog (`holding`)."""

from dbt_debezium.lease.holding import HeldLease, LostLeaseError, writing
from dbt_debezium.lease.java_process import JVM_LOCK_NAME, jvm_lease
from dbt_debezium.lease.local import LOCK_NAME, MACHINE_NAME, Lease, acquire

__all__ = [
    "JVM_LOCK_NAME",
    "LOCK_NAME",
    "MACHINE_NAME",
    "HeldLease",
    "Lease",
    "LostLeaseError",
    "acquire",
    "jvm_lease",
    "writing",
]
