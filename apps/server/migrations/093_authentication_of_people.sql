-- Owner: sso. When and how the identity provider has authenticated the person; null in sessions of the release before.
alter table sso_sessions add column authenticated_at timestamptz, add column auth_methods text[];

-- Owner: authorization. `authenticated_since` is the earliest sign-in that counts for the request; the others are the
-- sign-in that decided it.
alter table auth_requests
  add column authenticated_since timestamptz,
  add column authenticated_at timestamptz,
  add column auth_methods text[];

-- Owner: grants. The sign-in that led to the grant.
alter table grants add column authenticated_at timestamptz, add column auth_methods text[];

-- Owner: tokens. The sign-in that the token states, in `auth_time` and `amr`.
alter table tokens add column authenticated_at timestamptz, add column auth_methods text[];
