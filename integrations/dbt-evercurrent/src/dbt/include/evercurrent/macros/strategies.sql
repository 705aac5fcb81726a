{# Strategies of incremental models, each in one transaction. #}

{% macro evercurrent__get_incremental_default_sql(arg_dict) %}
  {% if arg_dict['unique_key'] %}
    {{ return(get_incremental_merge_sql(arg_dict)) }}
  {% endif %}
  {{ return(get_incremental_append_sql(arg_dict)) }}
{% endmacro %}

{% macro evercurrent__get_delete_insert_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) %}
  begin;
  {{ default__get_delete_insert_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) }};
  commit
{% endmacro %}
