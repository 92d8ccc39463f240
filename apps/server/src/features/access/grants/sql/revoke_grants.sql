-- The write of every revocation that is a transaction by itself.
create or replace function revoke_grants(p_developer_id text, p_at timestamptz, p_root_ids text[], p_expected_ids text[],
  p_reason revoked_reason, p_acts jsonb) returns text language plpgsql as
$$
begin
  if revoke_tree(p_developer_id, p_at, p_root_ids, p_expected_ids, p_reason) = 'changed' then
    return 'changed';
  end if;
  perform from record_acts(p_developer_id, p_at, p_acts);
  return null;
end
$$;
