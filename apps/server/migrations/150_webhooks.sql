create type webhook_status as enum ('active', 'disabled');
create type webhook_delivery_status as enum ('pending', 'delivered', 'failed');

-- Owner: webhooks. Where a developer wants to be told of events. Secrets are sealed, all of a row under the key that
-- `seal_key_id` names; the former one still signs until its time is over. `is_prompt` says that the last attempt was
-- delivered, and soon. Who delivers updates rows here, so a page has room for new versions of them.
create table webhook_endpoints (
  developer_id    text not null references developers,
  id              text not null,
  url             text not null,
  events          text[] not null,
  description     text not null,
  status          webhook_status not null,
  max_attempts    integer not null,
  secret          bytea not null,
  previous_secret bytea,
  seal_key_id     text not null,
  secret_rotated_at          timestamptz,
  previous_secret_expires_at timestamptz,
  is_prompt        boolean not null default false,
  last_delivery_at timestamptz,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  primary key (developer_id, id)
) with (fillfactor = 70);

-- Owner: webhooks. One row for each event that an endpoint is to be told of, with its own copy of the text, because
-- rows here outlive the outbox. `url` is set when it is final: until then the endpoint's counts. Who holds the lease
-- is sending. The id begins with the time, so a page of an endpoint's history is a range of the primary key. `is_prompt`:
-- in which lane a delivery waits, that of endpoints which answered soon or the other one, so that whoever looks for what
-- is due in the first passes over none of the second, however many are dead.
create table webhook_deliveries (
  developer_id     text not null,
  webhook_id       text not null,
  id               text not null,
  event_id         text not null,
  event_type       text not null,
  envelope         text not null,
  status           webhook_delivery_status not null default 'pending',
  attempts         integer not null default 0,
  max_attempts     integer not null,
  url              text,
  last_error       text,
  last_status_code smallint,
  created_at       timestamptz not null,
  last_attempt_at  timestamptz,
  next_attempt_at  timestamptz,
  delivered_at     timestamptz,
  leased_until     timestamptz,
  is_prompt        boolean not null default false,
  primary key (developer_id, webhook_id, id)
);
-- Claiming: which endpoints of a lane have anything to send, and of each what is due first.
create index webhook_deliveries_pending on webhook_deliveries (is_prompt, developer_id, webhook_id, next_attempt_at)
  where status = 'pending';
-- Claiming: how many of an endpoint are being sent.
create index webhook_deliveries_leased on webhook_deliveries (developer_id, webhook_id, leased_until)
  where leased_until is not null;
-- GET /v1/webhooks/:id/deliveries?status=failed, which are few among many.
create index webhook_deliveries_failed on webhook_deliveries (developer_id, webhook_id, id) where status = 'failed';
-- Deleting what is past its time, across tenants.
create index webhook_deliveries_old on webhook_deliveries (created_at);

-- Whether who subscribed to these patterns is told of an event of this type: `matchesEvent` of the feature events,
-- where the transaction is that records the event.
create function webhook_wants(p_events text[], p_type text) returns boolean language sql immutable as
$$
  select exists (
    select from unnest(p_events) as pattern
    where pattern = p_type
      or (pattern = '*' and p_type <> 'budget.debited')
      or (right(pattern, 2) = '.*' and starts_with(p_type, left(pattern, -1)))
  )
$$;

-- The first half of a ULID, which is its time: 48 bits of milliseconds in Crockford's base 32.
create function ulid_time(p_at timestamptz) returns text language sql immutable as
$$
  select string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((ms >> (5 * n)) & 31)::integer + 1, 1), '' order by n desc)
  from (select floor(extract(epoch from p_at) * 1000)::bigint as ms) as instant, generate_series(0, 9) as n
$$;

-- Owner: audit. The one door to the audit log and the outbox, and from there to the endpoints that want to be told, in
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

-- Owner: webhooks. To the lane p_is_prompt, of what waits for an endpoint in the other. So many that no statement is
-- long: an endpoint that answers now soon and now not must not have all that waits for it moved each time.
create function move_webhook_deliveries(p_developer_id text, p_webhook_id text, p_is_prompt boolean) returns void
  language sql as
$$
  update webhook_deliveries d set is_prompt = p_is_prompt
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id in (
    select o.id from webhook_deliveries o
    where o.status = 'pending' and o.is_prompt = not p_is_prompt
      and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id
    order by o.next_attempt_at limit 500 for update skip locked)
$$;

