export type { AssertionDeps } from './assertions.deps.service.ts';
export { issueAsserted } from './assertions.service.ts';
export { assertionSettings } from './assertions.settings.ts';
