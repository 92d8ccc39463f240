-- Owner: domains. Domains that developers have registered. The token is public once it stands in the DNS. A domain whose
-- record was missing at every check for 72 hours lapses; `missing_since` is the first of these checks.
create type domain_status as enum ('pending', 'verified', 'lapsed');
create table custom_domains (
  developer_id    text not null references developers,
  id              text not null,
  domain          text not null check (octet_length(domain) <= 253),
  token           text not null,
  status          domain_status not null,
  created_at      timestamptz not null,
  verified_at     timestamptz,
  last_checked_at timestamptz,
  missing_since   timestamptz,
  primary key (developer_id, id),
  unique (developer_id, domain),
  check (status = 'pending' or verified_at is not null)
);
-- The daily checks of verified domains, and the end of pending ones, across tenants and oldest first.
create index custom_domains_checked on custom_domains (last_checked_at) where status = 'verified';
create index custom_domains_pending on custom_domains (created_at) where status = 'pending';

-- Owner: domains. Finds the developer of a verified domain, of which there is one.
create table verified_domains (
  domain       text primary key,
  developer_id text not null,
  domain_id    text not null,
  unique (developer_id, domain_id),
  foreign key (developer_id, domain_id) references custom_domains
);
