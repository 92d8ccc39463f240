/** Agents of each planted kind: the first of the list make a burst, the next fail, and so on. */
const EACH = 8;
const kinds = ['rate_spike', 'high_failure_rate', 'off_hours_activity', 'scope_escalation'] as const;

/** Each planted kind, by agent. A burst or a refusal at night is off hours too; the oracle counts that. */
export const plantedOf = (agentIds: readonly string[]) =>
  kinds.flatMap((type, kind) =>
    agentIds.slice(kind * EACH, (kind + 1) * EACH).map((agentId) => ({ type, agentId })),
  );

/**
 * Entries of eight days: of every agent by day in UTC, one in fifty a failure, and the planted ones. Entries that exist are
 * moved before them, because times never fall along a chain.
 */
export const TRAFFIC = `
  update audit_entries set at = now() - interval '9 days' where developer_id = $1;

  insert into audit_entries (developer_id, seq, id, agent_id, action, status, metadata, at, prev_hash, hash)
  select $1, head.seq + row_number() over (order by traffic.at), 'alog_0' || upper(substr(md5(random()::text), 1, 25)), agent,
    action, status, metadata, traffic.at, sha256('filled'), sha256('filled')
  from (select agent, at, action, status, metadata from (
    select ($2::text[])[1 + floor(random() * cardinality($2::text[]))] as agent,
      date_trunc('day', now()) - (floor(random() * 9) || ' days')::interval + (6 + random() * 16) * interval '1 hour' as at,
      'mail.sent' as action, (case when random() < 0.02 then 'failure' else 'success' end)::audit_status as status,
      '{}'::jsonb as metadata
    from generate_series(1, $3::integer)
    union all
    select ($2::text[])[1 + n % ${EACH}], now() - random() * interval '50 minutes', 'mail.sent', 'success', '{}'
    from generate_series(1, ${EACH} * 400 + $3::integer / 20) n
    union all
    select ($2::text[])[1 + ${EACH} + n % ${EACH}], now() - random() * interval '20 hours', 'mail.sent', 'failure', '{}'
    from generate_series(1, ${EACH} * 20 + $3::integer / 50) n
    union all
    select ($2::text[])[1 + 2 * ${EACH} + n % ${EACH}],
      date_trunc('day', now()) + interval '1 hour' * (random() * 4) - case when now() < date_trunc('day', now())
        + interval '5 hours' then interval '1 day' else interval '0' end, 'mail.sent', 'success', '{}'
    from generate_series(1, ${EACH} * 20) n
    union all
    select ($2::text[])[1 + 3 * ${EACH} + n % ${EACH}], now() - random() * interval '50 minutes',
      'authorization.scope_refused', 'blocked', '{"reason": "scope_exceeded"}'
    from generate_series(1, ${EACH} * 4) n
  ) made where at < now() - interval '1 second' and at > now() - interval '8 days 12 hours') traffic,
    (select seq from audit_heads where developer_id = $1) head;

  update audit_heads set at = now(), seq = (select max(seq) from audit_entries where developer_id = $1)
  where developer_id = $1`;

/** Entries of one agent in the last second. */
export const LATER = `
  insert into audit_entries (developer_id, seq, id, agent_id, action, status, metadata, at, prev_hash, hash)
  select $1, head.seq + n, 'alog_0' || upper(substr(md5(random()::text), 1, 25)), $2, 'mail.sent', 'success', '{}', now(),
    sha256('filled'), sha256('filled')
  from generate_series(1, $3::integer) n, (select seq from audit_heads where developer_id = $1) head;

  update audit_heads set at = now(), seq = (select max(seq) from audit_entries where developer_id = $1)
  where developer_id = $1`;

export const ORACLE = `
  with entries as (
    select agent_id, status, at, metadata ->> 'reason' as reason from audit_entries
    where developer_id = $1 and agent_id is not null and action not in ('agent.created', 'anomaly.detected')
  ), counted as (
    select agent_id,
      count(*) filter (where at > now() - interval '1 hour') as hour,
      count(*) filter (where at <= now() - interval '1 hour' and at > now() - interval '169 hours') as week,
      count(*) filter (where at > now() - interval '24 hours') as day,
      count(*) filter (where at > now() - interval '24 hours' and status in ('failure', 'blocked')) as failed,
      count(*) filter (where at > now() - interval '24 hours' and (extract(hour from at at time zone 'UTC') >= 22
        or extract(hour from at at time zone 'UTC') < 6)) as night,
      count(*) filter (where at > now() - interval '1 hour' and status = 'blocked' and reason = 'scope_exceeded') as refused
    from entries group by agent_id
  )
  select type, agent_id as "agentId" from counted cross join lateral (values
    ('rate_spike', hour > greatest(50, 3 * week / 168.0)),
    ('high_failure_rate', day >= 5 and failed > 0.2 * day),
    ('off_hours_activity', night > 10),
    ('scope_escalation', refused >= 3)) as rule (type, is_true) where is_true`;
