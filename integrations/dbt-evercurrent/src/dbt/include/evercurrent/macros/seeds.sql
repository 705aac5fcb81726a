{# A seed is loaded in one transaction, so that views over it are updated by what has changed in the file. #}

{% macro evercurrent__create_csv_table(model, agate_table) -%}
  {%- set types = model['config'].get('column_types', {}) -%}
  {%- set quoted = model['config'].get('quote_columns', None) -%}
  {% set statement_text %}
    create or replace table {{ this.render() }} (
      {%- for name in agate_table.column_names -%}
        `{{ name }}` {{ types.get(name, adapter.convert_type(agate_table, loop.index0)) }}{{ ', ' if not loop.last }}
      {%- endfor -%}
    )
  {% endset %}
  {% do adapter.define(this, statement_text) %}
  {{ return(statement_text) }}
{%- endmacro %}

{% macro evercurrent__reset_csv_table(model, full_refresh, old_relation, agate_table) -%}
  {% if full_refresh %}
    {{ return(create_csv_table(model, agate_table)) }}
  {% endif %}
  {% if agate_table.rows | length == 0 %}
    {% do adapter.truncate_relation(old_relation) %}
  {% endif %}
  {{ return('-- the rows of ' ~ old_relation.render() ~ ' are replaced in one transaction') }}
{%- endmacro %}

{% macro evercurrent__load_csv_rows(model, agate_table) -%}
  {% do adapter.load_seed(this, agate_table) %}
  {{ return('-- ' ~ (agate_table.rows | length) ~ ' rows of ' ~ this.render()) }}
{%- endmacro %}
