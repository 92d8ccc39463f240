-- Owner: consent. What a person was shown, what they decided, and how they proved who they are, as salted parts. The entry
-- about the approval has the hash of the parts, so a receipt can show some of them and hide others.
create table consent_records (
  developer_id    text not null references developers,
  auth_request_id text not null,
  parts           text[] not null,
  created_at      timestamptz not null,
  primary key (developer_id, auth_request_id),
  foreign key (developer_id, auth_request_id) references auth_requests
);
