import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: [
    'scim_tokens',
    'scim_token_index',
    'scim_users',
    'scim_user_emails',
    'scim_principals',
    'scim_groups',
    'scim_members',
  ],
  reads: [],
  writes: [],
} as const satisfies TableUse;
