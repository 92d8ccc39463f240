export { apiKeyRoutes } from './api-keys.routes.ts';
export { authenticateApiKey, type KeyDeps } from './api-keys.service.ts';
export { developerRoutes } from './developers.routes.ts';
export type { DeveloperDeps } from './developers.service.ts';
export { isRedirectUri } from './redirect-uris.rules.ts';
export { type Seed, seedDevelopers } from './seed.service.ts';
