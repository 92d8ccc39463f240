import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    scim_tokens: { most: 10 },
    scim_token_index: { of: 'scim_tokens' },
    scim_users: { quota: 'scim_people', kib: 64 },
    scim_user_emails: { of: 'scim_users', each: 20, kib: 0.5 },
    scim_principals: { of: 'scim_users', each: 4, kib: 0.5 },
    scim_groups: { quota: 'scim_groups', kib: 2 },
    scim_members: { of: 'scim_groups', each: 'scim_people', kib: 0.25 },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
