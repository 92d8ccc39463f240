-- Makes the allocation of a grant, with its first entries. Returns whether the grant had none.
create or replace function open_allocation(p_developer_id text, p_allocation jsonb)
  returns boolean language plpgsql set enable_seqscan = off as
$$
declare
  new_one budget_allocations := jsonb_populate_record(null::budget_allocations, p_allocation);
  units   numeric := allocated_units(p_allocation);
begin
  insert into budget_allocations
    (developer_id, id, grant_id, currency, initial_units, remaining_units, announced, created_at, updated_at)
    values (p_developer_id, new_one.id, new_one.grant_id, new_one.currency, units, units, 0, new_one.created_at,
      new_one.updated_at)
    on conflict (developer_id, grant_id) where grant_id is not null do nothing;
  if not found then return false; end if;
  insert into budget_entries values
    (p_developer_id, new_one.id, new_one.id, 'funds', -units),
    (p_developer_id, new_one.id, new_one.id, 'available', units);
  return true;
end
$$;
