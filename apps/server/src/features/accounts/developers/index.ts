export { findKeyCaller } from './api-keys.service.ts';
export { thumbprintsOf } from './developers.rules.ts';
export { isUsableKey } from './public-keys.rules.ts';
export { isRedirectUri } from './redirect-uris.rules.ts';
