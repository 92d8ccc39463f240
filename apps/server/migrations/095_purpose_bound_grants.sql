-- The specification names this file. Null, and absent from the hashed line of an entry, where there is no
-- purpose.
alter table auth_requests add column purpose text;
alter table grants add column purpose text;
alter table audit_entries add column purpose text;
