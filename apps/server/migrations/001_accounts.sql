-- Ids are a prefix and a ULID, so they sort by time, to the millisecond. The tenant comes first in every
-- key: a list pages on its primary key, and the schema can be sharded by developer.
--
-- Indexes. Where Postgres takes a table for nearly empty (it has no statistics, or was analysed before it was filled), all
-- indexes that begin with the developer cost the same, and it looks a row up by its key in the newest one, which reads all
-- rows of the developer. The look-ups of foreign keys do so too, and no text of a statement changes that. So each index
-- beside the primary key demands that its second column is not null: a search by that column implies this, and a look-up
-- by the key does not. Without the demand are indexes that statements name by their columns (`on conflict`), and
-- `policies_order`, which serves the order of all rows of a developer.
--
-- Foreign keys. Each inserted row looks up and locks the row of each foreign key, which takes a fifth of the time of an
-- audit entry with its event. So hot tables refer to no developer: their rows refer to an agent, a grant or a request of
-- the same developer, or are written under the lock of the developer's chain head or after the developer's row was read.
--
-- Vacuum. By default Postgres analyzes a table when a tenth of its rows has changed, and vacuums it when a fifth has.
-- On tables of millions of rows, that is after hundreds of thousands of writes: until then an account that grows is missing
-- from the statistics, and each look-up of a grant or a counter walks over the dead versions of its row. So the tables that
-- every call writes are analysed at 2 % and vacuumed at 5 %. The small ones, of which one row changes all the time, are
-- vacuumed at a fixed number of dead rows.

-- Owner: developers. The tenant itself. An e-mail address is only a claim until it is verified, so it is not unique
-- here. `audit_private_keys` names top-level members of audit metadata that principals do not see.
-- `max_delegation_depth` says how deep the developer's agents may delegate; null leaves it to the operator.
create type developer_mode as enum ('live', 'sandbox');
create type plan as enum ('free', 'pro', 'enterprise');
create type consent_mode as enum ('developer', 'email', 'sso', 'passkey');
-- With `warn`, `POST /v1/enforce` allows a call that exceeds a cap, and its answer warns of it.
create type caps_mode as enum ('enforce', 'warn');
-- The effect of a manifest that has become wider than the one under which a person agreed.
create type manifest_pinning as enum ('off', 'warn', 'enforce');
create table developers (
  id                        text primary key,
  name                      text not null,
  email                     text,
  email_verified            boolean not null,
  mode                      developer_mode not null,
  plan                      plan not null,
  consent_mode              consent_mode not null,
  consent_keys              jsonb not null,
  scope_descriptions        jsonb not null,
  redirect_uris             text[] not null,
  enforce_agent_scopes      boolean not null,
  audit_private_keys        text[] not null default '{}',
  max_delegation_depth      smallint check (max_delegation_depth between 1 and 10),
  is_seeded                 boolean not null,
  created_at                timestamptz not null,
  updated_at                timestamptz not null,
  -- An account that its developer closed. Its rows are erased 30 days later, but for the audit chain, whose signed
  -- checkpoints therefore outlive the developer's row.
  closed_at                 timestamptz,
  caps_mode                 caps_mode not null default 'enforce',
  manifest_pinning          manifest_pinning not null default 'warn',
  -- The page at which a developer's application signs a person in who connects an account.
  connect_login_url         text,
  -- Whether a policy that lists scopes may decide in a principal's place.
  policy_auto_approval      boolean not null default false,
  -- An account whose agents its developer has stopped, all at once: since when, and why. No agent and no grant is written,
  -- so a resumed account has them as they are by then.
  stopped_at                timestamptz,
  stop_reason               text,
  -- Days after which the personal content of entries is erased; null for never.
  audit_retention_days      integer check (audit_retention_days between 30 and 3650),
  -- Shown by authenticators in place of the operator's name.
  fido_rp_name              text,
  four_eyes_assurance       text not null default 'dual' check (four_eyes_assurance in ('dual', 'sso')),
  relax_four_eyes           boolean not null default false,
  -- When a consent has to be renewed: after so many days, and after a change of its agent.
  reconsent_after_days      smallint check (reconsent_after_days between 1 and 365),
  reconsent_on_agent_change boolean not null default false,
  -- How an account is shown on the pages for people. The hash of its picture is the end of the picture's address.
  accent_color              text check (accent_color ~ '^#[0-9a-f]{6}$'),
  logo_hash                 text check (logo_hash ~ '^[0-9a-f]{64}$'),
  -- Whether a second member has to agree to what weakens the enforcement of a live account.
  require_two_for_loosening boolean not null default false
);
-- Start-up asks for the seeded developer of a mode. A mode has at most one, even when many processes start at
-- once.
create unique index developers_seeded on developers (mode) where is_seeded;
-- Finds the accounts whose rows are to be erased, across tenants and the longest closed first.
create index developers_closed on developers (closed_at) where closed_at is not null;
-- Finds the accounts whose entries age, across tenants.
create index developers_retention on developers (id) where audit_retention_days is not null;

