-- The write of POST /v1/vault/credentials/exchange, whose facts are its acts. It checks again what the process read
-- before it opened the credential, so that no credential is handed out after the entry of a revocation: it queues for the
-- chain's head first, as `audit_append` does, and then sees every transaction whose entry comes before its own. A group
-- makes it last, because no other write may wait for rows behind that lock.
-- The row gets the time of the exchange, once a minute at most, and a data key that the process sealed under the current
-- vault key. It is left as it is while another transaction locks it, since neither is worth a wait.
create or replace function write_vault_exchange(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  wanted text := p_write ->> 'credentialId';
  known  record;
begin
  perform set_config('lock_timeout', '0', true); -- patience is for other locks than the chain's
  perform pg_advisory_xact_lock(hashtextextended('audit:' || p_developer_id, 0));
  perform from tokens t
    join grants g on g.developer_id = p_developer_id and g.id = t.grant_id
    join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
    where t.developer_id = p_developer_id and t.id = p_write ->> 'tokenId' and t.revoked_at is null
      and g.status = 'active' and g.expires_at > p_at and a.status = 'active';
  if not found then return 'token_ended'; end if;

  select c.version, c.last_exchanged_at into known
    from vault_credentials c where c.developer_id = p_developer_id and c.id = wanted;
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
