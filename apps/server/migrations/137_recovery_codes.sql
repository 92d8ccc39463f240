-- Owner: members. Codes by which a member who has lost their passkeys registers another, each once. Stored as their SHA-256.
create table member_recovery_codes (
  developer_id text not null references developers,
  member_id    text not null,
  code_hash    bytea not null,
  created_at   timestamptz not null,
  primary key (developer_id, member_id, code_hash),
  foreign key (developer_id, member_id) references members on delete cascade
);
-- The code that somebody brings who names no account.
create index member_recovery_codes_hash on member_recovery_codes (code_hash);
-- A session that such a code opened.
alter type console_opening add value 'code';
