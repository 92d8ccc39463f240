-- Adds the entries of a range of the chain to the counts of measures, or takes them away, as the sign of each measure
-- says. An entry with `previousMinute` also counts the refusals that got no entry. A measure takes an entry that is among
-- each of its lists, and a list that it lacks takes all.
create or replace function count_anomaly_entries(p_developer_id text, p_after bigint, p_until bigint, p_measures jsonb,
  p_management text[]) returns void language sql as
$$
  insert into anomaly_counts as counted (developer_id, measure, agent_id, entries)
  select p_developer_id, m.measure, e.agent_id, sum(m.sign * e.weight)
  from (
    select a.agent_id, a.grant_id, a.action, a.status::text as status, coalesce(a.metadata ->> 'reasonCode', a.metadata ->> 'reason') as reason,
      extract(hour from a.at at time zone 'UTC') as hour,
      case when a.status = 'blocked' and jsonb_typeof(a.metadata -> 'previousMinute') = 'number'
        then greatest((a.metadata ->> 'previousMinute')::numeric, 1)::bigint else 1 end as weight
    from audit_entries a
    where a.developer_id = p_developer_id and a.seq > p_after and a.seq <= p_until and a.agent_id is not null
      and a.action <> all (p_management)
    ) e
    cross join jsonb_to_recordset(p_measures) as m (measure text, sign integer, "agentIds" text[], scopes text[],
      actions text[], statuses text[], reasons text[], "atNight" boolean)
  where (m."agentIds" is null or e.agent_id = any (m."agentIds"))
    and (m.statuses is null or e.status = any (m.statuses))
    and (m.reasons is null or e.reason = any (m.reasons))
    and (m."atNight" is null or e.hour >= 22 or e.hour < 6)
    and (m.actions is null or e.action = any (m.actions) or exists (
      select from unnest(m.actions) as pattern
      where right(pattern, 1) = '*' and starts_with(e.action, left(pattern, -1))))
    and (m.scopes is null or exists (
      select from grants g
      where g.developer_id = p_developer_id and g.id = e.grant_id and g.scopes && m.scopes))
  group by m.measure, e.agent_id
  having sum(m.sign * e.weight) <> 0
  order by m.measure, e.agent_id
  on conflict (developer_id, measure, agent_id) do update set entries = counted.entries + excluded.entries
$$;

-- The last of the next entries, at most p_most, that are not after an instant. Times never fall along a chain, so where
-- nothing is to be done this reads one entry, and elsewhere it halves.
create or replace function next_anomaly_seq(p_developer_id text, p_after bigint, p_until timestamptz, p_most integer)
  returns bigint language plpgsql stable as
$$
declare
  low    bigint;
  high   bigint;
  middle bigint;
  found  record;
begin
  select a.seq, a.at into found from audit_entries a
    where a.developer_id = p_developer_id and a.seq > p_after order by a.seq limit 1;
  if found.seq is null or found.at > p_until then return p_after; end if;
  low := found.seq;
  high := low + p_most;
  while low + 1 < high loop
    middle := (low + high) / 2;
    select a.seq, a.at into found from audit_entries a
      where a.developer_id = p_developer_id and a.seq >= middle and a.seq < high order by a.seq limit 1;
    if found.seq is null or found.at > p_until then high := middle; else low := found.seq; end if;
  end loop;
  return low;
end
$$;

-- Keeps the facts that single entries of a range of the chain show: the first grant of an agent and a principal, a code
-- or refresh token that was presented again, many grants revoked at once, a budget spent at once. A later sighting of
-- the same fact takes the place of an earlier one.
create or replace function count_anomaly_sightings(p_developer_id text, p_after bigint, p_until bigint, p_since timestamptz)
  returns void language plpgsql as
$$
declare
  beginning timestamptz;
  low       bigint;
