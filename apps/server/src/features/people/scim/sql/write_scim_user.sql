-- Adds a user with the addresses and ids by which the user is found, in a turn of its own. Another user who had one of the
-- ids before loses it. The caller records the act. Returns `taken` when another user has one of the ids now.
create or replace function write_scim_user(
  p_developer_id text, p_user jsonb, p_addresses text[], p_ids text[], p_folds boolean[]
) returns text language plpgsql set enable_seqscan = off as
$$
declare
  v_id text := p_user ->> 'id';
  v_active boolean := (p_user ->> 'active')::boolean;
  v_at timestamptz := (p_user ->> 'at')::timestamptz;
begin
  perform lock_directory(p_developer_id);
  if exists (
    select from unnest(p_ids, p_folds) as v (id, is_folded)
      join scim_principals p on p.developer_id = p_developer_id and p.folded = lower(v.id)
        and (p.is_folded or v.is_folded or p.principal_id = v.id)
      where p.is_current
  ) then
    return 'taken';
  end if;
  insert into scim_users
      (developer_id, id, user_name, external_id, display_name, active, attributes, version, created_at, updated_at)
    values (p_developer_id, v_id, p_user ->> 'userName', p_user ->> 'externalId', p_user ->> 'displayName', v_active,
      p_user -> 'attributes', 1, v_at, v_at);
  insert into scim_user_emails (developer_id, address, user_id)
    select distinct p_developer_id, lower(a.address), v_id from unnest(p_addresses) as a (address);
  delete from scim_principals p using unnest(p_ids, p_folds) as v (id, is_folded)
    where p.developer_id = p_developer_id and p.folded = lower(v.id)
      and v.is_folded and not p.is_folded and not p.is_current;
  insert into scim_principals (developer_id, folded, principal_id, is_folded, user_id, is_current, is_active)
    select distinct p_developer_id, lower(v.id), case when v.is_folded then lower(v.id) else v.id end, v.is_folded,
      v_id, true, v_active
    from unnest(p_ids, p_folds) as v (id, is_folded)
    on conflict (developer_id, folded, principal_id, is_folded)
      do update set user_id = excluded.user_id, is_current = true, is_active = excluded.is_active;
  return null;
end
$$;
