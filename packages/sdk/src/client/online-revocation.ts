import type { GrantStatus, RevocationCheck } from '@behest/protocol/enforcement/ports';
import { textOf } from '../verify/token-source.ts';
import { askService, type ServiceOptions } from './service.ts';

const statuses: Readonly<Record<string, GrantStatus>> = { agent_inactive: 'suspended' };

/** Asks the service about each token. What it says holds for this call alone. */
export function onlineRevocation(service: ServiceOptions): RevocationCheck {
  return {
    async check(verified): Promise<GrantStatus> {
      const token = textOf(verified);
      if (token === undefined) return 'unavailable';
      const { valid, reason } = await askService(service, '/v1/tokens/verify', { token });
      if (valid === true) return 'active';
      if (valid !== false) return 'unavailable';
      return statuses[String(reason)] ?? 'revoked';
    },
  };
}
