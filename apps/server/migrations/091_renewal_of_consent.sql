-- When a consent has to be renewed: after so many days, and after a change of its agent.
alter table developers
  add column reconsent_after_days      smallint check (reconsent_after_days between 1 and 365),
  add column reconsent_on_agent_change boolean not null default false;

-- The agent as it was when a person approved on the consent page, `{"name", "description", "publicKeyJwk"}`. Null where
-- nobody saw the page.
alter table auth_requests add column shown_agent jsonb;

create type renewal_cause as enum ('age', 'agent_changed', 'manifest_changed');
-- Owner: grants. The grants whose consent has to be renewed, once for each cause, since each is told of once.
create table grant_renewals (
  developer_id text not null references developers,
  grant_id     text not null,
  cause        renewal_cause not null,
  found_at     timestamptz not null,
  primary key (developer_id, grant_id, cause)
);
