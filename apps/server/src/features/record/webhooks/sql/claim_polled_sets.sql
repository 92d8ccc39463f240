-- Leases waiting signals of a polled stream for a minute, the oldest first, and of each subject the first: the next
-- comes once the receiver has acknowledged it. The endpoint's lock lets the polls of one stream take turns.
create or replace function claim_polled_sets(p_developer_id text, p_webhook_id text, p_at timestamptz, p_most integer)
  returns table (developer_id text, webhook_id text, id text, event_type text, envelope text, actor text, txn text)
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
#variable_conflict use_column
declare
  endpoint webhook_endpoints;
  sent text[];
begin
  select * into endpoint from webhook_endpoints e
    where e.developer_id = p_developer_id and e.id = p_webhook_id for no key update;
  if endpoint.stream_state = 'holding' then -- by an index of their own, because it may hold very many others
    sent := array(
      select o.id from webhook_deliveries o
      where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.status = 'pending'
        and o.event_type = 'ssf.stream_updated' and o.seq is not null and (o.leased_until is null or o.leased_until <= p_at)
        and may_send_set(p_developer_id, p_webhook_id, endpoint.stream_state, o.event_type, o.subject, o.seq, o.id)
      order by o.seq, o.id limit p_most for update);
  else
    sent := array(
      select o.id from webhook_deliveries o
      where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.status = 'pending'
        and o.seq is not null and (o.leased_until is null or o.leased_until <= p_at)
        and may_send_set(p_developer_id, p_webhook_id, endpoint.stream_state, o.event_type, o.subject, o.seq, o.id)
      order by o.seq, o.id limit p_most for update);
  end if;
  return query
    with taken as (
      update webhook_deliveries d set leased_until = p_at + interval '60 seconds'
      where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (sent)
      returning d.*
    )
    select t.developer_id, t.webhook_id, t.id, t.event_type, t.envelope, t.actor, t.txn from taken t order by t.seq, t.id;
end
$$;
