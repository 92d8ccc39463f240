-- Owner: members. Whom an identity provider of the account lets in: the connection, and the SHA-256 of the provider and the
-- subject there. Their address is what the provider says, so it is nobody's and may be there twice.
alter table members
  add column sso_connection_id text,
  add column sso_subject bytea,
  add check ((sso_connection_id is null) = (sso_subject is null));
-- The member whom a provider means.
create unique index members_sso on members (developer_id, sso_connection_id, sso_subject);
drop index members_email;
-- The member who has an address, and none twice.
create unique index members_email on members (developer_id, email) where sso_connection_id is null;

-- Owner: members. The session at the provider, with which one of the console ends.
alter table console_sessions add column sso_session_id text;
alter type console_opening add value 'sso';
