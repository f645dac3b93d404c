with

-- GTIDs of a server, or of a domain, follow each other: every transaction and every DDL statement
-- has one. What is known by its changes alone is not known to the chain.
numbered_message as (

    select
        source,
        split(log_position, '#') as place
    from {{ ref('stg_message') }}
    where
        {{ run_has('numbered_log') }}
        and {{ is_gtid('log_position') }}
        and (is_whole_transaction or kind = 'schema_change')
    union all
    select
        source,
        split(log_position, '#') as place
    from {{ ref('stg_transaction_marker') }}
    where {{ run_has('numbered_log') }} and {{ is_gtid('log_position') }} and marker = 'END'

),

starting_log as (

    select
        source,
        explode(log_positions) as (log, log_number)
    from {{ ref('int_starting_commit') }}
    where {{ run_has('starting_log') }}

),

known_number as (

    select
        source,
        place[0] as log,
        cast(place[1] as decimal(20, 0)) as log_number
    from numbered_message
    union distinct
    select
        source,
        log,
        cast(log_number as decimal(20, 0)) as log_number
    from starting_log
    where {{ is_gtid('log') }}

)

select
    -- identity
    source,
    log,
    log_number,

    -- proof
    log_number - row_number() over (partition by source, log order by log_number) as island
from known_number
