{{ config(enabled=var('with_visits', false)) }}

select page, count(*) as visits from {{ source('web', 'visits') }} group by page
