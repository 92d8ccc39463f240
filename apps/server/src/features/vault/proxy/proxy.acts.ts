import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

interface CalledData {
  readonly callId: string;
  readonly credentialId: string;
  readonly service: string;
  readonly upstream: string;
  readonly method: string;
  readonly rule: string;
  readonly tool?: string;
}

export const acts = {
  'vault.proxy.called': act<CalledData>(),
  'vault.proxy_profile.updated': act<{
    readonly service: string;
    readonly version: number;
    readonly exchange: 'allowed' | 'proxy_only';
  }>(),
  'vault.proxy_profile.deleted': act<{ readonly service: string }>(),
};

export const entries = { 'vault.proxy_blocked': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'vault.proxy_blocked': true;
  }
}
