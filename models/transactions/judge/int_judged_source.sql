with

progress as (

    select * from {{ ref('partition_progress') }}
    where cut_id = {{ candidate('cut_id') }}

),

marker as (

    select * from {{ ref('stg_transaction_marker') }}

),

-- A change shows its connector, and so does a logical message inside a transaction.
sent_connector as (

    select
        source,
        max(connector) as connector
    from {{ ref('stg_message') }}
    where kind = 'change' or (kind = 'logical_message' and transaction_id is not null)
    group by source

),

-- Of a source that is published END can land alone. Those of MySQL and MariaDB name no connector
-- but a place in a log, those of SQL Server and Db2 neither. The judge knows no difference within
-- such a pair.
published_connector as (

    select
        starting_commit.source,
        coalesce(
            max(marker.connector),
            case when count(marker.log_position) > 0 then 'mysql' else 'sqlserver' end
        ) as connector
    from {{ ref('int_starting_commit') }} as starting_commit
    left join marker
        on starting_commit.source = marker.source
    group by starting_commit.source

),

known_source as (

    select
        explode(
            case when size(sources) > 0 then sources else array(topic_source) end
        ) as source
    from progress
    union distinct
    select source from sent_connector
    union distinct
    select source from marker
    union distinct
    select source from published_connector

)

select
    -- identity
    known.source,

    -- what it is
    coalesce(sent.connector, published.connector) as connector
from known_source as known
left join sent_connector as sent
    on known.source = sent.source
left join published_connector as published
    on known.source = published.source
where known.source is not null
