-- The write of POST /v1/budget/allocate. The grant's row is locked, so that no revocation comes between check and insert,
-- and no debit that has read the allocations of its chain.
create or replace function write_allocation(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  held    grants;
  refusal text;
begin
  select * into strict held from grants
    where developer_id = p_developer_id and id = p_write ->> 'grant_id' for no key update;
  if held.status <> 'active' then return 'revoked'; end if;
  if held.expires_at <= p_at then return 'expired'; end if;
  perform from budget_allocations where developer_id = p_developer_id and grant_id = held.id;
  if found then return 'allocated'; end if;
  refusal := allocation_refusal(p_developer_id, p_write, held.parent_grant_id);
  if refusal is not null then return refusal; end if;
  perform open_allocation(p_developer_id, p_write);
  return null;
end
$$;
