export { assertionsEnabled } from './assertions.settings.ts';
export { issueAsserted } from './assertions.ts';
export type { AssertionDeps } from './deps.ts';
