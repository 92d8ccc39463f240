-- Owner: tokens. What POST /v1/token/refresh has to know: a refresh token with its grant and agent. Reads grants
-- and agents.
create function find_refreshable(p_developer_id text, p_refresh_id text)
  returns table (held grants, refresh refresh_tokens, agent_did text, agent_status agent_status)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into refresh from refresh_tokens r where r.developer_id = p_developer_id and r.id = p_refresh_id;
  if not found then return; end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = refresh.grant_id;
  select a.did, a.status into agent_did, agent_status
    from agents a where a.developer_id = p_developer_id and a.id = held.agent_id;
  return next;
end
$$;

-- Owner: tokens. The write of POST /v1/token/refresh. The grant's row is shared: refreshes of one grant do not
-- wait for each other, a revocation waits for them, and those that come after it find no active grant.
create function rotate_refresh_token(p_developer_id text, p_at timestamptz, p_token jsonb, p_refresh jsonb,
  p_acts jsonb) returns text language plpgsql set enable_seqscan = off as
$$
declare
  successor refresh_tokens := jsonb_populate_record(null::refresh_tokens, p_refresh);
  agent     text;
begin
  select agent_id into agent from grants where developer_id = p_developer_id and id = successor.grant_id;
  perform from agents where developer_id = p_developer_id and id = agent and status = 'active' for share;
  if not found then return 'agent_inactive'; end if;
  perform from grants where developer_id = p_developer_id and id = successor.grant_id
    and status = 'active' and expires_at > p_at for share;
  if not found then return 'grant_revoked'; end if;
  update refresh_tokens set spent_at = p_at
    where developer_id = p_developer_id and id = successor.predecessor_id and spent_at is null;
  if not found then return 'refresh_reused'; end if;

  insert into refresh_tokens select successor.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_token)).*;
  perform from record_acts(p_developer_id, p_at, p_acts);
  return null;
end
$$;
