{# Functions that every dialect of dbt has. #}

{% macro evercurrent__array_construct(inputs, data_type) -%}
  {%- if inputs -%} array({{ inputs | join(', ') }}) {%- else -%} cast(array() as array<{{ data_type }}>) {%- endif -%}
{%- endmacro %}

{% macro evercurrent__array_concat(array_1, array_2) -%}
  concat({{ array_1 }}, {{ array_2 }})
{%- endmacro %}

{% macro evercurrent__date(year, month, day) -%}
  date '{{ modules.datetime.date(year, month, day).isoformat() }}'
{%- endmacro %}

{% macro evercurrent__right(string_text, length_expression) -%}
  right({{ string_text }}, cast({{ length_expression }} as int))
{%- endmacro %}

{% macro evercurrent__safe_cast(field, type) -%}
  try_cast({{ field }} as {{ type }})
{%- endmacro %}

{% macro evercurrent__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- set rows -%}
    array_agg({{ measure }}){% if order_by_clause %} within group ({{ order_by_clause }}){% endif %}
  {%- endset -%}
  array_join({{ 'slice(' ~ rows ~ ', 1, ' ~ limit_num ~ ')' if limit_num else rows }}, {{ delimiter_text }})
{%- endmacro %}

{# dbt counts the boundaries between two times; the function of the same name in Spark counts whole units. #}
{% macro evercurrent__datediff(first_date, second_date, datepart) -%}
  {%- set a = 'cast(' ~ first_date ~ ' as timestamp)' -%}
  {%- set b = 'cast(' ~ second_date ~ ' as timestamp)' -%}
  {%- set part = datepart | lower -%}
  {%- if part == 'year' -%}
    (year({{ b }}) - year({{ a }}))
  {%- elif part in ('quarter', 'month') -%}
    ((year({{ b }}) - year({{ a }})) * {{ 4 if part == 'quarter' else 12 }} + {{ part }}({{ b }}) - {{ part }}({{ a }}))
  {%- elif part in ('week', 'day', 'hour', 'minute', 'second', 'millisecond') -%}
    datediff({{ part }}, date_trunc('{{ part }}', {{ a }}), date_trunc('{{ part }}', {{ b }}))
  {%- else -%}
    datediff({{ part }}, {{ a }}, {{ b }})
  {%- endif -%}
{%- endmacro %}
