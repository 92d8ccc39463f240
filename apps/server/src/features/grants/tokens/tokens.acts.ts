import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';

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

export const entries = { 'token.exchanged': entryOnly() };

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Entries {
    'token.exchanged': {
      readonly tokenId: string;
      readonly subjectTokenId: string;
      readonly resourceId: string;
      readonly resource: string;
      readonly scopes: readonly string[];
      readonly expiresAt: string;
    };
  }
  interface Attempts {
    'token.reuse_detected': true;
  }
}
