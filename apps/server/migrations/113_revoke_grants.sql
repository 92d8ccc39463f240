-- Owner: grants. Delegating and revoking take turns, developer by developer, so that a tree that was walked
-- cannot grow a branch before it is cut.
create function lock_delegation(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('delegation:' || p_developer_id, 0)) $$;

-- Every grant at or below the roots, whatever the state of those between, each with the root it falls with:
-- itself, or of the roots above it the nearest.
create function grant_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text) language sql stable as
$$
  with recursive tree as (
    select g.id, g.id as cause_id from grants g
      where g.developer_id = p_developer_id and g.id = any (p_root_ids)
    union
    select child.id, tree.cause_id from tree join grants child
      on child.developer_id = p_developer_id and child.parent_grant_id = tree.id
      where child.id <> all (p_root_ids)
  )
  select * from tree
$$;

-- The active grants of a tree, parents first: what a revocation of its roots will end. Planned once and not for
-- each list of roots, which would take longer than the walk; and from parent to child by the index, which no
-- plan made while the tables were small would do.
create function find_active_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text, root_grant_id text, agent_id text, agent_did text, principal_id text,
    purpose text)
  language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off as
$$
begin
  return query
    select g.id, tree.cause_id, g.root_grant_id, g.agent_id, a.did, g.principal_id, g.purpose
    from grant_tree(p_developer_id, p_root_ids) tree
    join grants g on g.developer_id = p_developer_id and g.id = tree.id
    join agents a on a.developer_id = g.developer_id and a.id = g.agent_id
    where g.status = 'active' order by g.delegation_depth, g.id;
end
$$;

-- Revokes the active grants of a tree. The caller has read the tree to say what will happen; when it is
-- another by now (`changed`), nothing happens and the caller reads again. Rows are locked in order of id.
-- The quota gets back only what it still counts: when it counted exactly, it left out what had run out.
create function revoke_tree(p_developer_id text, p_at timestamptz, p_root_ids text[], p_expected_ids text[],
  p_reason revoked_reason) returns text
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off as
$$
declare
  active_ids   text[];
  expected_ids text[] := (select coalesce(array_agg(id order by id), '{}') from unnest(p_expected_ids) id);
  living       bigint;
begin
  perform lock_delegation(p_developer_id);
  select coalesce(array_agg(id order by id), '{}'), count(*) filter (where expires_at > p_at)
    into active_ids, living from (
    select g.id, g.expires_at from grants g
      where g.developer_id = p_developer_id and g.status = 'active'
        and g.id in (select tree.id from grant_tree(p_developer_id, p_root_ids) tree)
      order by g.id for update
  ) locked;
  if active_ids <> expected_ids then return 'changed'; end if;

  update grants set status = 'revoked', revoked_at = p_at,
      revoked_reason = case when id = any (p_root_ids) then p_reason else 'parent' end
    where developer_id = p_developer_id and id = any (active_ids);
  perform release_quota(p_developer_id, 'active_grants', living);
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
