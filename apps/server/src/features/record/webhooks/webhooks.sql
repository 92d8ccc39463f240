-- Leases due deliveries of a lane: for each developer at most p_places of them. The endpoints of a developer
-- take turns: the search begins after the endpoint in p_after_webhooks, and wraps around. When an endpoint is
-- no longer prompt, its deliveries in the prompt lane move to the slow lane. When it was deleted meanwhile,
-- its deliveries fail. Both happen to a limited number at a time. The endpoint's lock keeps the number of its
-- leases exact over all instances; an endpoint that another instance has locked is left to that instance. Only
-- the first signal of each subject is leased. The array makes Postgres look the rows up by the indexes, even before
-- the table is analysed.
create or replace function claim_delivery_shares(p_at timestamptz, p_lease interval, p_is_prompt boolean,
  p_developers text[], p_after_webhooks text[], p_places integer[])
  returns table (developer_id text, webhook_id text, id text, event_id text, event_type text, envelope text,
    attempts integer, max_attempts integer, leased_until timestamptz, url text, secret bytea, previous_secret bytea,
    previous_secret_expires_at timestamptz, format webhook_format, is_set boolean, actor text, txn text)
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
#variable_conflict use_column
declare
  share    record;
  dev      text;
  hook     text;
  places   integer;
  is_again boolean;
  endpoint webhook_endpoints;
  room     bigint;
  taken    integer;
begin
  for share in
    select s.* from unnest(p_developers, p_after_webhooks, p_places) as s (developer_id, after_webhook, places)
  loop
    dev := share.developer_id; hook := share.after_webhook; places := share.places; is_again := false;
    while places > 0 loop
      select d.webhook_id into hook from webhook_deliveries d
        where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
          and d.developer_id = dev and d.webhook_id > hook
        order by d.webhook_id limit 1;
      if not found then
        exit when is_again;
        is_again := true; hook := '';
        continue;
      end if;
      exit when is_again and hook > share.after_webhook;

      select * into endpoint from webhook_endpoints e
        where e.developer_id = dev and e.id = hook
          and (e.status = 'active' or (e.stream_state in ('open', 'holding') and e.url <> '')) for no key update skip locked;
      if not found then
        if not exists (select from webhook_endpoints e where e.developer_id = dev and e.id = hook) then
          perform fail_webhook_deliveries(dev, hook, p_is_prompt, null);
        end if;
        continue;
      end if;
      if p_is_prompt and not endpoint.is_prompt then
        perform move_webhook_deliveries(dev, hook, false);
        continue;
      end if;

      room := free_webhook_leases(dev, hook, p_is_prompt, endpoint.last_delivery_at, p_at);
      continue when room <= 0;
      return query
        update webhook_deliveries d set leased_until = p_at + p_lease
        where d.developer_id = dev and d.webhook_id = hook and d.id = any (array(
          select o.id from webhook_deliveries o
          where o.developer_id = dev and o.webhook_id = hook and o.status = 'pending' and o.is_prompt = p_is_prompt
            and o.next_attempt_at <= p_at and (o.leased_until is null or o.leased_until <= p_at)
            and (o.seq is null or may_send_set(dev, hook, endpoint.stream_state, o.event_type, o.subject, o.seq, o.id))
          order by o.next_attempt_at limit least(room, places) for update skip locked))
        returning d.developer_id, d.webhook_id, d.id, d.event_id, d.event_type, d.envelope, d.attempts,
          d.max_attempts, d.leased_until, endpoint.url, endpoint.secret, endpoint.previous_secret,
          endpoint.previous_secret_expires_at, endpoint.format,
          endpoint.stream_state is not null, d.actor, d.txn;
      get diagnostics taken = row_count;
      places := places - taken;
    end loop;
  end loop;
end
$$;

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

