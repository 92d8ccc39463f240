-- The write of POST /v1/token. The facts that were read before signing are checked again, and a refusal comes before
-- the first write, since returning commits. The lock on the request lets the first of several simultaneous calls win;
-- the unique index on the grants' request would stop a second grant too.
create or replace function write_redemption(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  new_grant grants := jsonb_populate_record(null::grants, p_write -> 'grant');
  refusal   text;
begin
  perform from agents
    where developer_id = p_developer_id and id = new_grant.agent_id and status = 'active' for share;
  if not found or not account_runs(p_developer_id) then return 'agent_inactive'; end if;
  if not hold_principal(p_developer_id, new_grant.principal_id) then return 'principal_inactive'; end if;
  select case
      when status <> 'approved' then 'code_used'
      when wrong_verifiers >= (p_write ->> 'maxWrongVerifiers')::integer then 'code_unknown'
      when code_expires_at <= p_at then 'code_expired'
    end into refusal
    from auth_requests where developer_id = p_developer_id and id = new_grant.auth_request_id for update;
  if refusal is not null then return refusal; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'policies_changed'; end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    if not hold_status_place(p_developer_id, p_at, p_write -> 'credential') then return 'place_taken'; end if;
  end if;
  if not take_quota(p_developer_id, 'active_grants', (p_write ->> 'grantLimit')::bigint, p_at) then return 'over_quota'; end if;
  if not take_quota(p_developer_id, 'token_exchanges', (p_write ->> 'monthLimit')::bigint, p_at) then
    perform release_quota(p_developer_id, 'active_grants', 1);
    return 'over_month';
  end if;

  update auth_requests set status = 'consumed'
    where developer_id = p_developer_id and id = new_grant.auth_request_id;
  perform release_quota(p_developer_id, 'open_requests', 1);
  insert into grants select new_grant.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  insert into refresh_tokens select (jsonb_populate_record(null::refresh_tokens, p_write -> 'refresh')).*;
  if jsonb_typeof(p_write -> 'allocation') = 'object' then
    perform open_allocation(p_developer_id, p_write -> 'allocation');
  end if;
  if jsonb_typeof(p_write -> 'credential') = 'object' then
    perform keep_credential(p_developer_id, p_write -> 'credential');
  end if;
  return null;
end
$$;
