create or replace function tree_of(p_developer_id text) returns table (id text) language sql stable as
$$
  with recursive tree as (
    select t.id from things t where t.developer_id = p_developer_id
    union select child.id from tree join things child on child.parent_id = tree.id
  ) select * from tree
$$;
