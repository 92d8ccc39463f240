-- Every grant at or below the roots, whatever the state of the grants in between. The cause of a grant is the root
-- whose revocation ends it: itself, or the nearest root above it. A hash of the roots tells whether a child is a root
-- itself, because an agent may have tens of thousands of grants and have delegated each.
create or replace function grant_tree(p_developer_id text, p_root_ids text[])
  returns table (id text, cause_id text) language sql stable as
$$
  with recursive tree as (
    select g.id, g.id as cause_id from grants g
      where g.developer_id = p_developer_id and g.id = any (p_root_ids)
    union
    -- `offset 0` keeps it a look-up for each grant: as a join, it read all grants of the developer without statistics.
    select child.id, tree.cause_id from tree cross join lateral (
        select g.id from grants g where g.developer_id = p_developer_id and g.parent_grant_id = tree.id offset 0) child
      where child.id not in (select unnest(p_root_ids))
  )
  select * from tree
$$;
