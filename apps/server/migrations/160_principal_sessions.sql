-- Owner: developers. Top-level members of audit metadata that the people concerned are not shown.
alter table developers add column audit_private_keys text[] not null default '{}';

-- Owner: principals. Sessions that go on, by the `jti` of their token, whose text is nowhere. One that was ended
-- is no longer here; what ran out is swept out by the next session of its developer.
create table principal_sessions (
  developer_id text not null references developers,
  id           text not null,
  principal_id text not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id)
);
create index principal_sessions_expired on principal_sessions (developer_id, expires_at);
