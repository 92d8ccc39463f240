-- GET /v1/principals by the beginning of an id, in any case: the indexes by which a person who leaves is found, in the order
-- of bytes, which every collation of a database can search by prefix.
drop index grants_principal_folded;
create index grants_principal_folded on grants (developer_id, lower(principal_id) text_pattern_ops)
  where status = 'active' and lower(principal_id) is not null;
drop index vault_credentials_principal_folded;
create index vault_credentials_principal_folded on vault_credentials (developer_id, lower(principal_id) text_pattern_ops)
  where lower(principal_id) is not null;
drop index passkeys_owner_folded;
create index passkeys_owner_folded on passkeys (developer_id, lower(owner_id) text_pattern_ops)
  where lower(owner_id) is not null;
create index scim_principals_prefix on scim_principals (developer_id, folded text_pattern_ops)
  where folded is not null and is_current;
