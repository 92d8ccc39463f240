-- Why a grant does not get this allocation from those above it: they have another currency, or less than this is left of
-- one of them. Null where it does. Whether debits are covered, each debit decides.
create or replace function allocation_refusal(p_developer_id text, p_allocation jsonb, p_parent_grant_id text)
  returns text language plpgsql stable set enable_seqscan = off as
$$
declare above record;
begin
  if jsonb_typeof(p_allocation) is distinct from 'object' or p_parent_grant_id is null then return null; end if;
  select * into above from grant_budget(p_developer_id, p_parent_grant_id);
  if above.currency <> p_allocation ->> 'currency' then return 'currency_mismatch'; end if;
  if above.remaining_units < allocated_units(p_allocation) then return 'insufficient'; end if;
  return null;
end
$$;
