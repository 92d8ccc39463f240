-- Owner: grants. Many delegate at once; whoever revokes waits for them, and they for it. See lock_delegation.
create function share_delegation(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock_shared(hashtextextended('delegation:' || p_developer_id, 0)) $$;

-- Owner: tokens. What POST /v1/grants/delegate has to know: the token that is presented with its grant and agent, the
-- agent that is to get a part of it, and how deep the developer lets its agents go. Reads grants, agents and
-- developers.
create function find_delegable(p_developer_id text, p_token_id text, p_sub_agent_id text)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status,
    sub_agent_did text, sub_agent_status agent_status, sub_agent_scopes text[], max_depth smallint,
    enforce_agent_scopes boolean)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into token from tokens t where t.developer_id = p_developer_id and t.id = p_token_id;
  if not found then return; end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = token.grant_id;
  select a.did, a.status into agent_did, agent_status
    from agents a where a.developer_id = p_developer_id and a.id = held.agent_id;
  select a.did, a.status, a.scopes into sub_agent_did, sub_agent_status, sub_agent_scopes
    from agents a where a.developer_id = p_developer_id and a.id = p_sub_agent_id;
  select d.max_delegation_depth, d.enforce_agent_scopes into max_depth, enforce_agent_scopes
    from developers d where d.id = p_developer_id;
  return next;
end
$$;

-- Owner: tokens. The write of POST /v1/grants/delegate. What was read before signing is checked again, each row
-- shared, so that delegations do not wait for each other and no revocation slips in between; a refusal comes before
-- the first write. Locks are taken as those who end things take them: agents in order of id, then the turn with
-- revocations, then grants. Also writes grants.
create function delegate_grant(p_developer_id text, p_at timestamptz, p_parent_token_id text, p_grant jsonb,
  p_token jsonb, p_refresh jsonb, p_grant_limit bigint, p_acts jsonb) returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  child        grants := jsonb_populate_record(null::grants, p_grant);
  parent_agent text;
  refusal      text;
begin
  select agent_id into parent_agent from grants
    where developer_id = p_developer_id and id = child.parent_grant_id; -- which never changes
  select case
      when max(status) filter (where id = parent_agent) <> 'active' then 'agent_inactive'
      when max(status) filter (where id = child.agent_id) <> 'active'
        then 'sub_agent_' || max(status) filter (where id = child.agent_id)
    end into refusal
    from (select id, status from agents
      where developer_id = p_developer_id and id in (parent_agent, child.agent_id) order by id for share) locked;
  if refusal is not null then return refusal; end if;

  perform share_delegation(p_developer_id);
  select case when status <> 'active' then 'parent_revoked' when expires_at <= p_at then 'parent_expired' end
    into refusal
    from grants where developer_id = p_developer_id and id = child.parent_grant_id for share;
  if refusal is not null then return refusal; end if;
  perform from tokens
    where developer_id = p_developer_id and id = p_parent_token_id and revoked_at is null for share;
  if not found then return 'parent_revoked'; end if;
  if not take_quota(p_developer_id, 'active_grants', p_grant_limit, p_at) then return 'over_quota'; end if;

  insert into grants select child.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_token)).*;
  insert into refresh_tokens select (jsonb_populate_record(null::refresh_tokens, p_refresh)).*;
  perform from record_acts(p_developer_id, p_at, p_acts);
  return null;
end
$$;
