import { act, type DataOf } from '../../../platform/acts.ts';

export const acts = {
  'token.issued': act<{
    readonly tokenId: string;
    readonly scopes: readonly string[];
    readonly expiresAt: string;
    readonly refreshed: boolean;
  }>(),
  'token.revoked': act<{ readonly tokenId: string }>(),
  'token.reuse_detected': act<{ readonly kind: 'code' | 'refresh'; readonly revoked: boolean }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Attempts {
    'token.reuse_detected': true;
  }
}
