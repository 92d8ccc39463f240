-- Makes the hot writes of one developer in a group, but for the rows of the chain and the outbox, which come back in
-- `entries` and `events`: takes the locks that several of them need, calls the function of each write, in their order,
-- and chains the acts of those that were not refused, under one lock of the chain's head. Each function returns why it
-- wrote nothing, or null, and a write without a function consists of its acts. A function that says what it made
-- (`{"made": …}`) chooses among the acts of its write and fills them in. `texts` are what functions returned, and `places`
-- the writes of these. No lock is waited for longer than `p_patience`. The chain's head has a patience of its own.
create or replace function write_part(p_developer_id text, p_part jsonb, p_patience text, p_head_patience text,
  out places integer[], out texts text[], out acts jsonb, out entries audit_entries[], out events outbox_events[])
  language plpgsql as
$$
declare
  locks   constant jsonb := p_part -> 'locks';
  writes  constant jsonb := p_part -> 'writes';
  it      jsonb;
  chosen  text;
  said    text;
  fill    record;
  chained record;
  patient text;
begin
  places := '{}';
  texts := '{}';
  acts := p_part -> 'acts';
  if p_patience is not null then patient := set_config('lock_timeout', p_patience, true); end if;
  for n in 0 .. jsonb_array_length(locks) - 1 loop
    it := locks -> n;
    execute format('select %I($1, $2)', it ->> 'name')
      using p_developer_id, array(select jsonb_array_elements_text(it -> 'ids'));
  end loop;

  for n in 0 .. jsonb_array_length(writes) - 1 loop
    it := writes -> n;
    continue when not it ? 'name';
    execute format('select %I($1, $2, $3)', it ->> 'name') into said
      using p_developer_id, (it ->> 'at')::timestamptz, it -> 'values';
    if said is not null then
      places := places || n + 1;
      texts := texts || said;
      chosen := '[]';
      if starts_with(said, '{"made": ') then
        -- Random texts, new for each write, stand for the values, so nothing else in the acts can be one.
        chosen := (select coalesce(jsonb_agg(acts -> n -> act::integer order by m), '[]')
                   from jsonb_array_elements_text(said::jsonb #> '{made,acts}') with ordinality as a (act, m));
        for fill in select key, value from jsonb_each_text(said::jsonb #> '{made,fills}') loop
          chosen := replace(chosen, fill.key, fill.value);
        end loop;
      end if;
      acts := jsonb_set(acts, array[n::text], chosen::jsonb);
    end if;
  end loop;

  acts := jsonb_path_query_array(acts, '$[*][*]'); -- a tenth of what aggregating the elements costs
  entries := '{}';
  events := '{}';
  if acts = '[]' then return; end if; -- nothing was written, so nothing waits for the chain's head
  if current_setting('lock_timeout') <> p_head_patience then
    patient := set_config('lock_timeout', p_head_patience, true);
  end if;
  chained := extend_chain(p_developer_id, (p_part ->> 'at')::timestamptz, acts);
  entries := chained.entries;
  events := chained.events;
end
$$;

-- Makes the hot writes of a group in one transaction, in the order of the developers' ids on every instance, so that two
-- groups do not wait for each other in a circle. What fails for one of several developers is undone for that developer
-- only. Then no lock is waited for longer than `p_patience`, and for 10 ms at most once the group has taken that long,
-- because it holds the heads of the developers before. Where others wait only for this developer's writes, the head is
-- waited for without end. The rows of all chains are written together at the end.
-- Returns a row for each text of a function, with the places of its part and its write, a row for the position of each
-- wanted entry that was written, and a row with the SQLSTATE and the message of each part that failed.
create or replace function write_together(p_parts jsonb, p_patience text)
  returns table (part integer, failure text, message text, place integer, refusal text, id text, seq bigint,
    "timestamp" text, prev_hash text, hash text)
  language plpgsql set enable_seqscan = off as
$$
declare
  is_shared constant boolean := jsonb_array_length(p_parts) > 1;
  began     constant timestamptz := clock_timestamp();
  dev       text;
  it        jsonb;
  written   record;
  entry     audit_entries;
  entries   audit_entries[] := '{}';
  events    outbox_events[] := '{}';
  ids       text[] := '{}'; -- of the developers that have events, each with its time and its acts
  times     timestamptz[] := '{}';
  acts      jsonb[] := '{}';
begin
  for dev, it, part in select p ->> 'developerId', p, n
                       from jsonb_array_elements(p_parts) with ordinality as a (p, n)
                       order by p ->> 'developerId' collate "C" loop
    if is_shared then
      if clock_timestamp() - began >= p_patience::interval then p_patience := '10ms'; end if;
      begin
        written := write_part(dev, it, p_patience, p_patience);
      exception when others then
        failure := sqlstate;
        message := sqlerrm;
        return next;
        failure := null;
        message := null;
        continue;
      end;
    else
      written := write_part(dev, it, p_patience, '0');
    end if;

    for n in 1 .. cardinality(written.places) loop
      place := written.places[n];
      refusal := written.texts[n];
      return next;
    end loop;
    place := null;
    refusal := null;
    if it -> 'wantedIds' <> '[]' then
      foreach entry in array written.entries loop
        continue when not it -> 'wantedIds' ? entry.id;
        id := entry.id;
        seq := entry.seq;
        "timestamp" := entry_time(entry.at);
        prev_hash := encode(entry.prev_hash, 'hex');
        hash := encode(entry.hash, 'hex');
        return next;
      end loop;
      id := null;
    end if;
    entries := entries || written.entries;
    if cardinality(written.events) > 0 then
      events := events || written.events;
      ids := ids || dev;
      times := times || (it ->> 'at')::timestamptz;
      acts := acts || written.acts;
    end if;
  end loop;

  perform insert_chained(entries, events);
  if cardinality(ids) > 0 then perform deliver_events_of(ids, times, acts); end if;
end
$$;
