export { assertionsEnabled } from './assertions.settings.ts';
export type { AssertionDeps } from './issue.ts';
export { issueAsserted } from './issue.ts';
