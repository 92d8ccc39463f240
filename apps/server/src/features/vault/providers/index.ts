export {
  asClient,
  foundOf,
  frozenClient,
  openClient,
  settingsOf,
} from './client.ts';
export { objectIn } from './discovery.ts';
export { type Found, methodOf, readMetadata } from './found.rules.ts';
export { readIdToken, readKeySet } from './id-token.ts';
export type { ProviderSettings } from './providers.schema.ts';
export { ANSWER_BOUNDS, connectUpstreams } from './providers.settings.ts';
export { findConnectable, getProviderRow, type ProviderRow } from './providers.ts';
export { noteClientAccepted, noteClientRefused } from './registration.ts';
export { type OnProviderDeleted, providerDeleted } from './show.ts';
