-- Appends entries and events to one developer's chain and outbox. Call it last in the transaction: it locks the
-- chain's head until the commit. The application serialises an entry and leaves out the part that only the
-- holder of the head knows: `prefix` ends with  "timestamp":"  and `suffix` begins with  ,"status":  . The
-- columns are read from the line that is hashed, so a stored entry cannot differ from it. Time never goes
-- back along a chain. An element with an `eventId` is an event; an element without a `prefix` is no entry.
-- There are two locks: the row lock protects the head, and the advisory lock before it makes writers queue.
-- Without the queue the waiters on one row wake each other and read it again (64 writers: 1,150 appends/s
-- with the row alone, 2,100 with the queue).
-- An element with a `monthLimit` is an entry that a developer appends: the function writes it, and returns its row, if
-- the calendar month has room for it; -1 counts without a limit. `p_month_limit` is the limit of elements without one.
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
  if head.month < date_trunc('month', p_at at time zone 'utc')::date then
    head.month := date_trunc('month', p_at at time zone 'utc')::date;
    head.appends := 0;
  end if;
  head.at := greatest(head.at, date_trunc('milliseconds', p_at));
  "timestamp" := to_char(head.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  for entry in select e ->> 'prefix' as prefix, e ->> 'suffix' as suffix, e ->> 'requestId' as request_id,
                 e ->> 'eventId' as event_id, e ->> 'type' as type, e ->> 'agentId' as agent_id, e ->> 'envelope' as envelope,
                 coalesce((e ->> 'monthLimit')::bigint, p_month_limit) as month_limit
               from jsonb_array_elements(p_entries) with ordinality as a (e, n) order by n loop
    if entry.event_id is not null then
      head.event_seq := head.event_seq + 1;
      insert into outbox_events (developer_id, seq, id, type, agent_id, envelope, created_at)
        values (p_developer_id, head.event_seq, entry.event_id, entry.type, entry.agent_id, entry.envelope, p_at);
    end if;
    continue when entry.prefix is null;
    if entry.month_limit is not null then
      continue when entry.month_limit >= 0 and head.appends >= entry.month_limit;
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

-- The `seq` of the first entry that is not older than a time, or the number after the last. Time never goes
-- back along a chain, so a binary search on the primary key finds the entry, and no append has to keep an
-- index on time.
create or replace function audit_first_seq(p_developer_id text, p_at timestamptz) returns bigint
  language plpgsql stable as
$$
declare
  low    bigint := 1;
  high   bigint := (select h.seq + 1 from audit_heads h where h.developer_id = p_developer_id);
  middle bigint;
  found  record;
begin
  while low < high loop
    middle := (low + high) / 2;
    select e.seq, e.at into found from audit_entries e
      where e.developer_id = p_developer_id and e.seq >= middle order by e.seq limit 1;
    if found.seq is null or found.at >= p_at then high := middle; else low := found.seq + 1; end if;
  end loop;
  return low;
end
$$;

-- Writes acts to the audit log and the outbox, and their deliveries to the webhooks. A second statement makes
-- the deliveries, so it sees every endpoint that was committed before the chain's head was locked.
create or replace function record_acts(p_developer_id text, p_at timestamptz, p_acts jsonb)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
begin
  return query select * from audit_append(p_developer_id, p_at, p_acts);
  perform deliver_events(p_developer_id, p_at, p_acts);
end
$$;
