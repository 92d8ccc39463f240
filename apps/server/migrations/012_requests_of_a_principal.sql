-- The open requests of a principal, which end when the principal ends everything.
create index auth_requests_open_of_principal on auth_requests (developer_id, principal_id)
  where status in ('pending', 'approved');
