-- The write before a call of the vault proxy, whose entry commits together with it. It checks again what the process read
-- before it opened the credential, and locks it for share until the entry is committed: calls do not wait for each other,
-- and a call that comes during a revocation, a deletion or a change of rules waits for its end. So nothing is sent after
-- the entry of a revocation, or by a credential or rules that were replaced.
create or replace function write_vault_proxy_call(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
begin
  if not hold_token(p_developer_id, p_write ->> 'tokenId', p_at) then return 'token_ended'; end if;

  perform from vault_credentials c
    where c.developer_id = p_developer_id and c.id = p_write ->> 'credentialId'
      and c.version = (p_write ->> 'credentialVersion')::bigint
    for share of c;
  if not found then return 'changed'; end if;
  perform from vault_proxy_profiles p
    where p.developer_id = p_developer_id and p.service = p_write ->> 'service'
      and p.version = (p_write ->> 'profileVersion')::integer
    for share of p;
  if not found then return 'changed'; end if;

  insert into vault_proxy_calls (developer_id, id, agent_id, grant_id, credential_id, service, upstream, method, rule,
      tool, created_at)
    values (p_developer_id, p_write ->> 'callId', p_write ->> 'agentId', p_write ->> 'grantId',
      p_write ->> 'credentialId', p_write ->> 'service', p_write ->> 'upstream', p_write ->> 'method',
      p_write ->> 'rule', p_write ->> 'tool', p_at)
    on conflict (developer_id, id) do nothing; -- the second request of a call whose first was refused by the upstream
  return null;
end
$$;