-- Owner: webhooks. Of what waits in a lane for an endpoint that is deleted, so many that no statement is long: a
-- webhook that was disabled for a month may have millions, and has to be deletable. Those that are being sent come
-- first, since whoever sends them must find the lease gone. An array, so that they are
-- looked for once, and by the indexes, also before the table is analysed.
create function fail_webhook_deliveries(p_developer_id text, p_webhook_id text, p_is_prompt boolean, p_url text)
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

-- Owner: webhooks. Takes deliveries of a lane that are due, for who sends them before the lease ends: of the lane of
-- prompt endpoints five at a time of each over all instances, of the other one. What waits among the prompt ones for
-- an endpoint that is prompt no more goes to the other lane, some at a time. Endpoints take turns, from the one after
-- (p_after_developer, p_after_webhook) on and around. What is left of an endpoint that was deleted meanwhile fails
-- here, some at a time. The endpoint's lock makes the number of its leases exact; where another instance has it, that one sees to the
-- endpoint.
create function claim_webhook_deliveries(p_at timestamptz, p_lease interval, p_is_prompt boolean,
  p_limit integer, p_after_developer text, p_after_webhook text)
  returns table (developer_id text, webhook_id text, id text, event_id text, event_type text, envelope text,
    attempts integer, max_attempts integer, leased_until timestamptz, url text, secret bytea, previous_secret bytea,
    previous_secret_expires_at timestamptz)
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
#variable_conflict use_column
declare
  dev      text := p_after_developer;
  hook     text := p_after_webhook;
  is_again boolean := false;
  endpoint webhook_endpoints;
  room     integer;
  taken    integer;
begin
  while p_limit > 0 loop
    select d.developer_id, d.webhook_id into dev, hook from webhook_deliveries d
      where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
        and (d.developer_id, d.webhook_id) > (dev, hook)
      order by d.developer_id, d.webhook_id limit 1;
    if not found then
      exit when is_again;
      is_again := true; dev := ''; hook := '';
      continue;
    end if;
    exit when is_again and (dev, hook) > (p_after_developer, p_after_webhook);

    select * into endpoint from webhook_endpoints e
      where e.developer_id = dev and e.id = hook and e.status = 'active' for no key update skip locked;
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

    select case when p_is_prompt then 5 else 1 end - count(*) into room from webhook_deliveries d
      where d.developer_id = dev and d.webhook_id = hook and d.leased_until > p_at;
    continue when room <= 0;
    return query
      with due as (
        select d.id from webhook_deliveries d
        where d.developer_id = dev and d.webhook_id = hook and d.status = 'pending' and d.is_prompt = p_is_prompt
          and d.next_attempt_at <= p_at and (d.leased_until is null or d.leased_until <= p_at)
        order by d.next_attempt_at, d.id limit least(room, p_limit) for update skip locked
      )
      update webhook_deliveries d set leased_until = p_at + p_lease from due
      where d.developer_id = dev and d.webhook_id = hook and d.id = due.id
      returning d.developer_id, d.webhook_id, d.id, d.event_id, d.event_type, d.envelope, d.attempts, d.max_attempts,
        d.leased_until, endpoint.url, endpoint.secret, endpoint.previous_secret, endpoint.previous_secret_expires_at;
    get diagnostics taken = row_count;
    p_limit := p_limit - taken;
  end loop;
end
$$;

-- Owner: webhooks. Notes an attempt, unless the lease is another's by now. The endpoint before the delivery, as in
-- claiming and in deleting an endpoint. `p_next_attempt_at` is null when the status is final. Where the endpoint was
-- prompt, what waits for it in the other lane changes over.
create function settle_webhook_delivery(p_developer_id text, p_webhook_id text, p_id text,
  p_leased_until timestamptz, p_at timestamptz, p_status webhook_delivery_status, p_next_attempt_at timestamptz,
  p_error text, p_status_code integer, p_url text, p_is_prompt boolean)
  returns setof webhook_delivery_status language plpgsql as
$$
begin
  update webhook_endpoints e set is_prompt = p_is_prompt,
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
  if p_is_prompt then perform move_webhook_deliveries(p_developer_id, p_webhook_id, true); end if;
end
$$;

-- Owner: quotas. As before, and of webhooks all that are registered.
create or replace function exact_use(p_developer_id text, p_resource text, p_at timestamptz)
  returns bigint language plpgsql stable as
$$
begin
  return case p_resource
    when 'agents' then (select count(*) from agents where developer_id = p_developer_id and status <> 'revoked')
    when 'active_grants' then (select count(*) from grants
      where developer_id = p_developer_id and status = 'active' and expires_at > p_at)
    when 'webhooks' then (select count(*) from webhook_endpoints where developer_id = p_developer_id)
  end;
end
$$;
