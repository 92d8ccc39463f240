-- Whether a poll of a stream would lease a signal.
create or replace function has_waiting_set(p_developer_id text, p_webhook_id text, p_at timestamptz) returns boolean
  language sql stable as
$$
  select case e.stream_state
    -- By an index of their own, because a paused stream may hold very many others.
    when 'holding' then exists (select from webhook_deliveries o
      where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.event_type = 'ssf.stream_updated'
        and o.status = 'pending' and o.seq is not null and (o.leased_until is null or o.leased_until <= p_at)
        and may_send_set(p_developer_id, p_webhook_id, e.stream_state, o.event_type, o.subject, o.seq, o.id))
    when 'open' then exists (select from webhook_deliveries o
      where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id
        and o.status = 'pending' and o.seq is not null and (o.leased_until is null or o.leased_until <= p_at)
        and may_send_set(p_developer_id, p_webhook_id, e.stream_state, o.event_type, o.subject, o.seq, o.id))
    else false end
  from webhook_endpoints e where e.developer_id = p_developer_id and e.id = p_webhook_id
$$;
