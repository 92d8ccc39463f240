-- Makes the hot writes of one developer that share a transaction: takes the locks that several of them need, calls the
-- function of each write, in their order, and records the acts of those that were not refused, under one lock of the
-- chain's head. Each function returns why it wrote nothing, or null, and a write without a function consists of its
-- acts, which are an array for each write in `p_acts`. A function that says what it made (`{"made": …}`) chooses among the
-- acts of its write and fills them in. Returns a row for each text of a function, with the place of its write, and a row
-- for the position of each wanted entry that was written. No lock is waited for longer than `p_patience`. The chain's
-- head has a patience of its own, which is without end ('0') unless others wait for this developer's writes.
create or replace function write_together(p_developer_id text, p_at timestamptz, p_writes jsonb, p_acts jsonb,
  p_wanted_ids text[], p_locks jsonb, p_patience text, p_head_patience text default '0')
  returns table (place integer, refusal text, id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql set enable_seqscan = off as
$$
declare
  step    record;
  chosen  text;
  fill    record;
begin
  if p_patience is not null then perform set_config('lock_timeout', p_patience, true); end if;
  for step in select l ->> 'name' as name, array(select jsonb_array_elements_text(l -> 'ids')) as ids
              from jsonb_array_elements(p_locks) with ordinality as a (l, n) order by n loop
    execute format('select %I($1, $2)', step.name) using p_developer_id, step.ids;
  end loop;

  for step in select w ->> 'name' as name, (w ->> 'at')::timestamptz as at, w -> 'values' as facts, n::integer as n
              from jsonb_array_elements(p_writes) with ordinality as a (w, n) where w ? 'name' order by n loop
    execute format('select %I($1, $2, $3)', step.name) into refusal using p_developer_id, step.at, step.facts;
    if refusal is not null then
      place := step.n;
      chosen := '[]';
      if starts_with(refusal, '{"made": ') then
        -- Random texts, new for each write, stand for the values, so nothing else in the acts can be one.
        chosen := (select coalesce(jsonb_agg(p_acts -> place - 1 -> act::integer order by m), '[]')
                   from jsonb_array_elements_text(refusal::jsonb #> '{made,acts}') with ordinality as a (act, m));
        for fill in select key, value from jsonb_each_text(refusal::jsonb #> '{made,fills}') loop
          chosen := replace(chosen, fill.key, fill.value);
        end loop;
      end if;
      p_acts := jsonb_set(p_acts, array[(place - 1)::text], chosen::jsonb);
      return next;
    end if;
  end loop;
  place := null;
  refusal := null;

  p_acts := jsonb_path_query_array(p_acts, '$[*][*]'); -- a tenth of what aggregating the elements costs
  if p_acts = '[]' then return; end if; -- nothing was written, so nothing waits for the chain's head
  if current_setting('lock_timeout') <> p_head_patience then
    perform set_config('lock_timeout', p_head_patience, true);
  end if;
  return query select null::integer, null, recorded.*
    from record_acts(p_developer_id, p_at, p_acts) recorded where recorded.id = any (p_wanted_ids);
end
$$;

-- Makes the hot writes of several developers in one transaction: `write_together` for each, in the order of their ids
-- on every instance, so that two groups do not wait for each other in a circle. What fails for one developer is undone
-- for that developer only. No lock is waited for longer than `p_patience`, and for 10 ms at most once the group has
-- taken that long, because it holds the heads of the developers before.
-- Returns the rows of `write_together`, each with the place of its part, and a row with the SQLSTATE and the message of
-- each part that failed.
create or replace function write_groups(p_parts jsonb, p_patience text)
  returns table (part integer, failure text, message text, place integer, refusal text, id text, seq bigint,
    "timestamp" text, prev_hash text, hash text)
  language plpgsql as
$$
declare
  step  record;
  began constant timestamptz := clock_timestamp();
begin
  for step in select p ->> 'developerId' as developer_id, (p ->> 'at')::timestamptz as at, p -> 'writes' as writes,
                p -> 'acts' as acts, array(select jsonb_array_elements_text(p -> 'wantedIds')) as wanted_ids,
                p -> 'locks' as locks, n::integer as n
              from jsonb_array_elements(p_parts) with ordinality as a (p, n) order by p ->> 'developerId' collate "C" loop
    if clock_timestamp() - began >= p_patience::interval then p_patience := '10ms'; end if;
    begin
      return query select step.n, null::text, null::text, written.*
        from write_together(step.developer_id, step.at, step.writes, step.acts, step.wanted_ids, step.locks,
          p_patience, p_patience) written;
    exception when others then
      part := step.n;
      failure := sqlstate;
      message := sqlerrm;
      return next;
    end;
  end loop;
end
$$;
