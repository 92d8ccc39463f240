-- Owner: grants. Delegating and revoking take turns, developer by developer, so that a tree that was walked
-- cannot grow a branch before it is cut.
create function lock_delegation(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('delegation:' || p_developer_id, 0)) $$;

-- Every grant at or below the roots, whatever the state of those between.
create function grant_tree(p_developer_id text, p_root_ids text[]) returns setof grants language sql stable as
$$
  with recursive tree as (
    select g.id from grants g where g.developer_id = p_developer_id and g.id = any (p_root_ids)
    union
    select child.id from tree join grants child
      on child.developer_id = p_developer_id and child.parent_grant_id = tree.id
  )
  select g.* from tree join grants g on g.developer_id = p_developer_id and g.id = tree.id
$$;

-- Revokes the active grants of a tree. The caller has read the tree to say what will happen; when it is
-- another by now (`changed`), nothing happens and the caller reads again. Rows are locked in order of id.
create function revoke_tree(p_developer_id text, p_at timestamptz, p_root_ids text[], p_expected_ids text[],
  p_reason revoked_reason) returns text language plpgsql as
$$
declare active_ids text[];
begin
  perform lock_delegation(p_developer_id);
  select coalesce(array_agg(id order by id), '{}') into active_ids from (
    select g.id from grants g
      where g.developer_id = p_developer_id and g.status = 'active'
        and g.id in (select id from grant_tree(p_developer_id, p_root_ids))
      order by g.id for update
  ) locked;
  if active_ids is distinct from p_expected_ids then return 'changed'; end if;

  update grants set status = 'revoked', revoked_at = p_at,
      revoked_reason = case when id = any (p_root_ids) then p_reason else 'parent' end
    where developer_id = p_developer_id and id = any (active_ids);
  perform release_quota(p_developer_id, 'active_grants', cardinality(active_ids));
  return null;
end
$$;

-- The write of every revocation that is a transaction by itself.
create function revoke_grants(p_developer_id text, p_at timestamptz, p_root_ids text[], p_expected_ids text[],
  p_reason revoked_reason, p_acts jsonb) returns text language plpgsql as
$$
begin
  if revoke_tree(p_developer_id, p_at, p_root_ids, p_expected_ids, p_reason) = 'changed' then
    return 'changed';
  end if;
  perform from record_acts(p_developer_id, p_at, p_acts);
  return null;
end
$$;
