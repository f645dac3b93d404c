-- Reads that tell no place beside others that do, or a table that has a schema in some messages
-- only, have lost a field.
select source
from {{ ref('int_pending_read') }}
group by source
having
    count_if(rlike(event_position, '(^|: )[0:/]+$')) > 0
    and count_if(not rlike(event_position, '(^|: )[0:/]+$')) > 0
union
select source
from {{ ref('stg_change_event') }}
where connector = 'generic' and not is_already_published
group by source, topic, table_name
having
    count_if(schema_name = database_name) > 0 and count_if(schema_name != database_name) > 0
