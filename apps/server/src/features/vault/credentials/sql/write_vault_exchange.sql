-- The write of POST /v1/vault/credentials/exchange, whose facts are its acts. It checks again what the process read
-- before it opened the credential. Agent, grant and token are locked for share and the credential for its key, until the
-- entry is committed: exchanges do not wait for each other, and an exchange that comes during a revocation or deletion
-- waits for its end and is then refused. So no credential is handed out after the entry of a revocation. The row gets the
-- time of the exchange, once a minute at most, and a data key that the process sealed under the current vault key. It is
-- left as it is while another transaction changes it, since neither is worth a wait.
create or replace function write_vault_exchange(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  wanted text := p_write ->> 'credentialId';
  known  record;
  received_ended boolean;
begin
  perform from agents a
    join grants g on g.developer_id = p_developer_id and g.agent_id = a.id
    join tokens t on t.developer_id = p_developer_id and t.grant_id = g.id
    where a.developer_id = p_developer_id and t.id = p_write ->> 'tokenId' and t.revoked_at is null
      and g.status = 'active' and g.expires_at > p_at and a.status = 'active'
      and principal_active(p_developer_id, g.principal_id)
    for share of a, g, t;
  if not found or not account_runs(p_developer_id) then return 'token_ended'; end if;
  -- A token that a resource got in exchange for the one that it received ends with that one.
  select s.revoked_at is not null into received_ended
    from tokens t join tokens s on s.developer_id = p_developer_id and s.id = t.subject_token_id
    where t.developer_id = p_developer_id and t.id = p_write ->> 'tokenId' for share of s;
  if received_ended then return 'token_ended'; end if;

  select c.version, c.last_exchanged_at into known
    from vault_credentials c where c.developer_id = p_developer_id and c.id = wanted for key share;
  if not found or known.version <> (p_write ->> 'version')::bigint then return 'changed'; end if;

  if known.last_exchanged_at is null or known.last_exchanged_at <= p_at - interval '1 minute'
    or p_write ->> 'dataKey' is not null then
    perform from vault_credentials where developer_id = p_developer_id and id = wanted
      for no key update skip locked;
    if found then
      update vault_credentials set
        last_exchanged_at = p_at,
        data_key = coalesce(p_write ->> 'dataKey', data_key),
        key_id = coalesce(p_write ->> 'keyId', key_id)
        where developer_id = p_developer_id and id = wanted and version = known.version;
    end if;
  end if;
  return null;
end
$$;
