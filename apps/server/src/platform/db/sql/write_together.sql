-- Records the acts of hot writes that share a transaction, at its end, under one lock of the chain's head. The
-- statement makes the writes in the array of refusals, which Postgres evaluates before it calls this function, and
-- each of them returns why it wrote nothing, or null. `p_acts` has an array of acts for each write, and those of a
-- refused write are left out. Returns a row for each refusal, with the number of its write, and a row for the position
-- of each wanted entry that was written. For the chain's head all have to wait, so no timeout applies here.
create or replace function write_together(p_developer_id text, p_at timestamptz, p_refusals text[], p_acts jsonb,
  p_wanted_ids text[])
  returns table (write bigint, refusal text, id text, seq bigint, "timestamp" text, prev_hash text, hash text)
  language plpgsql set lock_timeout = 0 as
$$
declare acts jsonb;
begin
  return query select refused.number, refused.reason, null, null::bigint, null, null, null
    from unnest(p_refusals) with ordinality as refused (reason, number) where refused.reason is not null;

  select jsonb_agg(act order by number, place) into acts
    from jsonb_array_elements(p_acts) with ordinality as each_write (acts_of_write, number)
    cross join jsonb_array_elements(acts_of_write) with ordinality as each_act (act, place)
    where p_refusals[number] is null;
  if acts is null then return; end if; -- nothing was written, so nothing waits for the chain's head
  return query select null::bigint, null, recorded.*
    from record_acts(p_developer_id, p_at, acts) recorded where recorded.id = any (p_wanted_ids);
end
$$;
