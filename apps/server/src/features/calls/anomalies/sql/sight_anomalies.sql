-- Keeps the facts that single entries of a range of the chain show: the first grant of an agent and a principal, a code
-- or refresh token that was presented again, many grants revoked at once, a budget spent at once. A later sighting of
-- the same fact takes the place of an earlier one.
create or replace function sight_anomalies(p_developer_id text, p_after bigint, p_until bigint, p_since timestamptz)
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
