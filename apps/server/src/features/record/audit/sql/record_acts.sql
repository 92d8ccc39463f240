-- The one door to the audit log and the outbox, and from there to the endpoints that want to be told, in
-- the endpoint's lane. The second statement sees what was committed before the chain's head was locked. Registering
-- locks it too, so an endpoint is told of every event after its registration, and of none before. It is quick where a
-- revoked tree is thousands of events for each of many endpoints: who wants what is asked once for each type, and ids
-- are a time that is made once and chance whose hexadecimal digits are digits of base 32 too.
create or replace function record_acts(p_developer_id text, p_at timestamptz, p_acts jsonb)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
declare
  first_half text := 'whd_' || ulid_time(p_at);
begin
  return query select * from audit_append(p_developer_id, p_at, p_acts);
  insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, max_attempts,
    created_at, next_attempt_at, is_prompt)
  with events as materialized (
    select act ->> 'eventId' as event_id, act ->> 'type' as type, act ->> 'envelope' as envelope
    from jsonb_array_elements(p_acts) as act where act ? 'eventId'
  ), wishes as materialized (
    select e.id, e.max_attempts, e.is_prompt, t.type
    from webhook_endpoints e cross join (select distinct v.type from events v) as t
    where e.developer_id = p_developer_id and webhook_wants(e.events, t.type)
  )
  select p_developer_id, w.id, first_half || upper(right(replace(gen_random_uuid()::text, '-', ''), 16)), v.event_id,
    v.type, v.envelope, w.max_attempts, p_at, p_at, w.is_prompt
  from wishes w join events v on v.type = w.type;
end
$$;
