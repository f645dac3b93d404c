select
    -- where it comes from
    connector,
    database_name,
    data_collection,

    -- position
    snapshot,
    transaction_id,
    event_position,
    event_hash,

    -- A connector of SQL Server has one transaction topic for all of its databases.
    case
        when connector = 'sqlserver' and endswith(source, concat('.', database_name))
            then substr(source, 1, length(source) - length(database_name) - 1)
        else source
    end as source_prefix
from {{ ref('stg_message') }}
where kind = 'change'
