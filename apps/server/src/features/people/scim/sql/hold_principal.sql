-- As principal_active, and stays so until the commit: a deactivation waits, and then sees what was written. Writes do not
-- wait for each other.
create or replace function hold_principal(p_developer_id text, p_principal_id text) returns boolean
  language plpgsql set enable_seqscan = off as
$$
begin
  perform from scim_principals
    where developer_id = p_developer_id and folded = lower(p_principal_id) for share;
  if not found then return true; end if; -- no user stands for the id: the answer of most requests
  return principal_active(p_developer_id, p_principal_id);
end
$$;
