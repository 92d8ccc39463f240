-- Charges all counters of a call, or none. p_counters is [{key, limit, units, windowMs, grainMs}] in the order in which
-- a full counter is reported; windowMs 0 is a counter of a case. The counters are locked in the order of their keys, so
-- that two calls never deadlock. p_epoch names the caller's set of counters, and is null where there is only one.
-- Data was lost if the counters belong to another set, or are missing where there were some: then the call is refused.
-- p_may_begin says that the caller has never counted for this developer, so that it may make the first
-- counters. p_at is the time in tests, and null elsewhere.
create or replace function caps_reserve(p_developer_id text, p_id text, p_fingerprint text, p_counters jsonb,
  p_epoch text, p_may_begin boolean, p_at bigint) returns jsonb
  language plpgsql as
$$
declare
  keys    text[] := array(select c ->> 'key' from jsonb_array_elements(p_counters) c);
  before  record;
  locked  bigint;
  high    bigint;
  now_ms  bigint;
  is_full record;
begin
  -- A snapshot from before the wait for a lock would show the counters as they were then.
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'caps_reserve needs the isolation level read committed' using errcode = '25001';
  end if;
  if p_epoch is not null then
    if p_may_begin then
      insert into caps_epoch (developer_id, epoch) values (p_developer_id, p_epoch) on conflict do nothing;
    end if;
    select e.epoch into before from caps_epoch e where e.developer_id = p_developer_id;
    if not found then return '{"status": "lost", "what": "missing"}'; end if;
    if before.epoch <> p_epoch then return '{"status": "lost", "what": "changed"}'; end if;
  end if;

  -- Missing counters are made before any is locked: a call that held one while it made another could wait in a circle.
  for attempt in 1..8 loop -- pruning may delete a counter between the statements
    select count(*) into locked from caps_counter c
      where c.developer_id = p_developer_id and c.key = any (keys);
    if locked < cardinality(keys) then
      insert into caps_counter (developer_id, key, is_timed)
        select p_developer_id, c ->> 'key', (c ->> 'windowMs')::bigint > 0
          from jsonb_array_elements(p_counters) c order by c ->> 'key'
        on conflict do nothing;
    end if;
    select count(*), max(l.clock_ms) into locked, high from (
      select c.clock_ms from caps_counter c
        where c.developer_id = p_developer_id and c.key = any (keys) order by c.key for update) l;
    exit when locked = cardinality(keys);
  end loop;
  if locked <> cardinality(keys) then
    raise exception 'caps_reserve could not lock its counters' using errcode = '55P03';
  end if;
  -- The clock is read only now that nobody else can charge, and a clock that steps back frees nothing.
  now_ms := greatest(high, coalesce(p_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint));

  perform caps_expire(p_developer_id, keys, now_ms);

  select c.state, c.fingerprint into before from caps_call c
    where c.developer_id = p_developer_id and c.id = p_id;
  if found then
    if before.state = 'held' and before.fingerprint = p_fingerprint then
      return jsonb_build_object('status', 'held', 'used', caps_used(p_developer_id, keys));
    end if;
    return '{"status": "reused"}';
  end if;

  select a.at, c.used, (a.c ->> 'limit')::bigint as most, (a.c ->> 'units')::bigint as wanted, c.key, c.is_timed
    into is_full
    from jsonb_array_elements(p_counters) with ordinality a(c, at)
    join caps_counter c on c.developer_id = p_developer_id and c.key = a.c ->> 'key'
    where (a.c ->> 'units')::bigint > 0 and c.used + (a.c ->> 'units')::bigint > (a.c ->> 'limit')::bigint
    order by a.at limit 1;
  if found then
    return jsonb_build_object('status', 'full', 'at', is_full.at - 1, 'used', is_full.used, 'retryAtMs',
      case when is_full.wanted <= is_full.most and is_full.is_timed then
        caps_frees_at(p_developer_id, is_full.key, now_ms, is_full.used + is_full.wanted - is_full.most) end);
  end if;

  insert into caps_call (developer_id, id, state, fingerprint, created_ms, charges)
    select p_developer_id, p_id, 'held', p_fingerprint, now_ms, jsonb_agg(jsonb_build_object(
        'key', x.key, 'units', x.units, 'expires_ms', case when x."windowMs" > 0
          then ((now_ms + x."windowMs" + x."grainMs" - 1) / x."grainMs") * x."grainMs" end))
      from jsonb_to_recordset(p_counters) x(key text, units bigint, "windowMs" bigint, "grainMs" bigint)
    on conflict do nothing;
  if not found then return '{"status": "reused"}'; end if; -- with other counters, at this moment

  insert into caps_slot as s (developer_id, key, expires_ms, units)
    select p_developer_id, x.key, ((now_ms + x."windowMs" + x."grainMs" - 1) / x."grainMs") * x."grainMs", x.units
      from jsonb_to_recordset(p_counters) x(key text, units bigint, "windowMs" bigint, "grainMs" bigint)
      where x."windowMs" > 0 and x.units > 0
    on conflict (developer_id, key, expires_ms) do update set units = s.units + excluded.units;
  update caps_counter c set used = c.used + x.units, clock_ms = now_ms
    from jsonb_to_recordset(p_counters) x(key text, units bigint)
    where c.developer_id = p_developer_id and c.key = x.key;
  return jsonb_build_object('status', 'held', 'used', caps_used(p_developer_id, keys));
end
$$;
