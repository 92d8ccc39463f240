-- The money that a grant may still spend: the least that remains of its own allocation and of those above it, and what its
-- own was at first. No row without any. The amounts in ten-thousandths are for instances of the release before.
create or replace function grant_budget(p_developer_id text, p_grant_id text)
  returns table (remaining bigint, currency text, own_initial bigint, remaining_units numeric, own_initial_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
declare
  next_id text := p_grant_id;
  held    record;
begin
  while next_id is not null loop
    select b.remaining_units, b.currency, b.initial_units into held
      from budget_allocations b where b.developer_id = p_developer_id and b.grant_id = next_id;
    if found then
      remaining_units := least(remaining_units, held.remaining_units);
      currency := held.currency;
      if next_id = p_grant_id then own_initial_units := held.initial_units; end if;
    end if;
    select g.parent_grant_id into next_id from grants g where g.developer_id = p_developer_id and g.id = next_id;
  end loop;
  if remaining_units is null then return; end if;
  remaining := div(remaining_units, 100000);
  own_initial := div(own_initial_units, 100000);
  return next;
end
$$;
