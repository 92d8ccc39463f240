/** Pages whose samples a file of the repository follows in a way of its own. */
export const CHECKED_ELSEWHERE: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'test/docs/worked-example.test.ts',
  'docs/worked-example.md': 'test/docs/worked-example.ts',
};

const DRAWING = 'a drawing';
const INSTALLS = 'it installs packages from a registry';
const OF_OPERATOR =
  'it needs a container engine or a cluster; test/deploy has tests of the files that it names';
const VALUES = 'values of settings, which the tests of the settings read';

/** Samples that are not run or compiled, with the reason. */
export const OUTLINES: Readonly<Record<string, string>> = {
  'README.md #1': DRAWING,
  'README.md #2': 'the suite itself, and the service that it starts',
  'clients/python/README.md #1': INSTALLS,
  'clients/python/README.md #4': INSTALLS,
  'deploy/helm/behest/README.md #1': OF_OPERATOR,
  'docs/architecture.md #1': DRAWING,
  'docs/architecture.md #2': 'an outline of a service, with a gap',
  'examples/payments-agent/README.md #1': INSTALLS,
  'docs/configuration.md #1': VALUES,
  'docs/configuration.md #3': VALUES,
  'docs/configuration.md #4': 'deploy/make-secrets.sh makes keys with the same commands',
  'docs/guides/deny-in-advance-with-policies.md #9': 'Cedar, which cedar.test.ts loads with the same rules',
  'docs/guides/deny-in-advance-with-policies.md #10': 'Cedar, as the sample before it',
  'docs/guides/deploy.md #1': OF_OPERATOR,
  'docs/guides/deploy.md #2': OF_OPERATOR,
  'docs/guides/deploy.md #3': OF_OPERATOR,
  'docs/guides/receive-events.md #9': 'lines of a stream, not a program',
  'docs/guides/receive-events.md #12': 'settings of nginx, which is not installed',
  'docs/guides/moving.md #3': 'variables to fill in',
  'docs/guides/write-a-manifest.md #2': 'it sends the sample above it, which rules-guides.test.ts sends',
  'docs/operations.md #1': 'it removes the packages of the toolchain',
  'docs/operations.md #2': 'it needs an account whose approvers lost their passkeys; its route is checked',
  'docs/protocol/audit-chain.md #1': 'a line that protocol-pages.test.ts compares',
  'examples/express-api/README.md #1': INSTALLS,
  'examples/mcp-server/README.md #1': INSTALLS,
  'examples/webhook-receiver/README.md #1': INSTALLS,
  'packages/cli/README.md #1': INSTALLS,
  'packages/sdk/README.md #1': INSTALLS,
};
