{# table: the rows of the query as of now. A table that has the right columns is rewritten in one transaction, so that views over it
   are updated by the difference. incremental: as dbt documents it, with the strategies append, merge and delete+insert. #}

{% macro evercurrent_build_table(relation, sql) %}
  {% set there = adapter.kind_of(relation) %}
  {% set contract = config.get('contract') %}
  {% if there == 'table' and not should_full_refresh() and not (contract and contract.enforced) and adapter.has_columns_of(relation, sql) %}
    {% call statement('main') -%}
      begin;
      delete from {{ relation }};
      insert into {{ relation }} (
        {{ sql }}
      );
      commit
    {%- endcall %}
  {% else %}
    {% if there and there != 'table' %}
      {% do adapter.drop_relation(relation.incorporate(type=none)) %}
    {% endif %}
    {% set text = create_table_as(False, relation, sql) %}
    {% set done = adapter.define(relation, text) %}
    {% call noop_statement('main', done, done) %}{{ text }}{% endcall %}
  {% endif %}
{% endmacro %}

{% materialization table, adapter='evercurrent' %}
  {%- set relation = this.incorporate(type='table') -%}
  {% do adapter.prepare_run(graph.sources.values() | list, invocation_id) %}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {% do evercurrent_build_table(relation, sql) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do apply_grants(relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(relation, model) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [relation]}) }}
{% endmaterialization %}

{% materialization incremental, adapter='evercurrent' %}
  {%- set relation = this.incorporate(type='table') -%}
  {%- set staging = make_temp_relation(relation) -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {% do adapter.prepare_run(graph.sources.values() | list, invocation_id) %}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% set strategy = config.get('incremental_strategy') or 'default' %}
  {% set strategy_macro = adapter.get_incremental_strategy_macro(context, strategy) %}
  {% if adapter.kind_of(relation) != 'table' or should_full_refresh() %}
    {% do evercurrent_build_table(relation, sql) %}
  {% else %}
    {% do run_query(create_table_as(True, staging, sql)) %}
    {% set columns = process_schema_changes(on_schema_change, staging, relation) or adapter.get_columns_in_relation(relation) %}
    {% set arguments = {
      'target_relation': relation, 'temp_relation': staging, 'unique_key': config.get('unique_key'), 'dest_columns': columns,
      'incremental_predicates': config.get('predicates') or config.get('incremental_predicates')
    } %}
    {% call statement('main') %}{{ strategy_macro(arguments) }}{% endcall %}
    {% do adapter.drop_relation(staging) %}
  {% endif %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do apply_grants(relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(relation, model) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [relation]}) }}
{% endmaterialization %}
