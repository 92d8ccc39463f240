-- The active grants of a tree, parents first: those that a revocation of its roots will end. Planned once, since
-- planning for each list of roots would take longer than the walk. The grants are found from the tree, by their keys:
-- left to itself, a plan made while the tables were small compares each grant of an agent with each of the tree,
-- which for ten thousand never ends. So the order of joins is the written order, and nothing is kept in memory to be
-- compared with.
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
