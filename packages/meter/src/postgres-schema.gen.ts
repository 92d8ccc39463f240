// Made from apps/server/migrations/NNN_caps.sql and the functions beside it by `npm run generate`.
export const schema = `select pg_advisory_xact_lock(1650812005);
set local check_function_bodies = off;
-- The use of caps and cost units. Times are milliseconds since 1970 by the clock of this database. The meter of an SDK
-- makes the same tables in a database without developers, so none of them refers to another table.

-- Owner: caps. The epoch in which a developer's counters began. A caller that expects another one has lost counters.
create table if not exists caps_epoch (
  developer_id text not null primary key,
  epoch        text not null
);

-- Owner: caps. The units of a counter that are inside its window. The row is the lock of the counter.
create table if not exists caps_counter (
  developer_id text    not null,
  key          text    not null,
  used         bigint  not null default 0 check (used >= 0),
  clock_ms     bigint  not null default 0,  -- the latest time that was used: a clock that steps back frees nothing
  is_timed     boolean not null,            -- false for a case, whose units never leave
  primary key (developer_id, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Owner: caps. The units that leave a counter's window at one time.
create table if not exists caps_slot (
  developer_id text   not null,
  key          text   not null,
  expires_ms   bigint not null,
  units        bigint not null check (units >= 0),
  primary key (developer_id, key, expires_ms)
) with (fillfactor = 70);

-- Owner: caps. A call that was charged. The row is kept for as long as its caller may repeat it or give its units back.
create table if not exists caps_call (
  developer_id text   not null,
  id           text   not null,
  state        text   not null check (state in ('held', 'sent', 'refunded')),
  fingerprint  text   not null,
  charges      jsonb  not null,             -- [{key, units, expires_ms}], expires_ms null for a case
  created_ms   bigint not null,
  primary key (developer_id, id)
);
-- caps_prune: the calls that are old enough.
create index if not exists caps_call_created on caps_call (developer_id, created_ms) where created_ms is not null;

-- Takes from locked counters what has left their windows.
create or replace function caps_expire(p_developer_id text, p_keys text[], p_now bigint) returns void
  language sql as
$$
  with gone as (
    delete from caps_slot s where s.developer_id = p_developer_id and s.key = any (p_keys) and s.expires_ms <= p_now
      returning s.key, s.units
  ), freed as (select g.key, sum(g.units) as units from gone g group by g.key)
  update caps_counter c set used = c.used - f.units, clock_ms = greatest(c.clock_ms, p_now)
    from freed f where c.developer_id = p_developer_id and c.key = f.key
$$;

-- Finds the time after p_now at which p_units units will have left a counter's window.
create or replace function caps_frees_at(p_developer_id text, p_key text, p_now bigint, p_units bigint)
  returns bigint language sql stable as
$$
  select min(f.expires_ms) from (
    select s.expires_ms, sum(s.units) over (order by s.expires_ms) as freed from caps_slot s
      where s.developer_id = p_developer_id and s.key = p_key and s.expires_ms > p_now) f
    where f.freed >= p_units
$$;

-- Deletes at most p_batch counters and calls of a developer that no longer matter, and passes by those in use.
-- Answers how many rows it deleted. Only the size of the tables depends on it.
create or replace function caps_prune(p_developer_id text, p_record_ms bigint, p_batch integer, p_at bigint)
  returns integer language plpgsql as
$$
declare
  now_ms  bigint := coalesce(p_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
  victims text[];
  rows    integer;
  total   integer;
begin
  select array_agg(l.key) into victims from (
    select c.key from caps_counter c
      where c.developer_id = p_developer_id and c.is_timed and exists (
        select from caps_slot s where s.developer_id = p_developer_id and s.key = c.key and s.expires_ms <= now_ms)
      order by c.key limit p_batch for update of c skip locked) l;
  perform caps_expire(p_developer_id, victims, now_ms);
  total := coalesce(cardinality(victims), 0);

  select array_agg(l.key) into victims from (
    select c.key from caps_counter c
      where c.developer_id = p_developer_id and c.is_timed and c.used = 0 and c.clock_ms < now_ms - 86400000
        and not exists (select from caps_slot s where s.developer_id = p_developer_id and s.key = c.key)
      order by c.key limit p_batch for update of c skip locked) l;
  delete from caps_counter c where c.developer_id = p_developer_id and c.key = any (victims);
  get diagnostics rows = row_count;
  total := total + rows;

  delete from caps_call c where c.developer_id = p_developer_id and c.id = any (array(
    select o.id from caps_call o where o.developer_id = p_developer_id and o.created_ms < now_ms - p_record_ms
      order by o.created_ms limit p_batch for update of o skip locked));
  get diagnostics rows = row_count;
  return total + rows;
end
$$;

-- Gives back the units of a call that was held and never sent. Answers the state that the call had, or null for an
-- unknown call. Counters are locked before the call, as caps_reserve does.
create or replace function caps_refund(p_developer_id text, p_id text) returns text language plpgsql as
$$
declare
  its record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'caps_refund needs the isolation level read committed' using errcode = '25001';
  end if;
  select c.charges into its from caps_call c where c.developer_id = p_developer_id and c.id = p_id;
  if not found then return null; end if;
  perform from caps_counter c where c.developer_id = p_developer_id
    and c.key in (select x ->> 'key' from jsonb_array_elements(its.charges) x) order by c.key for update;
  select c.state, c.charges into its from caps_call c
    where c.developer_id = p_developer_id and c.id = p_id for update;
  if not found then return null; end if;
  if its.state <> 'held' then return its.state; end if;

  with charged as (
    select x.key, x.units, x.expires_ms
      from jsonb_to_recordset(its.charges) x(key text, units bigint, expires_ms bigint)
  ), timed as (
    update caps_slot s set units = s.units - x.units from charged x
      where s.developer_id = p_developer_id and s.key = x.key and s.expires_ms = x.expires_ms
      returning s.key, x.units
  ), back as (
    select t.key, t.units from timed t union all select x.key, x.units from charged x where x.expires_ms is null
  )
  update caps_counter c set used = greatest(0, c.used - b.units) from back b
    where c.developer_id = p_developer_id and c.key = b.key;
  update caps_call c set state = 'refunded' where c.developer_id = p_developer_id and c.id = p_id;
  return 'held';
end
$$;

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
  -- Read the clock under the lock. A clock that steps back frees nothing.
  now_ms := greatest(high, coalesce(p_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint));

  perform caps_expire(p_developer_id, keys, now_ms);

  select c.state, c.fingerprint, c.created_ms into before from caps_call c
    where c.developer_id = p_developer_id and c.id = p_id;
  if found then
    if before.state = 'held' and before.fingerprint = p_fingerprint then
      return jsonb_build_object('status', 'held', 'used', caps_used(p_developer_id, keys), 'atMs', before.created_ms);
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
  return jsonb_build_object('status', 'held', 'used', caps_used(p_developer_id, keys), 'atMs', now_ms);
end
$$;

-- Begins a developer's counters from zero in a new epoch, after counters were lost.
create or replace function caps_reset(p_developer_id text, p_epoch text) returns void language plpgsql as
$$
begin
  insert into caps_epoch as e (developer_id, epoch) values (p_developer_id, p_epoch)
    on conflict (developer_id) do update set epoch = excluded.epoch;
  delete from caps_counter c where c.developer_id = p_developer_id;
  delete from caps_slot s where s.developer_id = p_developer_id;
  delete from caps_call c where c.developer_id = p_developer_id;
end
$$;

-- Makes the units of a held call final. Answers the state that the call had, or null for an unknown call.
create or replace function caps_sent(p_developer_id text, p_id text) returns text language plpgsql as
$$
declare
  was text;
begin
  select c.state into was from caps_call c where c.developer_id = p_developer_id and c.id = p_id for update;
  if was = 'held' then
    update caps_call c set state = 'sent' where c.developer_id = p_developer_id and c.id = p_id;
  end if;
  return was;
end
$$;

-- Reads the units that the counters of p_counters hold now and when their own units would fit, and changes nothing.
-- p_counters is as in caps_reserve. A test hands p_at.
create or replace function caps_usage(p_developer_id text, p_counters jsonb, p_at bigint) returns jsonb
  language plpgsql volatile as
$$
declare
  one    record;
  now_ms bigint;
  held   bigint;
  frees  bigint;
  answer jsonb := '[]';
begin
  for one in select x.* from jsonb_to_recordset(p_counters) x(key text, "limit" bigint, units bigint, "windowMs" bigint)
  loop
    select c.used, greatest(c.clock_ms, coalesce(p_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))
      into held, now_ms from caps_counter c where c.developer_id = p_developer_id and c.key = one.key;
    held := coalesce(held, 0) - coalesce((select sum(s.units) from caps_slot s
      where s.developer_id = p_developer_id and s.key = one.key and s.expires_ms <= now_ms), 0);
    frees := null;
    if one.units <= one."limit" and one."windowMs" > 0 and held + one.units > one."limit" then
      frees := caps_frees_at(p_developer_id, one.key, now_ms, held + one.units - one."limit");
    end if;
    answer := answer || jsonb_build_object('used', held, 'retryAtMs', frees);
  end loop;
  return answer;
end
$$;

-- The units of locked counters, in the order of their keys in p_keys.
create or replace function caps_used(p_developer_id text, p_keys text[]) returns jsonb language sql stable as
$$
  select jsonb_agg(coalesce((
      select c.used from caps_counter c where c.developer_id = p_developer_id and c.key = k.key), 0) order by k.at)
    from unnest(p_keys) with ordinality k(key, at)
$$;
`;
