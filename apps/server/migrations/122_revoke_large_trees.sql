-- Owner: grants. As before, but whether a child is a root itself is asked of a hash of the roots, and not of each in
-- turn: an agent may have tens of thousands of grants, and have passed on each.
create or replace function grant_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text) language sql stable as
$$
  with recursive tree as (
    select g.id, g.id as cause_id from grants g
      where g.developer_id = p_developer_id and g.id = any (p_root_ids)
    union
    select child.id, tree.cause_id from tree join grants child
      on child.developer_id = p_developer_id and child.parent_grant_id = tree.id
      where child.id not in (select unnest(p_root_ids))
  )
  select * from tree
$$;

-- Owner: grants. As before, but for how the grants of a tree are found: from the tree, one by one, by
-- their keys. Left to itself, a plan made while the tables were small begins with the grants of an agent, or with those
-- that are active, and compares each with each of the tree: for ten thousand, longer than anybody waits. So the order
-- of joins is the one that is written, and nothing is kept in memory to be compared with.
create or replace function find_active_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text, root_grant_id text, agent_id text, agent_did text, principal_id text,
    purpose text)
  language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
  set join_collapse_limit = 1 as
$$
begin
  return query
    select g.id, tree.cause_id, g.root_grant_id, g.agent_id, a.did, g.principal_id, g.purpose
    from grant_tree(p_developer_id, p_root_ids) tree
    join grants g on g.developer_id = p_developer_id and g.id = tree.id
    join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
    where g.status <> 'revoked' order by g.delegation_depth, g.id;
end
$$;

-- Owner: grants. What is a root is asked once for all of them, and not of each by looking through the others: all grants
-- of an agent are roots, or of a person.
create or replace function revoke_tree(p_developer_id text, p_at timestamptz, p_root_ids text[],
  p_expected_ids text[], p_reason revoked_reason) returns text
  language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
  set join_collapse_limit = 1 as
$$
declare
  active_ids   text[];
  expected_ids text[] := (select coalesce(array_agg(id order by id), '{}') from unnest(p_expected_ids) id);
  living       bigint;
  fallen       text;
begin
  perform lock_delegation(p_developer_id);
  select coalesce(array_agg(id order by id), '{}'), count(*) filter (where expires_at > p_at)
    into active_ids, living from (
    select g.id, g.expires_at
      from (select t.id from grant_tree(p_developer_id, p_root_ids) t order by t.id) tree
      join grants g on g.developer_id = p_developer_id and g.id = tree.id
      where g.status <> 'revoked' order by g.id for update of g
  ) locked;
  if active_ids <> expected_ids then return 'changed'; end if;

  for fallen in select unnest(active_ids) intersect select unnest(p_root_ids) loop
    update grants set status = 'revoked', revoked_at = p_at, revoked_reason = p_reason
      where developer_id = p_developer_id and id = fallen;
  end loop;
  for fallen in select unnest(active_ids) except select unnest(p_root_ids) loop
    update grants set status = 'revoked', revoked_at = p_at, revoked_reason = 'parent'
      where developer_id = p_developer_id and id = fallen;
  end loop;
  perform release_quota(p_developer_id, 'active_grants', living);
  return null;
end
$$;

-- Owner: grants. Some of a tree, one by one by their keys, for whoever holds lock_delegation and knows all of it: a
-- tree of a hundred thousand takes longer than anybody waits for one statement. Returns how many of them lived.
create function revoke_some(p_developer_id text, p_at timestamptz, p_ids text[], p_reason revoked_reason)
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
  return living;
end
$$;
