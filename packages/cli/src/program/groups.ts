import type { CommandSpec, Group } from './spec.ts';

const START: readonly Group[] = [
  {
    name: 'dev',
    isMain: true,
    summary: 'run the service on this machine',
    load: async () => (await import('../commands/dev.ts')).DEV,
  },
  {
    name: 'demo',
    isMain: true,
    summary: 'play the life of a grant',
    load: async () => (await import('../commands/dev.ts')).DEMO,
  },
  {
    name: 'init',
    isMain: true,
    summary: 'write an example that runs',
    load: async () => (await import('../commands/init.ts')).INIT,
  },
  {
    name: 'signup',
    isMain: true,
    summary: 'open an account, and keep its key in a profile',
    load: async () => (await import('../commands/login.ts')).SIGNUP,
  },
  {
    name: 'login',
    isMain: true,
    summary: 'check an API key, and keep it in a profile',
    load: async () => (await import('../commands/login.ts')).LOGIN,
  },
  {
    name: 'doctor',
    isMain: true,
    summary: 'look for what is wrong',
    load: async () => (await import('../commands/doctor.ts')).DOCTOR,
  },
  {
    name: 'config',
    summary: 'profiles: addresses and keys',
    load: async () => (await import('../commands/config.ts')).CONFIG,
  },
  {
    name: 'me',
    hasOperations: true,
    summary: 'the account of the key',
    load: async () => (await import('../commands/login.ts')).ME,
  },
  {
    name: 'whoami',
    summary: 'which account the commands act for',
    load: async () => (await import('../commands/login.ts')).WHOAMI,
  },
  {
    name: 'console',
    summary: 'open the console, signed in',
    load: async () => (await import('../commands/open.ts')).CONSOLE,
  },
  {
    name: 'open',
    summary: 'open a page in the browser',
    load: async () => (await import('../commands/open.ts')).OPEN,
  },
  {
    name: 'completion',
    summary: 'a script that completes commands in a shell',
    load: async () => (await import('../commands/help.ts')).COMPLETION,
  },
  {
    name: 'help',
    summary: 'explain a topic',
    load: async () => (await import('../commands/help.ts')).HELP,
  },
];

const OPERATE: readonly Group[] = [
  {
    name: 'apply',
    isMain: true,
    summary: 'make the account as a file says',
    load: async () => (await import('../commands/apply.ts')).APPLY,
  },
  {
    name: 'keys',
    isMain: true,
    hasOperations: true,
    summary: 'API keys',
    load: async () => (await import('../commands/domains.ts')).KEYS,
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
    load: async () => (await import('../commands/domains.ts')).DOMAINS,
  },
  {
    name: 'sso',
    isMain: true,
    hasOperations: true,
    summary: 'sign-in at identity providers',
    load: async () => (await import('../commands/domains.ts')).SSO,
  },
  { name: 'scim', isMain: true, hasOperations: true, summary: 'people from a directory' },
  { name: 'billing', hasOperations: true, summary: 'plans and payments' },
  {
    name: 'api',
    summary: 'call any route',
    load: async () => (await import('../commands/api.ts')).API,
  },
];

const OBSERVE: readonly Group[] = [
  {
    name: 'audit',
    isMain: true,
    hasOperations: true,
    summary: 'the chain of audit entries',
    load: async () => [
      ...(await import('../commands/audit.ts')).AUDIT,
      ...(await import('../commands/audit-watch.ts')).WATCH,
    ],
  },
  { name: 'transparency', hasOperations: true, summary: 'the log of the chain, for people outside' },
  {
    name: 'receipt',
    hasOperations: true,
    summary: 'the receipt of a grant, and its check offline',
    load: async () => (await import('../commands/receipt.ts')).RECEIPT,
  },
  {
    name: 'events',
    isMain: true,
    hasOperations: true,
    summary: 'what happens, as it happens',
    load: async () => (await import('../commands/audit.ts')).EVENTS,
  },
  {
    name: 'webhooks',
    isMain: true,
    hasOperations: true,
    summary: 'deliveries of events',
    load: async () => (await import('../commands/webhooks.ts')).WEBHOOKS,
  },
  { name: 'search', hasOperations: true, summary: 'any record by its id or name' },
  { name: 'ssf', hasOperations: true, summary: 'systems that hear signals' },
  { name: 'anomalies', hasOperations: true, summary: 'what nobody foresaw' },
  { name: 'compliance', hasOperations: true, summary: 'summaries, exports and evidence' },
  { name: 'requests', hasOperations: true, summary: 'which requests failed, and why' },
  { name: 'insights', hasOperations: true, summary: 'what happened, by hour and day' },
  { name: 'usage', hasOperations: true, summary: 'what the account uses' },
];

