{# A test whose `meta` says `assertion: true`, and that passes, becomes an assertion: from then on every transaction that would break it
   is refused. #}

{% materialization test, adapter='evercurrent' %}
  {% set made = materialization_test_default() %}
  {% if (config.get('meta') or {}).get('assertion') %}
    {% do evercurrent_assert(sql) %}
  {% endif %}
  {{ return(made) }}
{% endmaterialization %}

{% macro evercurrent_assert(sql) %}
  {% if load_result('main')['data'][0][0] == 0 %}
    {% set name = '`' ~ target.schema ~ '.' ~ model['name'] ~ '`' %}
    {% do run_query('create or replace assertion ' ~ name ~ ' check (not exists (\n' ~ sql ~ '\n))') %}
  {% endif %}
{% endmacro %}
