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
  if not hold_token(p_developer_id, made.subject_token_id, p_at) then return 'token_ended'; end if;
  insert into tokens select made.*;
  return null;
end
$$;