const ENFORCE: readonly Group[] = [
  {
    name: 'enforce',
    isMain: true,
    hasOperations: true,
    summary: 'say whether a call would be allowed',
    load: async () => (await import('../commands/enforce.ts')).ENFORCE,
  },
  {
    name: 'manifest',
    isMain: true,
    summary: 'check, infer, plan and test manifests',
    load: async () => (await import('../commands/enforce.ts')).MANIFEST,
  },
  {
    name: 'replay',
    summary: 'run a changed manifest over recorded calls',
    load: async () => (await import('../commands/replay.ts')).REPLAY,
  },
  {
    name: 'manifests',
    hasOperations: true,
    summary: 'the registry of manifests of the service',
  },
  {
    name: 'decisions',
    isMain: true,
    hasOperations: true,
    summary: 'decisions of people about single calls',
    load: async () => (await import('../commands/open.ts')).DECISIONS,
  },
  { name: 'authzen', hasOperations: true, summary: 'decisions in the words of AuthZEN' },
  { name: 'approvers', hasOperations: true, summary: 'people who decide' },
  { name: 'policies', isMain: true, hasOperations: true, summary: 'standing rules' },
  { name: 'changes', hasOperations: true, summary: 'changes that wait for a second member' },
  { name: 'policy-bundles', hasOperations: true, summary: 'policies from a repository' },
  {
    name: 'budgets',
    hasOperations: true,
    summary: 'amounts that grants may spend',
  },
  {
    name: 'vault',
    isMain: true,
    hasOperations: true,
    summary: 'credentials of upstreams',
    load: async () => (await import('../commands/vault.ts')).VAULT,
  },
  { name: 'providers', hasOperations: true, summary: 'upstreams that people connect' },
  { name: 'connections', hasOperations: true, summary: 'accounts that people connect' },
  {
    name: 'proxy',
    hasOperations: true,
    summary: 'calls through the vault',
    load: async () => (await import('../commands/proxy.ts')).PROXY,
  },
];

const AUTHORIZE: readonly Group[] = [
  {
    name: 'agents',
    isMain: true,
    hasOperations: true,
    summary: 'programs that act for people',
    load: async () => (await import('../commands/grants.ts')).AGENTS,
  },
  {
    name: 'authorize',
    isMain: true,
    summary: 'ask a person for a grant',
    load: async () => (await import('../commands/authorize.ts')).AUTHORIZE,
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
    load: async () => (await import('../commands/grants.ts')).GRANTS,
  },
  {
    name: 'tokens',
    isMain: true,
    hasOperations: true,
    summary: 'exchange, refresh, introspect, revoke',
    load: async () => (await import('../commands/grants.ts')).TOKENS,
  },
  {
    name: 'verify',
    isMain: true,
    summary: 'verify a grant token offline',
    load: async () => (await import('../commands/verify.ts')).VERIFY,
  },
  {
    name: 'decode',
    summary: 'show what a token says',
    load: async () => (await import('../commands/decode.ts')).DECODE,
  },
  {
    name: 'token',
    summary: 'inspect a token',
    load: async () => (await import('../commands/decode.ts')).INSPECT,
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
    load: async () => (await import('../commands/grants.ts')).DID,
  },
  {
    name: 'oauth',
    hasOperations: true,
    summary: 'OAuth clients and metadata',
    load: async () => (await import('../commands/oauth.ts')).OAUTH,
  },
  { name: 'resources', hasOperations: true, summary: 'APIs that tokens are for' },
];

/** The sections of the help, in its order. */
export const SECTIONS: readonly { readonly name: string; readonly groups: readonly Group[] }[] = [
  { name: 'Start', groups: START },
  { name: 'Authorize', groups: AUTHORIZE },
  { name: 'Enforce', groups: ENFORCE },
  { name: 'Observe', groups: OBSERVE },
  { name: 'Operate', groups: OPERATE },
];

export const GROUPS: readonly Group[] = SECTIONS.flatMap(({ groups }) => groups);

/** Loads the commands of a group. */
export async function commandsOf(group: Group): Promise<CommandSpec[]> {
  const own = (await group.load?.()) ?? [];
  if (!group.hasOperations) return [...own];
  const { apiCommands } = await import('../api/specs.ts');
  return [...own, ...apiCommands(group.name)];
}

export const allCommands = async (): Promise<CommandSpec[]> =>
  (await Promise.all(GROUPS.map(commandsOf))).flat();
