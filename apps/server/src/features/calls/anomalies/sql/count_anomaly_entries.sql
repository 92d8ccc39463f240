-- Adds the entries of a range of the chain to the counts of measures, or takes them away, as the sign of each measure
-- says. An entry that stands for refusals without one of their own (`previousMinute`) counts those too. A measure takes
-- an entry that is among each of its lists, and a list that it lacks takes all.
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
