-- Whether a poll of a stream would lease a signal.
create or replace function has_waiting_set(p_developer_id text, p_webhook_id text, p_at timestamptz) returns boolean
  language sql stable as
$$
  select exists (select from webhook_endpoints e
    join webhook_deliveries o on o.developer_id = e.developer_id and o.webhook_id = e.id
    where e.developer_id = p_developer_id and e.id = p_webhook_id and o.developer_id = p_developer_id
      and o.status = 'pending' and o.seq is not null and (o.leased_until is null or o.leased_until <= p_at)
      and may_send_set(p_developer_id, p_webhook_id, e.stream_state, o.event_type, o.subject, o.seq, o.id))
$$;
