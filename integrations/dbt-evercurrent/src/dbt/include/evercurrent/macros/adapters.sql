{# Statements of definitions, and what dbt asks of the dialect. #}

{% macro evercurrent__create_view_as(relation, sql) -%}
  create or replace temporary view {{ relation }} as (
    {{ sql }}
  )
{%- endmacro %}

{% macro evercurrent__create_table_as(temporary, relation, sql) -%}
  {%- set contract = config.get('contract') -%}
  {%- if contract and contract.enforced and not temporary %}
    {{ get_assert_columns_equivalent(sql) }}
    create or replace table {{ relation }} {{ get_table_columns_and_constraints() }};
    {%- set sql = get_select_subquery(sql) %}
    insert into {{ relation }} (
      {{ sql }}
    )
  {%- else %}
    create or replace table {{ relation }} as (
      {{ sql }}
    )
  {%- endif %}
{%- endmacro %}

{% macro evercurrent__get_columns_in_relation(relation) -%}
  {{ return(adapter.get_columns_in_relation(relation)) }}
{%- endmacro %}

{% macro evercurrent__list_relations_without_caching(schema_relation) -%}
  {{ return(adapter.list_relations_without_caching(schema_relation)) }}
{%- endmacro %}

{% macro evercurrent__list_schemas(database) -%}
  {{ return(adapter.list_schemas(database)) }}
{%- endmacro %}

{% macro evercurrent__create_schema(relation) -%}{%- endmacro %}

{% macro evercurrent__drop_schema(relation) -%}
  {% do adapter.drop_schema(relation) %}
{%- endmacro %}

{% macro evercurrent__drop_relation(relation) -%}
  {% do adapter.drop_relation(relation) %}
{%- endmacro %}

{% macro evercurrent__get_drop_sql(relation) -%}
  drop {{ 'table' if relation.is_table else 'view' }} if exists {{ relation.render() }} cascade
{%- endmacro %}

{% macro evercurrent__make_temp_relation(base_relation, suffix) -%}
  {{ return(base_relation.incorporate(path={'identifier': base_relation.identifier ~ suffix}, type='table')) }}
{%- endmacro %}

{# The present time is a constant of the statement: a query that is kept may not ask the clock. #}
{% macro evercurrent__current_timestamp() -%}
  timestamp '{{ modules.datetime.datetime.now(modules.pytz.utc).strftime("%Y-%m-%d %H:%M:%S.%f") }}'
{%- endmacro %}

{% macro evercurrent__snapshot_get_time() -%}
  {{ current_timestamp() }}
{%- endmacro %}

{% macro evercurrent__alter_relation_add_remove_columns(relation, add_columns, remove_columns) -%}
  {% for column in add_columns or [] %}
    {% do run_query('alter table ' ~ relation.render() ~ ' add column ' ~ column.quoted ~ ' ' ~ column.expanded_data_type) %}
  {% endfor %}
  {% for column in remove_columns or [] %}
    {% do run_query('alter table ' ~ relation.render() ~ ' drop column ' ~ column.quoted) %}
  {% endfor %}
{%- endmacro %}

{% macro evercurrent__get_binding_char() -%}
  {{ return('?') }}
{%- endmacro %}

{# Comments are not kept; dbt has them in its manifest, and shows them in its documentation. #}
{% macro evercurrent__persist_docs(relation, model, for_relation, for_columns) -%}{%- endmacro %}
{% macro evercurrent__apply_grants(relation, grant_config, should_revoke) -%}
  {%- if grant_config %}
    {{ exceptions.warn("grants are not supported: whoever can open the database may do everything with it") }}
  {%- endif %}
{%- endmacro %}
