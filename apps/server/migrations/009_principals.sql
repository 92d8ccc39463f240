-- Owner: principals. Live sessions by the `jti` of their token, without its text. The end of a session
-- deletes its row, and the developer's next session deletes expired rows.
create table principal_sessions (
  developer_id text not null references developers,
  id           text not null,
  principal_id text not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id)
);
-- Deletes expired sessions.
create index principal_sessions_expired on principal_sessions (developer_id, expires_at);
