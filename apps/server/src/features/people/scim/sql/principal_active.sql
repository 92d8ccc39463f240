-- Whether a principal may act: true unless a user stands for the id and is inactive. A developer without SCIM has no
-- rows, so the question costs one look into an index.
create or replace function principal_active(p_developer_id text, p_principal_id text) returns boolean language sql stable as
$$
  select coalesce((
    select p.is_active from scim_principals p
      where p.developer_id = p_developer_id and p.folded = lower(p_principal_id)
        and (p.is_folded or p.principal_id = p_principal_id)
      order by p.is_current desc, p.is_folded limit 1), true)
$$;
