-- Owner: proxy. How requests of agents reach the upstream of a service: `profile` as it was put, in its own order, since
-- the first upstream is the default. A service without a row has no proxy.
create table vault_proxy_profiles (
  developer_id text not null references developers,
  service      text not null,
  version      integer not null check (version > 0),
  proxy_only   boolean not null,
  profile      json not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, service)
);

-- Owner: credentials. The limits of a credential in the proxy, and the service's profile as it was when the credential
-- was stored. A credential from before has no origin, so the proxy sends it nowhere.
alter table vault_credentials add column proxy jsonb;
