export {
  asClient,
  foundOf,
  frozenClient,
  openClient,
  settingsOf,
} from './providers.client.service.ts';
export { objectIn } from './providers.discovery.service.ts';
export { type Found, methodOf, readMetadata } from './providers.found.rules.ts';
export { type OnProviderDeleted, providerDeleted } from './providers.hooks.ts';
export { readIdToken, readKeySet } from './providers.id-token.service.ts';
export { findConnectable, getProviderRow, type ProviderRow } from './providers.read.service.ts';
export { noteClientAccepted, noteClientRefused } from './providers.refused.service.ts';
export type { ProviderSettings } from './providers.schema.ts';
export { ANSWER_BOUNDS, connectEgress, connectSettings } from './providers.settings.ts';