begin
  insert into anomaly_sightings (developer_id, rule_id, agent_id, principal_id, grant_id, at, metadata)
  select distinct on (a.agent_id, a.principal_id) p_developer_id, 'new_principal', a.agent_id, a.principal_id, '', a.at,
    jsonb_build_object('grantId', a.grant_id, 'window', '24h')
  from audit_entries a
  where a.developer_id = p_developer_id and a.seq > p_after and a.seq <= p_until and a.action = 'grant.created'
    and a.at > p_since and not exists (
      select from grants g where g.developer_id = p_developer_id and g.principal_id = a.principal_id
        and g.agent_id = a.agent_id and g.id < a.grant_id)
  order by a.agent_id, a.principal_id, a.seq
  on conflict do nothing;

  insert into anomaly_sightings as known (developer_id, rule_id, agent_id, principal_id, grant_id, at, metadata)
  select distinct on (a.agent_id, a.principal_id, a.grant_id) p_developer_id, 'token_replay', a.agent_id,
    a.principal_id, a.grant_id, a.at, jsonb_build_object('kind', a.metadata -> 'kind', 'window', '24h')
  from audit_entries a
  where a.developer_id = p_developer_id and a.seq > p_after and a.seq <= p_until
    and a.action = 'token.reuse_detected' and a.at > p_since and a.grant_id is not null
  order by a.agent_id, a.principal_id, a.grant_id, a.seq desc
  on conflict (developer_id, rule_id, agent_id, principal_id, grant_id) do update
    set at = excluded.at, metadata = excluded.metadata;

  if exists (select from audit_entries a where a.developer_id = p_developer_id and a.seq > p_after
    and a.seq <= p_until and a.action = 'grant.revoked' and a.at > p_since)
  then
    select a.at into beginning from audit_entries a
      where a.developer_id = p_developer_id and a.seq > p_after order by a.seq limit 1;
    select coalesce((select a.seq from audit_entries a where a.developer_id = p_developer_id and a.seq <= p_after
      and a.at < beginning - interval '60 seconds' order by a.seq desc limit 1), 0) into low;
    insert into anomaly_sightings as known (developer_id, rule_id, agent_id, principal_id, grant_id, at, metadata)
    select distinct on (r.agent_id) p_developer_id, 'rapid_revocation', r.agent_id, '', '', r.at,
      jsonb_build_object('reason', r.reason, 'threshold', 5, 'window', '60s')
    from (
      select a.seq, a.at, a.agent_id, a.metadata ->> 'reason' as reason,
        lag(a.at, 5) over (partition by a.agent_id, a.metadata ->> 'reason', a.metadata ->> 'actor' order by a.seq)
          as sixth
      from audit_entries a
      where a.developer_id = p_developer_id and a.seq > low and a.seq <= p_until and a.action = 'grant.revoked'
        and a.metadata ->> 'reason' <> 'anomaly'
    ) r
    where r.seq > p_after and r.at > p_since and r.sixth >= r.at - interval '60 seconds'
    order by r.agent_id, r.seq desc
    on conflict (developer_id, rule_id, agent_id, principal_id, grant_id) do update
      set at = excluded.at, metadata = excluded.metadata;
  end if;

  insert into anomaly_sightings as known (developer_id, rule_id, agent_id, principal_id, grant_id, at, metadata)
  select p_developer_id, 'budget_cliff', g.agent_id, g.principal_id, g.id, spent.first_at,
    jsonb_build_object('spent', trim_scale(spent.units * 0.000000001)::text,
      'initial', trim_scale(b.initial_units * 0.000000001)::text, 'currency', b.currency, 'threshold', 0.9, 'window', '1h')
  from budget_allocations b
  join grants g on g.developer_id = p_developer_id and g.id = b.grant_id
  cross join lateral (
    select min(t.created_at) as first_at, sum(t.amount_units)
      filter (where t.created_at <= first_of.at + interval '1 hour') as units
    from budget_transactions t, (
      select f.created_at as at from budget_transactions f
      where f.developer_id = p_developer_id and f.allocation_id = b.id and f.amount_units > 0 order by f.id limit 1
    ) as first_of
    where t.developer_id = p_developer_id and t.allocation_id = b.id and t.amount_units > 0
  ) spent
  where b.developer_id = p_developer_id and spent.first_at > p_since and spent.units >= 0.9 * b.initial_units
    and b.id in (
      select t.allocation_id
      from audit_entries a
      cross join lateral (
        select own.allocation_id from budget_transactions own
          where own.developer_id = p_developer_id and own.id = a.metadata ->> 'transactionId'
        union all
        select above.allocation_id from budget_transactions above
          where above.developer_id = p_developer_id and above.source_transaction_id = a.metadata ->> 'transactionId'
      ) t
      where a.developer_id = p_developer_id and a.seq > p_after and a.seq <= p_until and a.action = 'budget.debited')
  on conflict (developer_id, rule_id, agent_id, principal_id, grant_id) do update
    set at = excluded.at, metadata = excluded.metadata;
end
$$;
