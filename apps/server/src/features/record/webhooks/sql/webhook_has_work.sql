-- Whether a claim would do something for an endpoint that has due deliveries in a lane: lease some, move them
-- to the other lane, or fail them because the endpoint was deleted.
create or replace function webhook_has_work(p_developer_id text, p_webhook_id text, p_is_prompt boolean,
  p_at timestamptz) returns boolean language plpgsql set plan_cache_mode = force_generic_plan as
$$
declare
  endpoint webhook_endpoints;
begin
  select * into endpoint from webhook_endpoints e where e.developer_id = p_developer_id and e.id = p_webhook_id;
  if not found then return true; end if;
  if endpoint.stream_state is null and endpoint.status <> 'active' then return false; end if;
  if endpoint.stream_state = 'off' or endpoint.url = '' then return false; end if;
  if p_is_prompt and not endpoint.is_prompt then return true; end if;
  return free_webhook_leases(p_developer_id, p_webhook_id, p_is_prompt, endpoint.last_delivery_at, p_at) > 0
    and exists (select from webhook_deliveries d
      where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.status = 'pending'
        and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
        and (d.leased_until is null or d.leased_until <= p_at)
        and (d.seq is null or may_send_set(p_developer_id, p_webhook_id, endpoint.stream_state, d.event_type, d.subject, d.seq, d.id)));
end
$$;
