import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, entries } from './tokens.acts.ts';
import { holderReader } from './tokens.holder.service.ts';
import { OVERLAP_KEY_USE } from './tokens.overlap.service.ts';
import { NONCE_KEY_USE } from './tokens.proof.service.ts';
import { rates } from './tokens.rates.ts';
import { eraseTokens } from './tokens.repo.ts';
import { tokenRoutes } from './tokens.routes.ts';
import { tokenDeps, tokenSettings } from './tokens.settings.ts';
import { tables } from './tokens.tables.ts';

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
  open(house, settings) {
    const deps = tokenDeps(house, settings);
    return {
      routes: (app) => app.register(tokenRoutes, deps),
      credentials: { grant: holderReader(deps) },
    };
  },
});
