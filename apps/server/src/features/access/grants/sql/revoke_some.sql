-- Revokes a part of a tree by the grants' keys. The caller holds lock_delegation and has read the whole tree, because a
-- tree of a hundred thousand grants takes longer than one statement may. Returns how many grants had not expired.
create or replace function revoke_some(p_developer_id text, p_at timestamptz, p_ids text[], p_reason revoked_reason)
  returns bigint language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  fallen text;
  ended  timestamptz;
  living bigint := 0;
begin
  foreach fallen in array p_ids loop
    update grants set status = 'revoked', revoked_at = p_at, revoked_reason = p_reason
      where developer_id = p_developer_id and id = fallen and status <> 'revoked'
      returning expires_at into ended;
    if found and ended > p_at then living := living + 1; end if;
  end loop;
  perform revoke_credentials_of(p_developer_id, p_at, p_ids);
  return living;
end
$$;