-- Owner: developers. A `runtime` key does the work of an agent's host; only a `full` key may change an
-- account.
create type key_role as enum ('runtime', 'full');
create table api_keys (
  developer_id text not null references developers,
  id           text not null,
  name         text not null,
  role         key_role not null,
  prefix       text not null,
  created_at   timestamptz not null,
  last_used_at timestamptz,
  expires_at   timestamptz,
  replaced_at  timestamptz,
  revoked_at   timestamptz,
  -- A key with `agent_ids` is bound to these agents. A key that replaces another by rotation belongs to the same lineage,
  -- one generation later. The first key of a lineage gives it its id, and needs none of its own.
  agent_ids    text[] check (cardinality(agent_ids) between 1 and 50),
  lineage_id   text,
  generation   integer not null default 0,
  primary key (developer_id, id),
  check (agent_ids is null or role = 'runtime')
);

-- Owner: developers. The one look-up without a tenant, because it finds the tenant. The key itself is never
-- stored, only its SHA-256.
create table api_key_index (
  hash         bytea primary key check (octet_length(hash) = 32),
  developer_id text not null,
  key_id       text not null,
  foreign key (developer_id, key_id) references api_keys
);

-- Owner: developers. The picture of an account, apart, so that no read of the account carries it.
create table logos (
  developer_id text primary key references developers,
  png          bytea not null check (octet_length(png) <= 131072)
);

-- Owner: agents. A revoked agent keeps its row, because audit entries and grants name it.
create type agent_status as enum ('active', 'suspended', 'revoked');
create table agents (
  developer_id   text not null references developers,
  id             text not null,
  did            text not null,
  name           text not null,
  description    text not null,
  scopes         text[] not null,
  status         agent_status not null,
  public_key_jwk jsonb,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  -- The agent of an OAuth client that describes itself. It is proposed from the client's first request on, and becomes
  -- an agent of the developer at the first approval.
  client_id      text,
  is_proposed    boolean not null default false,
  primary key (developer_id, id),
  check (not is_proposed or (client_id is not null and status = 'suspended'))
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- The default list. It must not slow down as revoked agents pile up.
create index agents_not_revoked on agents (developer_id, id) where status <> 'revoked';
-- The agent of a client, of which a developer has one at a time.
create unique index agents_client on agents (developer_id, client_id)
  where client_id is not null and status <> 'revoked';
-- The list of a status: among 100,000 active agents, the few suspended ones are found at once.
create index agents_of_status on agents (developer_id, status, id) where status is not null;
-- GET /v1/agents by the beginning of a name, whatever its case: each status is a range in the order of names.
create index agents_named on agents (developer_id, status, (lower(name) collate "C"), id) where status is not null;

-- Owner: agents. A request for a DID document names only the agent's id. This table finds the tenant.
create table agent_index (
  agent_id     text primary key,
  developer_id text not null,
  foreign key (developer_id, agent_id) references agents
);

-- Owner: emails. Links that were mailed to verify an address. A developer has one pending link at most, and the
-- link that verified its address. `asked_by` is the actor that asked for the link.
create table email_verifications (
  developer_id text not null references developers,
  id           text not null,
  email        text not null,
  asked_by     text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  verified_at  timestamptz,
  primary key (developer_id, id)
);

-- Owner: emails. A link names no tenant. This table finds the tenant. The token itself is never stored, only its
-- SHA-256.
create table email_verification_index (
  hash            bytea primary key check (octet_length(hash) = 32),
  developer_id    text not null,
  verification_id text not null,
  foreign key (developer_id, verification_id) references email_verifications on delete cascade
);
create unique index email_verification_index_developer_id_verification_id_key
  on email_verification_index (developer_id, verification_id) where verification_id is not null;

-- Owner: emails. The owners of verified addresses. An address has one owner, and an account one verified address.
create table verified_emails (
  email        text primary key,
  developer_id text not null unique references developers
);

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
  foreign key (developer_id, domain_id) references custom_domains
);
create unique index verified_domains_developer_id_domain_id_key on verified_domains (developer_id, domain_id)
  where domain_id is not null;
