-- Whether a grant token is live, with its grant, agent, principal and account, and stays so until the commit. Each row is
-- found by its key: as one join, Postgres began at the developer's active grants while it had no statistics. Locks are
-- taken in the order of write_redemption, and a row is judged once it is locked.
create or replace function hold_token(p_developer_id text, p_token_id text, p_at timestamptz) returns boolean
  language plpgsql set enable_seqscan = off as
$$
declare
  token tokens;
  held  grants;
begin
  select * into token from tokens where developer_id = p_developer_id and id = p_token_id;
  select * into held from grants where developer_id = p_developer_id and id = token.grant_id;
  perform from agents where developer_id = p_developer_id and id = held.agent_id and status = 'active' for share;
  if not found then return false; end if;
  select * into held from grants where developer_id = p_developer_id and id = token.grant_id for share;
  if held.status <> 'active' or held.expires_at <= p_at then return false; end if;
  select * into token from tokens where developer_id = p_developer_id and id = p_token_id for share;
  if token.revoked_at is not null or token.expires_at <= p_at then return false; end if;
  return principal_active(p_developer_id, held.principal_id) and account_runs(p_developer_id);
end
$$;
