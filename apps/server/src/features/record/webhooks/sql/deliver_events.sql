-- Writes a delivery for each endpoint that subscribes to an event, in the endpoint's lane. The caller holds
-- the lock of the chain's head, and registering an endpoint takes this lock too, so an endpoint gets every
-- event after its registration and no event before it. An event carries the `patterns` that match its type,
-- so only the application knows the rule, and this function looks for an overlap of two lists.
-- A revoked tree may make thousands of events for each of many endpoints. To be quick, the function compares
-- each endpoint once with each type, makes the time in the ids once, and takes hexadecimal digits as the
-- random half of an id, because they are digits of base 32 too. A signal also gets the number of its event,
-- its subject and its cause; only endpoints of streams have the acts read for it. The last event has the number of the
-- chain's head, which the caller has just written.
create or replace function deliver_events(p_developer_id text, p_at timestamptz, p_events jsonb) returns void
  language plpgsql as
$$
declare
  first_half text := 'whd_' || ulid_time(p_at);
begin
  if not exists (select from webhook_endpoints e where e.developer_id = p_developer_id) then return; end if;
  insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, max_attempts,
    created_at, next_attempt_at, is_prompt, subject, actor, txn, seq)
  with events as materialized (
    select event ->> 'eventId' as event_id, event ->> 'type' as type, event ->> 'envelope' as envelope,
      event -> 'patterns' as patterns, event, count(*) over () - row_number() over (order by n) as after
    from jsonb_array_elements(p_events) with ordinality as a (event, n) where event ? 'eventId'
  ), types as (
    select distinct on (v.type) v.type, array(select jsonb_array_elements_text(v.patterns)) as patterns from events v
  ), wishes as materialized (
    select e.id, e.max_attempts, e.is_prompt, e.stream_state is not null as is_stream, t.type
    from webhook_endpoints e cross join types t
    where e.developer_id = p_developer_id and e.events && t.patterns
  )
  select p_developer_id, w.id, first_half || upper(right(replace(gen_random_uuid()::text, '-', ''), 16)), v.event_id,
    v.type, v.envelope, w.max_attempts, p_at, p_at, w.is_prompt,
    case when w.is_stream then set_subject(p_developer_id, v.envelope::jsonb -> 'data') end,
    by.actor, case when w.is_stream then coalesce(case when by.actor <> 'system' then v.event ->> 'requestId' end, v.event_id) end,
    case when w.is_stream then
      (select h.event_seq from audit_heads h where h.developer_id = p_developer_id) - v.after end
  from wishes w join events v on v.type = w.type
  left join lateral (select ((v.event ->> 'prefix') || '"' || (v.event ->> 'suffix'))::jsonb #>> '{metadata,actor}' as actor)
    as by on w.is_stream;
end
$$;
