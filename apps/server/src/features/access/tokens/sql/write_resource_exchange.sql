-- The write of a token that a resource gets for the vault. Agent, grant and the token that the resource received are locked
-- for share and looked at again: a revocation that commits first leaves nothing to exchange, and one that comes later ends
-- this token too, because its uses read the received token.
create or replace function write_resource_exchange(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  made tokens := jsonb_populate_record(null::tokens, p_write -> 'token');
begin
  perform from agents a
    join grants g on g.developer_id = p_developer_id and g.agent_id = a.id
    join tokens t on t.developer_id = p_developer_id and t.grant_id = g.id
    where a.developer_id = p_developer_id and t.id = made.subject_token_id and g.id = made.grant_id
      and t.revoked_at is null and t.expires_at > p_at
      and g.status = 'active' and g.expires_at > p_at and a.status = 'active'
      and principal_active(p_developer_id, g.principal_id)
    for share of a, g, t;
  if not found or not account_runs(p_developer_id) then return 'token_ended'; end if;
  insert into tokens select made.*;
  return null;
end
$$;
