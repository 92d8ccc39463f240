-- The authorization details of every grant above a delegated grant. A chain of delegations has eleven grants at most.
create or replace function details_above(p_developer_id text, p_grant_id text)
  returns table (details jsonb) language sql stable as
$$
  with recursive above as (
    select g.parent_grant_id, null::jsonb as details from grants g
      where g.developer_id = p_developer_id and g.id = p_grant_id
    union all
    select parent.parent_grant_id, parent.authorization_details from above join grants parent
      on parent.developer_id = p_developer_id and parent.id = above.parent_grant_id
  )
  select a.details from above a where a.details is not null
$$;
