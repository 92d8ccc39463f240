-- Owner: authorization. What came to a request after its purpose, so it stands here: columns keep their order.
alter table auth_requests
  -- The grant that ends when the request becomes one. No foreign key: a closed account's grants are erased before its
  -- requests.
  add column replaces_grant_id text,
  -- Null in requests of the release before, which have only `budget_amount`. Later ones have both, and round that up.
  add column budget_units numeric(21) check (budget_units > 0),
  -- The words under which a person approved, by scope: `{"title", "sha256"}`, of 8 KiB at most. Null where the page had
  -- none to show.
  add column scope_words jsonb;
-- Finds the grants that have taken the place of a grant (`find_replaced`).
create index auth_requests_replacing on auth_requests (developer_id, replaces_grant_id)
  where replaces_grant_id is not null;

-- Owner: consent. How many codes the consent page mailed for a developer on a day (UTC): the last day on which it mailed
-- one. Two days of one developer are never needed at once.
create table consent_mails (
  developer_id text primary key references developers,
  day          date not null,
  mails        integer not null
);

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
