-- Appends entries and events to one developer's chain and outbox. Call it last in the transaction: it locks the
-- chain's head until the commit.
create or replace function audit_append(p_developer_id text, p_at timestamptz, p_entries jsonb)
  returns table (id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
declare
  chained record;
begin
  chained := extend_chain(p_developer_id, p_at, p_entries);
  perform insert_chained(chained.entries, chained.events);
  return query select e.id, e.seq, entry_time(e.at), encode(e.prev_hash, 'hex'), encode(e.hash, 'hex')
    from unnest(chained.entries) e;
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

-- A time as the line of an entry has it.
create or replace function entry_time(p_at timestamptz) returns text language plpgsql stable as
$$
begin
  return to_char(p_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;

-- Makes entries and events for one developer's chain and outbox, locks the chain's head until the commit, and moves it.
-- The rows go to `insert_chained`, those of several chains together: a statement for each row took as long as the row.
-- The application serialises an entry and leaves out the part that only the holder of the head knows: `prefix` ends with
--  "timestamp":"  and `suffix` begins with  ,"status":  . The columns are read from the line that is hashed, so a stored
-- entry cannot differ from it. Time never goes back along a chain. An element with an `eventId` is an event; an element
-- without a `prefix` is no entry.
-- There are two locks: the row lock protects the head, and the advisory lock before it makes writers queue.
-- Without the queue the waiters on one row wake each other and read it again (64 writers: 1,150 appends/s
-- with the row alone, 2,100 with the queue).
-- An element with a `monthLimit` is an entry that a developer appends: it is made if the calendar month has room for
-- it; -1 counts without a limit.
create or replace function extend_chain(p_developer_id text, p_at timestamptz, p_entries jsonb,
  out entries audit_entries[], out events outbox_events[])
  language plpgsql as
$$
declare
  head        audit_heads;
  act         jsonb;
  entry       audit_entries;
  event       outbox_events;
  month_limit bigint;
  line        text;
  facts       jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit:' || p_developer_id, 0));
  select * into strict head from audit_heads h where h.developer_id = p_developer_id for update;
  if head.month < date_trunc('month', p_at at time zone 'utc')::date then
    head.month := date_trunc('month', p_at at time zone 'utc')::date;
    head.appends := 0;
  end if;
  head.at := greatest(head.at, date_trunc('milliseconds', p_at));
  entries := '{}';
  events := '{}';
  entry.developer_id := p_developer_id;
  entry.at := head.at;
  event.developer_id := p_developer_id;
  event.created_at := p_at;
  for n in 0 .. jsonb_array_length(p_entries) - 1 loop
    act := p_entries -> n;
    if act ? 'eventId' then
      head.event_seq := head.event_seq + 1;
      event.seq := head.event_seq;
      event.id := act ->> 'eventId';
      event.type := act ->> 'type';
      event.agent_id := act ->> 'agentId';
      event.envelope := act ->> 'envelope';
      events := events || event;
    end if;
    continue when not act ? 'prefix';
    month_limit := act ->> 'monthLimit';
    if month_limit is not null then
      continue when month_limit >= 0 and head.appends >= month_limit;
      head.appends := head.appends + 1;
    end if;
    line := (act ->> 'prefix') || entry_time(head.at) || '","prevHash":'
      || coalesce('"' || encode(head.hash, 'hex') || '"', 'null') || (act ->> 'suffix');
    facts := line;
    if facts ->> 'developerId' is distinct from p_developer_id then raise exception 'entry of another developer'; end if;
    head.seq := head.seq + 1;
    entry.seq := head.seq;
    entry.id := facts ->> 'id';
    entry.agent_id := facts ->> 'agentId';
    entry.agent_did := facts ->> 'agentDid';
    entry.grant_id := facts ->> 'grantId';
    entry.principal_id := facts ->> 'principalId';
    entry.action := facts ->> 'action';
    entry.status := facts ->> 'status';
    entry.metadata := facts -> 'metadata';
    entry.purpose := facts ->> 'purpose';
    entry.salt := facts ->> 'salt';
    entry.request_id := act ->> 'requestId';
    entry.prev_hash := head.hash;
    entry.hash := sha256(convert_to(line, 'UTF8'));
    head.hash := entry.hash;
    entries := entries || entry;
  end loop;
  update audit_heads h
    set seq = head.seq, hash = head.hash, at = head.at, month = head.month, appends = head.appends,
      event_seq = head.event_seq
    where h.developer_id = p_developer_id;
end
$$;

-- Writes what `extend_chain` made, of several developers too.
create or replace function insert_chained(p_entries audit_entries[], p_events outbox_events[]) returns void
  language plpgsql as
$$
begin
  if cardinality(p_events) > 0 then insert into outbox_events select e.* from unnest(p_events) e; end if;
  if cardinality(p_entries) > 0 then insert into audit_entries select e.* from unnest(p_entries) e; end if;
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
