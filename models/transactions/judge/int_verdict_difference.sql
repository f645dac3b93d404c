with

-- Operators call a snapshot by the place of its reads.
snapshot as (

    select
        source,
        link_kind,
        position,
        {{ snapshot_id('snapshot_position') }} as link_name
    from {{ ref('int_chain_link') }}
    where snapshot_position is not null

),

chain_verdict as (

    select
        source,
        coalesce(transaction_id, {{ snapshot_id('snapshot_position') }}) as link_name,
        concat_ws(
            ' ', 'commit', commit_number, proof, coalesce(commit_position, link_kind)
        ) as verdict
    from {{ ref('commit') }}
    where cut_id = {{ candidate('cut_id') }}
    union all
    select
        source,
        transaction_id as link_name,
        concat_ws(' ', 'held', held_reason) as verdict
    from {{ ref('held_transaction') }}
    where transaction_id != 'messages without transaction'

),

judge_verdict as (

    select
        judged.source,
        coalesce(judged.transaction_id, snapshot.link_name) as link_name,
        case judged.verdict
            when 'commit'
                then
                    concat_ws(
                        ' ',
                        'commit',
                        judged.commit_number,
                        judged.proof,
                        case
                            when judged.link_kind = 'transaction' then judged.position
                            else judged.link_kind
                        end
                    )
            when 'hold' then concat_ws(' ', 'held', judged.held_reason)
            else judged.refusal
        end as verdict
    from {{ ref('int_verdict') }} as judged
    left join snapshot
        on
            judged.source = snapshot.source
            and judged.link_kind = snapshot.link_kind
            and judged.position = snapshot.position
    where judged.verdict not in ('superseded', 'discarded')

)

select
    -- verdicts
    chain_verdict.verdict as chain_verdict,
    judge_verdict.verdict as judge_verdict,

    -- identity
    coalesce(chain_verdict.source, judge_verdict.source) as source,
    coalesce(chain_verdict.link_name, judge_verdict.link_name) as link_name
from chain_verdict
full join judge_verdict
    on
        chain_verdict.source = judge_verdict.source
        and chain_verdict.link_name = judge_verdict.link_name
where
    chain_verdict.verdict is distinct from judge_verdict.verdict
    -- A transaction without END can be older than a snapshot that is published. The chain drops
    -- it. The judge knows no place of it, and lets it wait.
    and not coalesce(
        chain_verdict.verdict is null and judge_verdict.verdict = 'held no_end', false
    )
    -- Both hold it, for reasons that say the same. The chain says which message cannot be read, the
    -- judge which changes are missing. Of a partition in which nothing newer has landed the chain
    -- says that reads are missing. While no change shows whose an END is, the chain says that it
    -- has no position. Behind the first link that waits the chain goes on to say what each one
    -- lacks in front of it.
    and not coalesce(
        (chain_verdict.verdict, judge_verdict.verdict) in (
            ('held quarantined_event', 'held missing_events'),
            ('held missing_reads', 'held unproven_reads'),
            ('held no_commit_position', 'held no_transaction')
        )
        or (
            judge_verdict.verdict
            in ('held follows_held_transaction', 'held follows_held_snapshot')
            and chain_verdict.verdict in (
                'held follows_held_transaction',
                'held follows_held_snapshot',
                'held missing_predecessor',
                'held missing_reads',
                'held missing_row',
                'held partition_behind',
                'held quarantined_event',
                'held unaccounted_gtid',
                'held unproven_reads'
            )
        ),
        false
    )
