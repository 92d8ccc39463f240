-- The specification names this file. Without a purpose the columns are null, and the hashed line of an entry
-- has no such member.
alter table auth_requests add column purpose text;
alter table grants add column purpose text;
alter table audit_entries add column purpose text;
-- The filter of GET /v1/audit/entries that selects acts with a purpose.
create index audit_entries_purpose on audit_entries (developer_id, purpose, seq) where purpose is not null;
