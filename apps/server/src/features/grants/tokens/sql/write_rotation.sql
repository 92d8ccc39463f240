-- The write of POST /v1/token/refresh. The grant's row is locked for share: refreshes of one grant do not wait for each
-- other, a revocation waits for them, and a refresh after the revocation finds no active grant.
create or replace function write_rotation(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql set enable_seqscan = off as
$$
declare
  successor refresh_tokens := jsonb_populate_record(null::refresh_tokens, p_write -> 'refresh');
  agent     text;
  principal text;
begin
  select agent_id, principal_id into agent, principal from grants where developer_id = p_developer_id and id = successor.grant_id;
  perform from agents where developer_id = p_developer_id and id = agent and status = 'active' for share;
  if not found or not account_runs(p_developer_id) then return 'agent_inactive'; end if;
  if not hold_principal(p_developer_id, principal) then return 'principal_inactive'; end if;
  perform from (select status, expires_at from grants
      where developer_id = p_developer_id and id = successor.grant_id offset 0 for share) held
    where status = 'active' and expires_at > p_at; -- outside, so that the key alone finds the row
  if not found then return 'grant_revoked'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policiesVersion') then return 'policies_changed'; end if;
  update refresh_tokens set spent_at = p_at
    where developer_id = p_developer_id and id = successor.predecessor_id and spent_at is null;
  if not found then return 'refresh_reused'; end if;

  insert into refresh_tokens select successor.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_write -> 'token')).*;
  return null;
end
$$;
