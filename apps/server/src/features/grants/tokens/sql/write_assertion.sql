-- The write of a token on the word of an identity provider. The facts that were read before signing are checked again,
-- and a refusal comes before the first write. Without `isNew` the grant is there already, and has to be active. The
-- caller holds what says that it is the right one. Locks are taken in the order of write_delegation.
create or replace function write_assertion(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  held grants := jsonb_populate_record(null::grants, p_write -> 'grant');
begin
  perform from agents
    where developer_id = p_developer_id and id = held.agent_id and status = 'active' for share;
  if not found or not account_runs(p_developer_id) then return 'agent_inactive'; end if;
  perform share_delegation(p_developer_id);
  if not hold_principal(p_developer_id, held.principal_id) then return 'principal_inactive'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'changed'; end if;
  if not (p_write ->> 'isNew')::boolean then
    perform from (select status, expires_at from grants
        where developer_id = p_developer_id and id = held.id offset 0 for share) standing
      where status = 'active' and expires_at > p_at; -- outside, so that the key alone finds the row
    if not found then return 'changed'; end if;
  elsif not take_quota(p_developer_id, 'active_grants', (p_write ->> 'grantLimit')::bigint, p_at) then
    return 'over_quota';
  end if;

  if (p_write ->> 'isNew')::boolean then insert into grants select held.*; end if;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  return null;
end
$$;
