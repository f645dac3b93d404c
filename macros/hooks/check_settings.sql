{#- Refuses settings and options that cannot work, all at once and before anything else. -#}
{%- macro check_settings() -%}
    {%- set problems = [] -%}
    {%- for name, why in [
        ('hashed', 'a run without it would build clear values'),
        ('keep_message_days', 'maintenance does not see --vars'),
        ('keep_version_days', 'maintenance does not see --vars'),
        ('public_as_table', 'a run without it would leave tables at an earlier commit'),
        ('quiet_partition_seconds', 'landings do not see --vars'),
    ] if name in invocation_args_dict.get('vars', {}) -%}
        {%- do problems.append(
            name ~ ' must be set in dbt_project.yml, because ' ~ why ~ '; leave it out of --vars'
        ) -%}
    {%- endfor -%}

    {%- set reaches = var('landing_reaches_the_end') -%}
    {%- if reaches is not boolean -%}
        {%- do problems.append('landing_reaches_the_end must be true or false; got ' ~ tojson(reaches)) -%}
    {%- endif -%}

    {%- for name, number in [
        ('longest_query_hours', var('longest_query_hours')),
        ('maintain_after_runs', var('maintain_after_runs')),
        ('maintain_seconds', var('maintain_seconds')),
        ('quiet_partition_seconds', var('quiet_partition_seconds')),
    ] if number is boolean or number is not number or number < 0 -%}
        {%- do problems.append(name ~ ' must be a number from 0 on; got ' ~ tojson(number)) -%}
    {%- endfor -%}

    {%- for name, days in [
        ('keep_message_days', var('keep_message_days')),
        ('keep_version_days', var('keep_version_days')),
    ] if days != 'forever' and (days is boolean or days is not integer or not 1 <= days <= 36500) -%}
        {%- do problems.append(name ~ ' must be a whole number of days from 1 to 36500, or forever; got ' ~ tojson(days)) -%}
    {%- endfor -%}

    {%- for name, patterns, example in [
        ('cdl_heartbeat_tables', var('cdl_heartbeat_tables'), 'cdc_cdl.cdc_heartbeat'),
        ('not_ingested_tables', var('not_ingested_tables'), 'public.audit_*'),
        ('public_as_table', var('public_as_table'), 'order*'),
        ('refused_flags', var('refused_flags'), 'snapshot_*'),
        ('refused_holds', var('refused_holds'), 'refused_proof'),
        ('sources_without_truncate', var('sources_without_truncate'), 'shop_*'),
        ('watermark_sources', var('watermark_sources'), 'shop_*'),
    ] -%}
        {%- if patterns is string or patterns is not sequence or patterns | reject('string') | list -%}
            {%- do problems.append(
                name ~ ' must be a list of patterns like ' ~ example ~ '; got ' ~ tojson(patterns)
            ) -%}
        {%- endif -%}
    {%- endfor -%}

    {%- for name, named, example in [
        ('cdl_sources', var('cdl_sources'), "patterns of topics to sources like {'bank_*': 'bank'}"),
        (
            'transaction_topics',
            var('transaction_topics'),
            "patterns of transaction topics to topic prefixes like {'eu-west.*.transaction': 'shop'}",
        ),
    ] -%}
        {%- if named is not mapping
            or ((named.keys() | list) + (named.values() | list)) | reject('string') | list
            or '' in named.values()
            or '*' in named.values() | join -%}
            {%- do problems.append(name ~ ' must be a mapping of ' ~ example ~ '; got ' ~ tojson(named)) -%}
        {%- endif -%}
    {%- endfor -%}

    {%- for name, named, example in [
        (
            'generic_sources',
            var('generic_sources'),
            "patterns of sources to fields of source like {'ifx*': ['commit_lsn', 'change_lsn']}",
        ),
        ('hashed', var('hashed'), "patterns of tables to columns like {'public.customers': ['email']}"),
    ] -%}
        {%- set is_mapping = named is mapping -%}
        {%- set lists = named.values() | list if is_mapping else [] -%}
        {%- if not is_mapping
            or named.keys() | reject('string') | list
            or lists | select('string') | list
            or lists | reject('sequence') | list
            or lists | select('mapping') | list
            or [] in lists
            or lists | sum(start=[]) | reject('string') | list -%}
            {%- do problems.append(name ~ ' must be a mapping of ' ~ example ~ '; got ' ~ tojson(named)) -%}
        {%- endif -%}
    {%- endfor -%}

    {%- if var('unavailable_value_placeholder') is not string or not modules.re.fullmatch('[!#-\\[\\]-~]+', var('unavailable_value_placeholder')) -%}
        {%- do problems.append(
            'unavailable_value_placeholder must be a text of ASCII without blanks, " and \\; got ' ~ tojson(var('unavailable_value_placeholder'))
        ) -%}
    {%- endif -%}

    {%- for name, kind, known_names in [
        ('refused_flags', 'flag', flag_names()),
        ('refused_holds', 'reason', hold_reasons()),
    ] if known_names -%}
        {%- for pattern in var(name) or [] if pattern is string and not matching([pattern], known_names) -%}
            {%- do problems.append(
                name ~ ': ' ~ tojson(pattern) ~ ' names no ' ~ kind ~ '; ' ~ kind ~ 's are: ' ~ known_names | join(', ')
            ) -%}
        {%- endfor -%}
    {%- endfor -%}

    {%- if var('refused_proofs') is string or var('refused_proofs') is not sequence or var('refused_proofs') | reject('in', ['watermark', 'none']) | list -%}
        {%- do problems.append(
            'refused_proofs must be a list of watermark and none; got ' ~ tojson(var('refused_proofs'))
        ) -%}
    {%- endif -%}

    {%- if var('repeated_snapshot_missing_table') not in ['keep', 'empty'] -%}
        {%- do problems.append(
            'repeated_snapshot_missing_table must be keep or empty; got ' ~ tojson(var('repeated_snapshot_missing_table'))
        ) -%}
    {%- endif -%}

    {%- if var('public_schema') is not string or not modules.re.fullmatch('[A-Za-z_][A-Za-z0-9_]*', var('public_schema')) -%}
        {%- do problems.append(
            'public_schema must be a name of letters, digits and underscores; got ' ~ tojson(var('public_schema'))
        ) -%}
    {%- endif -%}

    {%- if flags.FULL_REFRESH and flags.WHICH in ['run', 'build']
        and (invocation_args_dict.get('select') or invocation_args_dict.get('exclude')) -%}
        {%- do problems.append('--full-refresh rebuilds every table from the landing; leave out --select and --exclude') -%}
    {%- endif -%}
    {%- if invocation_args_dict.get('empty') -%}
        {%- do problems.append('--empty would build tables without rows; leave it out') -%}
    {%- endif -%}

    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('Settings that cannot work:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
{%- endmacro -%}
