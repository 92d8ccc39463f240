-- Owner: credentials. An upstream that failed is asked again after `refresh_after`: as long as it said, or twice as long
-- as the time before.
alter table vault_credentials
  add column refresh_failures integer not null default 0,
  add column refresh_after timestamptz;
-- Owner: providers. The person at whom the upstream refused the client. The word of one person's answer closes no
-- provider: that takes a second person, and no success in between.
alter table vault_providers add column client_refused_for text;
