import type { Group } from '../spec.ts';

export const OPERATE: readonly Group[] = [
  {
    name: 'apply',
    isMain: true,
    summary: 'make the account as a file says',
    load: async () => (await import('../../commands/apply.ts')).APPLY,
  },
  {
    name: 'keys',
    isMain: true,
    hasOperations: true,
    summary: 'API keys',
    load: async () => (await import('../../commands/keys.ts')).KEYS,
  },
  {
    name: 'signing-keys',
    hasOperations: true,
    summary: 'the keys that sign tokens, for the operator',
  },
  {
    name: 'developers',
    hasOperations: true,
    summary: 'the accounts of the deployment, for the operator',
  },
  {
    name: 'domains',
    hasOperations: true,
    summary: 'domains of the account',
    load: async () => (await import('../../commands/domains.ts')).DOMAINS,
  },
  {
    name: 'sso',
    isMain: true,
    hasOperations: true,
    summary: 'sign-in at identity providers',
    load: async () => (await import('../../commands/sso.ts')).SSO,
  },
  { name: 'scim', isMain: true, hasOperations: true, summary: 'people from a directory' },
  { name: 'billing', hasOperations: true, summary: 'plans and payments' },
  {
    name: 'api',
    summary: 'call any route',
    load: async () => (await import('../../commands/api.ts')).API,
  },
];
