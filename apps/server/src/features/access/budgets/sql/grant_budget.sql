-- The money that a grant may still spend: the least that remains of its own allocation and of those above it, and what its
-- own was at first. No row without any.
create or replace function grant_budget(p_developer_id text, p_grant_id text)
  returns table (remaining bigint, currency text, own_initial bigint)
  language plpgsql stable set enable_seqscan = off as
$$
declare
  next_id text := p_grant_id;
  held    text;
  own     bigint;
  whole   bigint;
begin
  while next_id is not null loop
    select b.remaining, b.currency, b.initial into own, held, whole
      from budget_allocations b where b.developer_id = p_developer_id and b.grant_id = next_id;
    if found then
      remaining := least(remaining, own);
      currency := held;
      if next_id = p_grant_id then own_initial := whole; end if;
    end if;
    select g.parent_grant_id into next_id from grants g where g.developer_id = p_developer_id and g.id = next_id;
  end loop;
  if remaining is not null then return next; end if;
end
$$;
