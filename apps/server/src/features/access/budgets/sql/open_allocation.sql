-- Makes the allocation of a grant, with its first entries. Returns whether the grant had none.
create or replace function open_allocation(p_developer_id text, p_allocation jsonb)
  returns boolean language plpgsql set enable_seqscan = off as
$$
declare new_one budget_allocations := jsonb_populate_record(null::budget_allocations, p_allocation);
begin
  insert into budget_allocations select new_one.* on conflict (developer_id, grant_id) where grant_id is not null do nothing;
  if not found then return false; end if;
  insert into budget_entries values
    (p_developer_id, new_one.id, new_one.id, 'funds', -new_one.initial),
    (p_developer_id, new_one.id, new_one.id, 'available', new_one.initial);
  return true;
end
$$;
