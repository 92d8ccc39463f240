-- Stores the outcome of an attempt, unless another process holds the lease by now. The function locks the
-- endpoint before the delivery, as claiming and deleting an endpoint do. `p_next_attempt_at` is null when the
-- status is final. The attempt decides the lane of the endpoint, and deliveries that wait in the other lane follow.
-- The attempt to tell that the account is closed disables the endpoint, since it is the last.
create or replace function settle_webhook_delivery(p_developer_id text, p_webhook_id text, p_id text,
  p_leased_until timestamptz, p_at timestamptz, p_status webhook_delivery_status, p_next_attempt_at timestamptz,
  p_error text, p_status_code integer, p_url text, p_is_prompt boolean)
  returns setof webhook_delivery_status language plpgsql as
$$
begin
  update webhook_endpoints e set is_prompt = p_is_prompt,
    status = case when exists (select from webhook_deliveries d where d.developer_id = p_developer_id
        and d.webhook_id = p_webhook_id and d.id = p_id and d.event_type = 'developer.closed')
      then 'disabled' else e.status end,
    failures = case when p_status = 'delivered' then 0 else e.failures + 1 end,
    failing_since = case when p_status = 'delivered' then null else coalesce(e.failing_since, p_at) end,
    last_delivery_at = case when p_status = 'delivered' then greatest(e.last_delivery_at, p_at) else e.last_delivery_at end
    where e.developer_id = p_developer_id and e.id = p_webhook_id;
  return query update webhook_deliveries d
    set status = p_status, attempts = d.attempts + 1, last_error = p_error, last_status_code = p_status_code,
      last_attempt_at = p_at, next_attempt_at = p_next_attempt_at, leased_until = null, is_prompt = p_is_prompt,
      delivered_at = case when p_status = 'delivered' then p_at end,
      url = case when p_status <> 'pending' then p_url end
    where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = p_id
      and d.status = 'pending' and d.leased_until = p_leased_until
    returning d.status;
  perform move_webhook_deliveries(p_developer_id, p_webhook_id, p_is_prompt);
end
$$;
