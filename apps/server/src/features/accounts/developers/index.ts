export { apiKeyRoutes } from './api-keys.routes.ts';
export { findKeyHolder } from './api-keys.service.ts';
export { developerRoutes } from './developers.routes.ts';
export { isUsableKey } from './public-keys.rules.ts';
export { isRedirectUri } from './redirect-uris.rules.ts';
export { seedDevelopers } from './seed.service.ts';
