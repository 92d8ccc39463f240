import type { CommandSpec } from './spec.ts';

export const SECTIONS = ['Start', 'Authorize', 'Enforce', 'Observe', 'Operate'] as const;

/** The commands of one word, which are loaded when that word is used. */
export interface Group {
  readonly name: string;
  readonly section: (typeof SECTIONS)[number];
  readonly summary: string;
  /** True for those that a newcomer needs: the others share a line of the help. */
  readonly isMain?: true;
  /** True where commands are made from the operations of the service. */
  readonly hasOperations?: true;
  readonly load?: () => Promise<readonly CommandSpec[]>;
}

export const GROUPS: readonly Group[] = [
  {
    name: 'dev',
    section: 'Start',
    isMain: true,
    summary: 'run the service on this machine',
    load: async () => (await import('../commands/dev.ts')).DEV,
  },
  {
    name: 'demo',
    section: 'Start',
    isMain: true,
    summary: 'play the life of a grant',
    load: async () => (await import('../commands/demo.ts')).DEMO,
  },
  {
    name: 'init',
    section: 'Start',
    isMain: true,
    summary: 'write an example that runs',
    load: async () => (await import('../commands/init.ts')).INIT,
  },
  {
    name: 'signup',
    section: 'Start',
    isMain: true,
    summary: 'open an account, and keep its key in a profile',
    load: async () => (await import('../commands/signup.ts')).SIGNUP,
  },
  {
    name: 'doctor',
    section: 'Start',
    isMain: true,
    summary: 'look for what is wrong',
    load: async () => (await import('../commands/doctor.ts')).DOCTOR,
  },
  {
    name: 'config',
    section: 'Start',
    isMain: true,
    summary: 'profiles: addresses and keys',
    load: async () => (await import('../commands/config.ts')).CONFIG,
  },
  {
    name: 'me',
    section: 'Start',
    hasOperations: true,
    summary: 'the account of the key',
    load: async () => (await import('../commands/me.ts')).ME,
  },
  {
    name: 'open',
    section: 'Start',
    summary: 'open a page in the browser',
    load: async () => (await import('../commands/open.ts')).OPEN,
  },
  {
    name: 'completion',
    section: 'Start',
    summary: 'a script that completes commands in a shell',
    load: async () => (await import('../commands/completion.ts')).COMPLETION,
  },
  {
    name: 'help',
    section: 'Start',
    summary: 'explain a topic',
    load: async () => (await import('../commands/help.ts')).HELP,
  },
  {
    name: 'agents',
    section: 'Authorize',
    isMain: true,
    hasOperations: true,
    summary: 'programs that act for people',
    load: async () => (await import('../commands/agents.ts')).AGENTS,
  },
  {
    name: 'authorize',
    section: 'Authorize',
    isMain: true,
    summary: 'ask a person for a grant',
    load: async () => (await import('../commands/authorize.ts')).AUTHORIZE,
  },
  {
    name: 'authorizations',
    section: 'Authorize',
    hasOperations: true,
    summary: 'requests that people decide about',
  },
  {
    name: 'grants',
    section: 'Authorize',
    isMain: true,
    hasOperations: true,
    summary: 'what people have allowed: list, delegate, revoke',
    load: async () => (await import('../commands/grants.ts')).GRANTS,
  },
  {
    name: 'tokens',
    section: 'Authorize',
    isMain: true,
    hasOperations: true,
    summary: 'exchange, refresh, introspect, revoke',
    load: async () => (await import('../commands/tokens.ts')).TOKENS,
  },
  {
    name: 'verify',
    section: 'Authorize',
    isMain: true,
    summary: 'verify a grant token offline',
    load: async () => (await import('../commands/verify.ts')).VERIFY,
  },
  {
    name: 'decode',
    section: 'Authorize',
    summary: 'show what a token says',
    load: async () => (await import('../commands/decode.ts')).DECODE,
  },
  {
    name: 'token',
    section: 'Authorize',
    summary: 'inspect a token',
    load: async () => (await import('../commands/decode.ts')).INSPECT,
  },
  { name: 'principal-sessions', section: 'Authorize', hasOperations: true, summary: 'sessions of people' },
  {
    name: 'principal',
    section: 'Authorize',
    hasOperations: true,
    summary: "the calls of a person's session",
  },
  { name: 'webauthn', section: 'Authorize', hasOperations: true, summary: 'passkeys of people' },
  { name: 'credentials', section: 'Authorize', hasOperations: true, summary: 'verifiable credentials' },
  { name: 'passports', section: 'Authorize', hasOperations: true, summary: 'passports of agents' },
  {
    name: 'wallet-authorizations',
    section: 'Authorize',
    hasOperations: true,
    summary: 'payment authorizations for wallets',
  },
  {
    name: 'did',
    section: 'Authorize',
    summary: 'resolve DIDs',
    load: async () => (await import('../commands/did.ts')).DID,
  },
  {
    name: 'oauth',
    section: 'Authorize',
    hasOperations: true,
    summary: 'OAuth clients and metadata',
    load: async () => (await import('../commands/oauth.ts')).OAUTH,
  },
  { name: 'resources', section: 'Authorize', hasOperations: true, summary: 'APIs that tokens are for' },
  {
    name: 'enforce',
    section: 'Enforce',
    isMain: true,
    hasOperations: true,
    summary: 'say whether a call would be allowed',
    load: async () => (await import('../commands/enforce.ts')).ENFORCE,
  },
  {
    name: 'manifest',
    section: 'Enforce',
    isMain: true,
    summary: 'check, infer, plan and test manifests',
    load: async () => (await import('../commands/manifest.ts')).MANIFEST,
  },
  {
    name: 'replay',
    section: 'Enforce',
    summary: 'run a changed manifest over recorded calls',
    load: async () => (await import('../commands/replay.ts')).REPLAY,
  },
  {
    name: 'manifests',
    section: 'Enforce',
    hasOperations: true,
    summary: 'the registry of manifests of the service',
  },
  {
    name: 'decisions',
    section: 'Enforce',
    isMain: true,
    hasOperations: true,
    summary: 'decisions of people about single calls',
  },
  { name: 'approvers', section: 'Enforce', hasOperations: true, summary: 'people who decide' },
  { name: 'policies', section: 'Enforce', isMain: true, hasOperations: true, summary: 'standing rules' },
  { name: 'policy-bundles', section: 'Enforce', hasOperations: true, summary: 'policies from a repository' },
  {
    name: 'budgets',
    section: 'Enforce',
    hasOperations: true,
    summary: 'amounts that grants may spend',
  },
  {
    name: 'vault',
    section: 'Enforce',
    isMain: true,
    hasOperations: true,
    summary: 'credentials of upstreams',
    load: async () => (await import('../commands/vault.ts')).VAULT,
  },
  { name: 'providers', section: 'Enforce', hasOperations: true, summary: 'upstreams that people connect' },
  { name: 'connections', section: 'Enforce', hasOperations: true, summary: 'accounts that people connect' },
  {
    name: 'proxy',
    section: 'Enforce',
    hasOperations: true,
    summary: 'calls through the vault',
    load: async () => (await import('../commands/proxy.ts')).PROXY,
  },
  {
    name: 'audit',
    section: 'Observe',
    isMain: true,
    hasOperations: true,
    summary: 'the chain of audit entries',
    load: async () => (await import('../commands/audit.ts')).AUDIT,
  },
  {
    name: 'events',
    section: 'Observe',
    isMain: true,
    hasOperations: true,
    summary: 'what happens, as it happens',
    load: async () => (await import('../commands/events.ts')).EVENTS,
  },
  {
    name: 'webhooks',
    section: 'Observe',
    isMain: true,
    hasOperations: true,
    summary: 'deliveries of events',
    load: async () => (await import('../commands/webhooks.ts')).WEBHOOKS,
  },
  { name: 'anomalies', section: 'Observe', hasOperations: true, summary: 'what nobody foresaw' },
  { name: 'compliance', section: 'Observe', hasOperations: true, summary: 'summaries, exports and evidence' },
  { name: 'usage', section: 'Observe', hasOperations: true, summary: 'what the account uses' },
  {
    name: 'apply',
    section: 'Operate',
    isMain: true,
    summary: 'make the account as a file says',
    load: async () => (await import('../commands/apply.ts')).APPLY,
  },
  {
    name: 'keys',
    section: 'Operate',
    isMain: true,
    hasOperations: true,
    summary: 'API keys',
    load: async () => (await import('../commands/keys.ts')).KEYS,
  },
  {
    name: 'signing-keys',
    section: 'Operate',
    hasOperations: true,
    summary: 'the keys that sign tokens, for the operator',
  },
  {
    name: 'domains',
    section: 'Operate',
    hasOperations: true,
    summary: 'domains of the account',
  },
  {
    name: 'sso',
    section: 'Operate',
    isMain: true,
    hasOperations: true,
    summary: 'sign-in at identity providers',
    load: async () => (await import('../commands/sso.ts')).SSO,
  },
  { name: 'scim', section: 'Operate', isMain: true, hasOperations: true, summary: 'people from a directory' },
  { name: 'billing', section: 'Operate', hasOperations: true, summary: 'plans and payments' },
  {
    name: 'api',
    section: 'Operate',
    summary: 'call any route',
    load: async () => (await import('../commands/api.ts')).API,
  },
];

/** Loads the commands of a group. */
export async function commandsOf(group: Group): Promise<CommandSpec[]> {
  const own = (await group.load?.()) ?? [];
  if (!group.hasOperations) return [...own];
  const { apiCommands } = await import('../api/specs.ts');
  return [...own, ...apiCommands(group.name)];
}

export const allCommands = async (): Promise<CommandSpec[]> =>
  (await Promise.all(GROUPS.map(commandsOf))).flat();
