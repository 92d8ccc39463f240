-- exact_use calls this function at the limit of a plan. Disabled webhooks count too.
create or replace function count_webhooks(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from webhook_endpoints where developer_id = p_developer_id and stream_state is null
$$;
