-- Owner: authorization. The grant that ends when the request becomes one. No foreign key: a closed account's grants are
-- erased before its requests.
alter table auth_requests add column replaces_grant_id text;
-- Finds the grants that have taken the place of a grant (`find_replaced`).
create index auth_requests_replacing on auth_requests (developer_id, replaces_grant_id)
  where replaces_grant_id is not null;
