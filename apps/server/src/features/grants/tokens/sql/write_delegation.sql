-- The write of POST /v1/grants/delegate. The facts that were read before signing are checked again. Each row is locked
-- for share, so that delegations do not wait for each other and no revocation comes in between. A refusal comes before
-- the first write. Locks are taken in the order in which revocations take them: agents by id, then share_delegation,
-- then grants.
create or replace function write_delegation(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  child        grants := jsonb_populate_record(null::grants, p_write -> 'grant');
  parent_agent text;
  refusal      text;
begin
  select agent_id into parent_agent from grants
    where developer_id = p_developer_id and id = child.parent_grant_id; -- a grant's agent never changes
  select case
      when max(status) filter (where id = parent_agent) <> 'active' then 'agent_inactive'
      when max(status) filter (where id = child.agent_id) <> 'active'
        then 'sub_agent_' || max(status) filter (where id = child.agent_id)
    end into refusal
    from (select id, status from agents
      where developer_id = p_developer_id and id in (parent_agent, child.agent_id) order by id for share) locked;
  if refusal is not null then return refusal; end if;
  if not account_runs(p_developer_id) then return 'agent_inactive'; end if;

  perform share_delegation(p_developer_id);
  if not hold_principal(p_developer_id, child.principal_id) then return 'principal_inactive'; end if;
  select case when status <> 'active' then 'parent_revoked' when expires_at <= p_at then 'parent_expired' end
    into refusal
    from grants where developer_id = p_developer_id and id = child.parent_grant_id for share;
  if refusal is not null then return refusal; end if;
  perform from tokens
    where developer_id = p_developer_id and id = p_write ->> 'parentTokenId' and revoked_at is null for share;
  if not found then return 'parent_revoked'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'policies_changed'; end if;
  refusal := allocation_refusal(p_developer_id, p_write -> 'allocation', child.parent_grant_id);
  if refusal is not null then return refusal; end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    if not hold_status_place(p_developer_id, p_at, p_write -> 'credential') then return 'place_taken'; end if;
  end if;
  if not take_quota(p_developer_id, 'active_grants', (p_write ->> 'grantLimit')::bigint, p_at) then return 'over_quota'; end if;

  insert into grants select child.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  if jsonb_typeof(p_write -> 'refresh') = 'object' then
    insert into refresh_tokens select (jsonb_populate_record(null::refresh_tokens, p_write -> 'refresh')).*;
  end if;
  if jsonb_typeof(p_write -> 'allocation') = 'object' then
    perform open_allocation(p_developer_id, p_write -> 'allocation');
  end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    perform keep_credential(p_developer_id, p_write -> 'credential');
  end if;
  return null;
end
$$;
