-- Owner: principals. Sessions that go on, by the `jti` of their token, whose text is nowhere. A session that was ended
-- is no longer here; an expired one is deleted by the next session of its developer.
create table principal_sessions (
  developer_id text not null references developers,
  id           text not null,
  principal_id text not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id)
);
-- Deleting the expired ones.
create index principal_sessions_expired on principal_sessions (developer_id, expires_at);
