import type { Group } from '../spec.ts';

export const ENFORCE: readonly Group[] = [
  {
    name: 'enforce',
    isMain: true,
    hasOperations: true,
    summary: 'say whether a call would be allowed',
    load: async () => (await import('../../commands/enforce.ts')).ENFORCE,
  },
  {
    name: 'manifest',
    isMain: true,
    summary: 'check, infer, plan and test manifests',
    load: async () => (await import('../../commands/manifest.ts')).MANIFEST,
  },
  {
    name: 'replay',
    summary: 'run a changed manifest over recorded calls',
    load: async () => (await import('../../commands/replay.ts')).REPLAY,
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
    load: async () => (await import('../../commands/decisions.ts')).DECISIONS,
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
    load: async () => (await import('../../commands/vault.ts')).VAULT,
  },
  { name: 'providers', hasOperations: true, summary: 'upstreams that people connect' },
  { name: 'connections', hasOperations: true, summary: 'accounts that people connect' },
  {
    name: 'proxy',
    hasOperations: true,
    summary: 'calls through the vault',
    load: async () => (await import('../../commands/proxy.ts')).PROXY,
  },
];
