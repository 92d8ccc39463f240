-- Writes a delivery for each endpoint that wants an event, in the endpoint's lane. Called under the lock of the
-- chain's head, which registering an endpoint takes too, so an endpoint is told of every event after its registration
-- and of none before. An event carries the `patterns` that subscribe to its type, so the rule is stated by the
-- application alone, and here it is an overlap of two lists.
-- It is quick where a revoked tree is thousands of events for each of many endpoints: each endpoint is compared once
-- with each type, the time in the ids is made once, and the hexadecimal digits of their chance are digits of base 32
-- too.
create or replace function deliver_events(p_developer_id text, p_at timestamptz, p_events jsonb) returns void
  language plpgsql as
$$
declare
  first_half text := 'whd_' || ulid_time(p_at);
begin
  insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, max_attempts,
    created_at, next_attempt_at, is_prompt)
  with events as materialized (
    select event ->> 'eventId' as event_id, event ->> 'type' as type, event ->> 'envelope' as envelope,
      event -> 'patterns' as patterns
    from jsonb_array_elements(p_events) as event where event ? 'eventId'
  ), types as (
    select distinct on (v.type) v.type, array(select jsonb_array_elements_text(v.patterns)) as patterns from events v
  ), wishes as materialized (
    select e.id, e.max_attempts, e.is_prompt, t.type
    from webhook_endpoints e cross join types t
    where e.developer_id = p_developer_id and e.events && t.patterns
  )
  select p_developer_id, w.id, first_half || upper(right(replace(gen_random_uuid()::text, '-', ''), 16)), v.event_id,
    v.type, v.envelope, w.max_attempts, p_at, p_at, w.is_prompt
  from wishes w join events v on v.type = w.type;
end
$$;
