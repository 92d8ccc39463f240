-- Called by exact_use, where a plan's limit is met. Webhooks count whether or not they are active.
create or replace function count_webhooks(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from webhook_endpoints where developer_id = p_developer_id
$$;
