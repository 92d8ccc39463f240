import { defineFeature } from '../../../feature.ts';
import { act, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { holderReader } from './holder.ts';
import { NONCE_KEY_USE } from './proof.ts';
import { OVERLAP_KEY_USE } from './refresh.ts';
import { eraseTokens } from './tokens.repo.ts';
import { rates, tokenRoutes } from './tokens.routes.ts';
import { tokenDeps, tokenParts, tokenSettings } from './tokens.settings.ts';

const tables: TableUse = {
  owns: { tokens: { rate: 'plan', kib: 8 }, refresh_tokens: { of: 'tokens', kib: 8 } },
  reads: ['agents', 'developers'], // each flow reads its facts in one function
  writes: ['auth_requests', 'grants'], // the exchange of a code consumes it and makes the grant
};

const acts = {
  'token.issued': act<{
    readonly tokenId: string;
    readonly scopes: readonly string[];
    readonly expiresAt: string;
    readonly refreshed: boolean;
  }>(),
  'token.revoked': act<{ readonly tokenId: string }>(),
  'token.reuse_detected': act<{ readonly kind: 'code' | 'refresh'; readonly revoked: boolean }>(),
};

const entries = { 'token.exchanged': entryOnly() };

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

export const tokens = defineFeature({
  name: 'tokens',
  tags: { tokens: 'The tokens by which agents prove grants, and their verification.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['token.reuse_detected'],
  rates,
  settings: tokenSettings,
  keyUses: [NONCE_KEY_USE, OVERLAP_KEY_USE],
  listens: [on(tenantErased, eraseTokens)],
  open(context, settings) {
    const deps = context.provide(tokenParts, tokenDeps(context, settings));
    return {
      routes: (app) => tokenRoutes(app, deps),
      credentials: { grant: holderReader(deps) },
    };
  },
});
