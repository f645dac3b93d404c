"""The query of what is quarantined in the published cut."""

from typing import Final

from dbt_debezium.reasons import DISCARDED

QUARANTINED_QUERY: Final = f"""
select
    message.topic, message.partition, message.`offset`,
    max_by(message.source, message.landing_id) as source,
    max(message.landing_id) as landing_id,
    max_by(message.transaction_id, message.landing_id) as transaction_id,
    max_by(message.quarantine_reason, message.landing_id) as reason,
    max_by(message.quarantine_detail, message.landing_id) as detail,
    bool_or(array_contains(progress.unplaced_offsets, message.`offset`)) as is_unreadable
from {{schema}}.cut as published
inner join {{schema}}.quarantined_message as message
    on message.cut_id <= published.cut_id
inner join {{schema}}.partition_progress as progress
    on published.cut_id = progress.cut_id
    and message.topic = progress.topic
    and message.partition = progress.partition
where published.channel = 'published'
group by message.topic, message.partition, message.`offset`
having is_unreadable or reason = '{DISCARDED.name}'
"""
"""One row per message, as its newest landing tells."""
