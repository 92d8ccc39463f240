-- Called by exact_use, where a plan's limit is met.
create or replace function count_proxy_profiles(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from vault_proxy_profiles where developer_id = p_developer_id
$$;

-- Whether a grant token may still call: before each call, and again and again while a stream of events is open.
create or replace function is_proxy_token_live(p_developer_id text, p_token_id text, p_at timestamptz)
  returns boolean
  language plpgsql stable set enable_seqscan = off as
$$
begin
  -- `offset 0` keeps the order of the look-ups. See use_token.
  perform from (select * from tokens where developer_id = p_developer_id and id = p_token_id offset 0) t
      cross join lateral (select * from grants where developer_id = p_developer_id and id = t.grant_id offset 0) g
      cross join lateral (select status from agents where developer_id = p_developer_id and id = g.agent_id offset 0) a
      cross join lateral (select stopped_at from developers where id = p_developer_id offset 0) d
    where t.revoked_at is null and t.expires_at > p_at and g.status = 'active' and g.expires_at > p_at
      and standing(p_developer_id, a.status, d.stopped_at) = 'active'
      and principal_active(p_developer_id, g.principal_id);
  return found;
end
$$;

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
