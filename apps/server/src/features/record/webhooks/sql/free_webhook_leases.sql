-- How many more deliveries of an endpoint may be leased, over all instances: in all five in the prompt lane,
-- where a new endpoint has one until its first delivery, and one in the slow lane.
create or replace function free_webhook_leases(p_developer_id text, p_webhook_id text, p_is_prompt boolean,
  p_last_delivery_at timestamptz, p_at timestamptz) returns bigint language sql as
$$
  select case when p_is_prompt and p_last_delivery_at is not null then 5 else 1 end - count(*)
  from webhook_deliveries d
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.leased_until > p_at
$$;
