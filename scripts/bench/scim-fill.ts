import type pg from 'pg';
import type { Tenant } from './tenants.ts';

/** Copies people into a directory, as many imports would leave them. */
export async function fillPeople(db: pg.Client, { developerId }: Tenant, count: number): Promise<void> {
  await db.query(
    `insert into scim_users (developer_id, id, user_name, external_id, display_name, active, attributes, version, created_at, updated_at)
     select $1, 'scimuser_01JZZZZZZZ' || lpad(n::text, 16, '0'), 'person-' || n || '@acme.test', 'person-' || n, 'Person ' || n, n % 50 > 0,
       jsonb_build_object('userName', 'person-' || n || '@acme.test', 'externalId', 'person-' || n, 'displayName', 'Person ' || n,
         'active', n % 50 > 0, 'title', 'Engineer ' || n, 'name', jsonb_build_object('givenName', 'Ada', 'familyName', 'King ' || n),
         'emails', jsonb_build_array(jsonb_build_object('value', 'person-' || n || '@acme.test', 'type', 'work', 'primary', true))),
       1, '2026-01-01', '2026-01-01'
     from generate_series(1, $2::int) n`,
    [developerId, count],
  );
  await db.query(
    `insert into scim_user_emails select developer_id, lower(user_name), id from scim_users
     where developer_id = $1 and user_name like 'person-%'`,
    [developerId],
  );
  await db.query(
    `insert into scim_principals (developer_id, folded, principal_id, is_folded, user_id, is_current, is_active)
     select developer_id, lower(v.id), v.id, v.is_folded, u.id, true, active
     from scim_users u cross join lateral (values (u.id, false), (external_id, false), (lower(user_name), true)) v (id, is_folded)
     where developer_id = $1 and user_name like 'person-%'`,
    [developerId],
  );
  await db.query('analyze scim_users, scim_user_emails, scim_principals');
}
