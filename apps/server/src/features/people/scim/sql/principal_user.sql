-- The user who stands for a principal id: the one who has it now, before the ones who had it.
create or replace function principal_user(p_developer_id text, p_principal_id text) returns text language sql stable as
$$
  select p.user_id from scim_principals p
    where p.developer_id = p_developer_id and p.folded = lower(p_principal_id)
      and (p.is_folded or p.principal_id = p_principal_id)
    order by p.is_current desc, p.is_folded limit 1
$$;
