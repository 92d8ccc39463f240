import type { Group } from '../spec.ts';

export const AUTHORIZE: readonly Group[] = [
  {
    name: 'agents',
    isMain: true,
    hasOperations: true,
    summary: 'programs that act for people',
    load: async () => (await import('../../commands/agents.ts')).AGENTS,
  },
  {
    name: 'authorize',
    isMain: true,
    summary: 'ask a person for a grant',
    load: async () => (await import('../../commands/authorize.ts')).AUTHORIZE,
  },
  {
    name: 'authorizations',
    hasOperations: true,
    summary: 'requests that people decide about',
  },
  {
    name: 'grants',
    isMain: true,
    hasOperations: true,
    summary: 'what people have allowed: list, delegate, revoke',
    load: async () => (await import('../../commands/grants.ts')).GRANTS,
  },
  {
    name: 'tokens',
    isMain: true,
    hasOperations: true,
    summary: 'exchange, refresh, introspect, revoke',
    load: async () => (await import('../../commands/tokens.ts')).TOKENS,
  },
  {
    name: 'verify',
    isMain: true,
    summary: 'verify a grant token offline',
    load: async () => (await import('../../commands/verify.ts')).VERIFY,
  },
  {
    name: 'decode',
    summary: 'show what a token says',
    load: async () => (await import('../../commands/decode.ts')).DECODE,
  },
  {
    name: 'token',
    summary: 'inspect a token',
    load: async () => (await import('../../commands/decode.ts')).INSPECT,
  },
  { name: 'principals', hasOperations: true, summary: 'the proved addresses of people' },
  { name: 'principal-sessions', hasOperations: true, summary: 'sessions of people' },
  {
    name: 'principal',
    hasOperations: true,
    summary: "the calls of a person's session",
  },
  { name: 'webauthn', hasOperations: true, summary: 'passkeys of people' },
  { name: 'credentials', hasOperations: true, summary: 'verifiable credentials' },
  { name: 'passports', hasOperations: true, summary: 'passports of agents' },
  {
    name: 'wallet-authorizations',
    hasOperations: true,
    summary: 'payment authorizations for wallets',
  },
  {
    name: 'did',
    summary: 'resolve DIDs',
    load: async () => (await import('../../commands/did.ts')).DID,
  },
  {
    name: 'oauth',
    hasOperations: true,
    summary: 'OAuth clients and metadata',
    load: async () => (await import('../../commands/oauth.ts')).OAUTH,
  },
  { name: 'resources', hasOperations: true, summary: 'APIs that tokens are for' },
];
