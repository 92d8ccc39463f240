-- Shares what is known of principals until the commit, for a group of hot writes. See hold_principal.
create or replace function share_principals(p_developer_id text, p_ids text[]) returns void
  language plpgsql set enable_seqscan = off as
$$
begin
  perform from scim_principals
    where developer_id = p_developer_id and folded in (select lower(i) from unnest(p_ids) i)
    order by folded, principal_id, is_folded for share;
end
$$;
