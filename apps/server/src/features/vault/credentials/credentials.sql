-- exact_use calls this function at the limit of a plan.
create or replace function count_vault_credentials(p_developer_id text, p_at timestamptz)
  returns bigint language sql stable as
$$
  select count(*) from vault_credentials where developer_id = p_developer_id
$$;

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
  received text;
begin
  if not hold_token(p_developer_id, p_write ->> 'tokenId', p_at) then return 'token_ended'; end if;
  -- A token that a resource got in exchange for the one that it received ends with that one.
  select subject_token_id into received from tokens
    where developer_id = p_developer_id and id = p_write ->> 'tokenId';
  if received is not null then
    perform from tokens where developer_id = p_developer_id and id = received and revoked_at is null for share;
    if not found then return 'token_ended'; end if;
  end if;

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