-- exact_use calls this function at the limit of a plan. Disabled webhooks count too.
create or replace function count_webhooks(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from webhook_endpoints where developer_id = p_developer_id and stream_state is null
$$;

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

-- As deliver_events, for several developers, each with a time and events of its own. One statement looks for endpoints,
-- which most have none of.
create or replace function deliver_events_of(p_developer_ids text[], p_times timestamptz[], p_events jsonb[]) returns void
  language plpgsql as
$$
#variable_conflict use_column
declare
  dev   text;
  place integer;
begin
  for dev, place in
    select dev, place from unnest(p_developer_ids) with ordinality as a (dev, place)
      where exists (select from webhook_endpoints e where e.developer_id = dev)
  loop
    perform deliver_events(dev, p_times[place], p_events[place]);
  end loop;
end
$$;

-- Fails waiting signals of a stream that are older than p_before or beyond the newest p_most, a limited number at a time.
create or replace function drop_sets(p_developer_id text, p_webhook_id text, p_before timestamptz, p_most bigint)
  returns integer language plpgsql set plan_cache_mode = force_generic_plan as
$$
declare
  last_beyond bigint;
  dropped     integer;
begin
  select o.seq into last_beyond from webhook_deliveries o
    where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.status = 'pending' and o.seq is not null
    order by o.seq desc offset p_most limit 1;
  update webhook_deliveries d
  set status = 'failed', last_error = 'set_dropped', next_attempt_at = null, leased_until = null, url = ''
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (array(
    select o.id from (select * from webhook_deliveries o
      where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.status = 'pending'
        and o.seq is not null
      order by o.seq, o.id limit 1000) o
    where o.created_at < p_before or o.seq <= last_beyond));
  get diagnostics dropped = row_count;
  return dropped;
end
$$;

-- Lists developers with work in a lane, in the order of turns: from the first after p_after, around to p_after
-- itself, without those in p_except, and at most p_most. The search jumps from developer to developer and, in
-- one, from endpoint to endpoint, so it costs the same however many deliveries wait.
create or replace function due_webhook_developers(p_at timestamptz, p_is_prompt boolean, p_except text[],
  p_after text, p_most integer) returns setof text
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
declare
  dev      text := p_after;
  hook     text;
  is_again boolean := false;
begin
  while p_most > 0 loop
    select d.developer_id into dev from webhook_deliveries d
      where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at and d.developer_id > dev
      order by d.developer_id limit 1;
    if not found then
      exit when is_again;
      is_again := true; dev := '';
      continue;
    end if;
    exit when is_again and dev > p_after;
    continue when dev = any (p_except);

    hook := '';
    loop
      select d.webhook_id into hook from webhook_deliveries d
        where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
          and d.developer_id = dev and d.webhook_id > hook
        order by d.webhook_id limit 1;
      exit when not found;
      if webhook_has_work(dev, hook, p_is_prompt, p_at) then
        return next dev;
        p_most := p_most - 1;
        exit;
      end if;
    end loop;
  end loop;
end
$$;

-- Fails waiting deliveries of a lane for a deleted endpoint, a limited number at a time: a webhook that was
-- disabled for a month may have millions, and its deletion must not be one long statement. Deliveries that
-- are being sent come first, because their sender must find the lease gone. The array makes Postgres look the
-- rows up once and by the indexes, even before the table is analysed.
create or replace function fail_webhook_deliveries(p_developer_id text, p_webhook_id text, p_is_prompt boolean, p_url text)
  returns void language sql set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set enable_sort = off as
$$
  update webhook_deliveries d
  set status = 'failed', last_error = 'endpoint_deleted', next_attempt_at = null, leased_until = null,
    url = coalesce(p_url, d.url)
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (array(
    (select o.id from webhook_deliveries o
      where o.leased_until is not null and o.status = 'pending' and o.is_prompt = p_is_prompt
        and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id)
    union all
    (select o.id from webhook_deliveries o
      where o.status = 'pending' and o.is_prompt = p_is_prompt
        and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id
      order by o.next_attempt_at limit 1000)))
$$;

-- How many more deliveries of an endpoint may be leased, over all instances: in all five in the prompt lane,
-- where a new endpoint has one until its first delivery, and one in the slow lane.
create or replace function free_webhook_leases(p_developer_id text, p_webhook_id text, p_is_prompt boolean,
  p_last_delivery_at timestamptz, p_at timestamptz) returns bigint language sql as
$$
  select case when p_is_prompt and p_last_delivery_at is not null then 5 else 1 end - count(*)
  from webhook_deliveries d
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.leased_until > p_at
$$;

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

-- Whether a signal is the first of its subject that waits. A paused stream sends the news of its pause alone.
create or replace function may_send_set(p_developer_id text, p_webhook_id text, p_state stream_state, p_type text,
  p_subject text, p_seq bigint, p_id text) returns boolean language sql stable as
$$
  select p_state <> 'off' and (p_state <> 'holding' or p_type = 'ssf.stream_updated')
    and not exists (select from webhook_deliveries b
      where b.developer_id = p_developer_id and b.webhook_id = p_webhook_id and b.status = 'pending'
        and b.subject = p_subject and b.seq is not null and (b.seq, b.id) < (p_seq, p_id))
$$;

-- Moves waiting deliveries of an endpoint to the lane p_is_prompt. Each call moves a limited number, because an
-- endpoint may change its lane often and its queue may be long. The array makes Postgres look the rows up by
-- the indexes, even before the table is analysed.
create or replace function move_webhook_deliveries(p_developer_id text, p_webhook_id text, p_is_prompt boolean) returns void
  language sql as
$$
  update webhook_deliveries d set is_prompt = p_is_prompt
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (array(
    select o.id from webhook_deliveries o
    where o.status = 'pending' and o.is_prompt = not p_is_prompt
      and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id
    order by o.next_attempt_at limit 500 for update skip locked))
$$;

-- The name under which the signals about one subject wait for each other: a grant, a session, a token, a person or an
-- agent. A person has one name, whether an act names the user or one of the user's principals.
create or replace function set_subject(p_developer_id text, p_facts jsonb) returns text language sql stable as
$$
  select coalesce(p_facts ->> 'sessionId', p_facts ->> 'tokenId',
    case when not p_facts ? 'credentialId' then p_facts ->> 'grantId' end, p_facts ->> 'userId',
    principal_user(p_developer_id, p_facts ->> 'principalId'), p_facts ->> 'principalId', p_facts ->> 'agentId')
$$;

-- Puts failed deliveries of an endpoint back into its lane, at most p_most, oldest first, with attempts as if they were
-- new. They are due in their order before any later event. The array makes Postgres look the rows up by the index of
-- failed deliveries, even before the table is analysed. Returns the last id, and null when nothing was left.
create or replace function requeue_failed_deliveries(p_developer_id text, p_webhook_id text, p_after text, p_before text,
  p_at timestamptz, p_most integer) returns table (requeued bigint, last_id text)
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off as
$$
declare
  endpoint webhook_endpoints;
  ids      text[];
begin
  select * into endpoint from webhook_endpoints e
    where e.developer_id = p_developer_id and e.id = p_webhook_id for no key update;
  ids := array(select d.id from webhook_deliveries d
    where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.status = 'failed'
      and d.id > p_after and d.id < p_before
    order by d.id limit p_most for update);
  update webhook_deliveries d
  set status = 'pending', attempts = 0, max_attempts = endpoint.max_attempts, url = null, is_prompt = endpoint.is_prompt,
    next_attempt_at = p_at - (cardinality(ids) - array_position(ids, d.id)) * interval '1 microsecond'
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (ids);
  return query select cardinality(ids)::bigint, ids[cardinality(ids)];
end
$$;

-- Stores the outcome of an attempt, unless another process holds the lease by now. The function locks the
-- endpoint before the delivery, as claiming and deleting an endpoint do. `p_next_attempt_at` is null when the
-- status is final. The attempt decides the lane of the endpoint, and deliveries that wait in the other lane follow.
-- The attempt to tell that the account is closed disables the endpoint, since it is the last.
create or replace function settle_webhook_delivery(p_developer_id text, p_webhook_id text, p_id text,
  p_leased_until timestamptz, p_at timestamptz, p_status webhook_delivery_status, p_next_attempt_at timestamptz,
  p_error text, p_status_code integer, p_url text, p_is_prompt boolean, p_began_at timestamptz default null,
  p_duration_ms integer default null)
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
      url = case when p_status <> 'pending' then p_url end,
      attempt_log = case when jsonb_array_length(d.attempt_log) < 20 then d.attempt_log else d.attempt_log - 0 end
        || jsonb_build_object('n', coalesce((d.attempt_log -> -1 ->> 'n')::integer, d.attempts) + 1,
          'at', coalesce(p_began_at, p_at), 'statusCode', p_status_code, 'error', p_error, 'durationMs', p_duration_ms)
    where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = p_id
      and d.status = 'pending' and d.leased_until = p_leased_until
    returning d.status;
  perform move_webhook_deliveries(p_developer_id, p_webhook_id, p_is_prompt);
end
$$;

-- Moves an endpoint to the slow lane, with deliveries that wait for it, while an attempt is still under way.
create or replace function slow_webhook(p_developer_id text, p_webhook_id text) returns void language plpgsql as
$$
begin
  update webhook_endpoints e set is_prompt = false
    where e.developer_id = p_developer_id and e.id = p_webhook_id and e.is_prompt;
  perform move_webhook_deliveries(p_developer_id, p_webhook_id, false);
end
$$;

-- The first half of a ULID: its time, as 48 bits of milliseconds in Crockford's base 32.
create or replace function ulid_time(p_at timestamptz) returns text language sql immutable as
$$
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * n)) & 31)::integer + 1, 1), '' order by n desc)
  from (select floor(extract(epoch from p_at) * 1000)::bigint as ms) as instant, generate_series(0, 9) as n
$$;

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
