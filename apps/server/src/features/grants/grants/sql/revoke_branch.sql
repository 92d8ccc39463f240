-- Revokes a part of a tree by the grants' keys; those among the roots for the reason that is given, the others with
-- their parents. The caller holds lock_delegation and has read the whole tree, because a tree of a hundred thousand
-- grants takes longer than one statement may. The last part has `livingBefore`, how many grants of the parts before had
-- not expired, and gives the quota back. Returns how many of this part had not expired. Passports about other grants may
-- fall too; it returns their ids.
create or replace function revoke_branch(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns table (living bigint, beside text[])
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  ids    text[] := array(select jsonb_array_elements_text(p_write -> 'ids'));
  reason revoked_reason := p_write ->> 'reason';
  fallen text;
  ended  timestamptz;
begin
  living := 0;
  foreach fallen in array ids loop
    update grants set status = 'revoked', revoked_at = p_at,
      revoked_reason = case when p_write -> 'rootIds' ? fallen then reason else 'parent' end
      where developer_id = p_developer_id and id = fallen and status <> 'revoked'
      returning expires_at into ended;
    if found and ended > p_at then living := living + 1; end if;
  end loop;
  beside := credentials_beside(p_developer_id, ids);
  perform revoke_credentials_of(p_developer_id, p_at, ids);
  if p_write ? 'livingBefore' then
    perform release_quota(p_developer_id, 'active_grants', living + (p_write ->> 'livingBefore')::bigint);
  end if;
  return next;
end
$$;
