-- Owner: events. The order of a developer's events is that of their commits: a number given under the lock of
-- the chain's head, which is held until the commit. Whoever has read up to one number has missed nothing below
-- it. (Event ids come of clocks, and a transaction may commit after one that began later.)
alter table audit_heads add column event_seq bigint not null default 0;
alter table outbox_events add column seq bigint;
update outbox_events e set seq = numbered.seq
  from (select developer_id, id, row_number() over (partition by developer_id order by id) as seq from outbox_events)
    as numbered
  where e.developer_id = numbered.developer_id and e.id = numbered.id;
update audit_heads h set event_seq = last.seq
  from (select developer_id, max(seq) as seq from outbox_events group by developer_id) as last
  where h.developer_id = last.developer_id;
alter table outbox_events drop constraint outbox_events_pkey, add primary key (developer_id, seq),
  add unique (developer_id, id);

-- Owner: audit. As before, and of each entry its event, if it has one, under the same lock. An element without a
-- `prefix` is an event that is no entry. Of what developers append themselves only as many entries are written as
-- the month has room for: a group of them is cut where the limit is, and who comes after it gets no row.
create or replace function audit_append(p_developer_id text, p_at timestamptz, p_entries jsonb,
  p_month_limit bigint default null)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
declare
  head  audit_heads;
  entry record;
  line  text;
  facts jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit:' || p_developer_id, 0));
  select * into strict head from audit_heads h where h.developer_id = p_developer_id for update;
  if p_month_limit is not null and head.month < date_trunc('month', p_at at time zone 'utc')::date then
    head.month := date_trunc('month', p_at at time zone 'utc')::date;
    head.appends := 0;
  end if;
  head.at := greatest(head.at, date_trunc('milliseconds', p_at));
  "timestamp" := to_char(head.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  for entry in select e ->> 'prefix' as prefix, e ->> 'suffix' as suffix, e ->> 'requestId' as request_id,
                 e ->> 'eventId' as event_id, e ->> 'type' as type, e ->> 'envelope' as envelope
               from jsonb_array_elements(p_entries) with ordinality as a (e, n) order by n loop
    if entry.event_id is not null then
      head.event_seq := head.event_seq + 1;
      insert into outbox_events (developer_id, seq, id, type, envelope, created_at)
        values (p_developer_id, head.event_seq, entry.event_id, entry.type, entry.envelope, p_at);
    end if;
    continue when entry.prefix is null;
    if p_month_limit is not null then
      exit when p_month_limit >= 0 and head.appends >= p_month_limit;
      head.appends := head.appends + 1;
    end if;
    prev_hash := encode(head.hash, 'hex');
    line := entry.prefix || "timestamp" || '","prevHash":' || coalesce('"' || prev_hash || '"', 'null') || entry.suffix;
    facts := line;
    if facts ->> 'developerId' is distinct from p_developer_id then raise exception 'entry of another developer'; end if;
    head.seq := head.seq + 1;
    insert into audit_entries (developer_id, seq, id, agent_id, agent_did, grant_id, principal_id, action, status,
      metadata, purpose, salt, request_id, at, prev_hash, hash)
    values (p_developer_id, head.seq, facts ->> 'id', facts ->> 'agentId', facts ->> 'agentDid', facts ->> 'grantId',
      facts ->> 'principalId', facts ->> 'action', (facts ->> 'status')::audit_status, facts -> 'metadata',
      facts ->> 'purpose', facts ->> 'salt', entry.request_id, head.at, head.hash, sha256(convert_to(line, 'UTF8')))
      returning audit_entries.id, audit_entries.seq, encode(audit_entries.hash, 'hex'), audit_entries.hash
      into id, seq, hash, head.hash;
    return next;
  end loop;
  update audit_heads h
    set seq = head.seq, hash = head.hash, at = head.at, month = head.month, appends = head.appends,
      event_seq = head.event_seq
    where h.developer_id = p_developer_id;
end
$$;

-- Owner: audit. The one door to the audit log and the outbox.
create or replace function record_acts(p_developer_id text, p_at timestamptz, p_acts jsonb)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language sql as
$$ select * from audit_append(p_developer_id, p_at, p_acts) $$;
