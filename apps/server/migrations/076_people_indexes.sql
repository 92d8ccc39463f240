-- Sessions and assertions that ran out, which each login forgets.
create index sso_sessions_expired on sso_sessions (developer_id, expires_at);
create index sso_assertions_expired on sso_assertions (developer_id, expires_at);
-- The sessions and credentials of a person who leaves, under each id in any case.
create index principal_sessions_folded on principal_sessions (developer_id, lower(principal_id));
create index vault_credentials_principal_folded on vault_credentials (developer_id, lower(principal_id));
-- Setup links that are old enough to be forgotten.
create index setup_links_expired on setup_links (developer_id, expires_at);
-- Setup links that an administrator can work with.
create index setup_links_running on setup_links (developer_id, expires_at) where finished_at is null;
