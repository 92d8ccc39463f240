export { matchingScope } from './credentials.exchange.rules.ts';
export {
  findStoredCredential,
  type LendDeps,
  type Lent,
  lend,
  lendRefreshed,
  mayRefresh,
  type StoredRow,
} from './credentials.lend.service.ts';
export { storedProxy } from './credentials.proxy.rules.ts';
export { rates } from './credentials.rates.ts';
export { openingDeps, openingSettings } from './credentials.settings.ts';
