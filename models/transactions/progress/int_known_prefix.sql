{%- if not run_has('new_transaction_topic') -%}
{{ no_rows({'source_prefix': 'string'}) }}
{%- else -%}
-- Of a database of SQL Server, the source without the last part is that of its connector.
select source_prefix
from {{ ref('int_prefixed_change') }}
where source_prefix is not null
group by source_prefix
union distinct
select explode(array(source, regexp_replace(source, '[.][^.]*$', ''))) as source_prefix
from {{ ref('int_starting_commit') }}
{%- endif %}
