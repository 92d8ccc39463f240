-- The active grants of a tree, parents first. A revocation of the roots ends exactly these. Postgres plans once, since
-- planning for each list of roots would take longer than the walk. The settings below fix the order of joins and the
-- use of keys: without them, a plan made while the tables were small compares each grant of an agent with each grant
-- of the tree, which takes far too long for ten thousand grants.
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
