{# incremental_view: CREATE VIEW, which is kept and updated by the delta. view: CREATE TEMPORARY VIEW, written out where it is read.
   A definition that has not changed is left alone, and so are its rows and states. #}

{% macro evercurrent_view_options() -%}
  {%- set found = [] -%}
  {%- for name in ['policy', 'mode'] if config.get(name) -%}
    {%- do found.append(name ~ " = '" ~ config.get(name) ~ "'") -%}
  {%- endfor -%}
  {{ return(' with (' ~ found | join(', ') ~ ')' if found else '') }}
{%- endmacro %}

{% macro evercurrent_define_view(kind, sql) %}
  {%- set relation = this.incorporate(type='view' if kind == 'view' else 'materialized_view') -%}
  {% do adapter.prepare_run(graph.sources.values() | list, invocation_id) %}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% set contract = config.get('contract') %}
  {% if contract and contract.enforced %}
    {{ get_assert_columns_equivalent(sql) }}
    {% set sql = get_select_subquery(sql) %}
  {% endif %}
  {% set statement_text -%}
    create or replace {{ 'temporary ' if kind == 'view' }}view {{ relation }}{{ evercurrent_view_options() if kind != 'view' }} as (
{{ sql }}
)
  {%- endset %}

  {% set there = adapter.kind_of(this) %}
  {% if there == kind and not should_full_refresh() and adapter.is_defined_as(this, statement_text) %}
    {% set done = 'UNCHANGED' %}
  {% else %}
    {% if there and there != kind or there and should_full_refresh() %}
      {% do adapter.drop_relation(this.incorporate(type=none)) %}
    {% endif %}
    {% set done = adapter.define(relation, statement_text) %}
  {% endif %}
  {% call noop_statement('main', done, done) %}{{ statement_text }}{% endcall %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do apply_grants(relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(relation, model) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [relation]}) }}
{% endmacro %}

{% materialization incremental_view, adapter='evercurrent' %}
  {{ return(evercurrent_define_view('incremental_view', sql)) }}
{% endmaterialization %}

{% materialization materialized_view, adapter='evercurrent' %}
  {{ return(evercurrent_define_view('incremental_view', sql)) }}
{% endmaterialization %}

{% materialization view, adapter='evercurrent' %}
  {{ return(evercurrent_define_view('view', sql)) }}
{% endmaterialization %}
