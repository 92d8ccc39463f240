import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { outsidePoint, policySettings } from '../policies/index.ts';
import { legacySettings } from '../verifiable-credentials/index.ts';
import { acts } from './tokens.acts.ts';
import { holderReader } from './tokens.holder.service.ts';
import { rates } from './tokens.rates.ts';
import { eraseTokens } from './tokens.repo.ts';
import { tokenRoutes } from './tokens.routes.ts';
import { tables } from './tokens.tables.ts';
import { ownVerifier } from './tokens.verifier.service.ts';

export const tokens = defineFeature({
  name: 'tokens',
  tags: { tokens: 'The tokens by which agents prove grants, and their verification.' },
  knows: [
    ...['audit', 'authorization', 'budgets', 'grants', 'keys', 'manifests', 'policies', 'quotas'],
    'verifiable-credentials',
  ],
  tables,
  acts,
  attempts: ['token.reuse_detected'],
  rates,
  settings: {
    ...policySettings,
    ...legacySettings,
    MAX_DELEGATION_DEPTH: defaulted(
      integer(1, 10),
      '3',
      'The greatest delegation depth of a grant, for developers that have not set their own.',
    ),
    REUSE_GRACE_SECONDS: defaulted(
      integer(0, 300),
      '30',
      'How long the service only refuses a second use of a code or refresh token. A later second use also revokes the grant.',
    ),
  },
  listens: [on(tenantErased, eraseTokens)],
  open(house, settings) {
    const deps = { ...house, ...house.lifetimes };
    const verifyOwn = ownVerifier(deps);
    return {
      routes: (app) =>
        app.register(tokenRoutes, {
          ...deps,
          verifyOwn,
          outside: outsidePoint(house, settings),
          issuesLegacyClaims: settings.GRANT_TOKEN_LEGACY_CLAIMS,
          maxDelegationDepth: settings.MAX_DELEGATION_DEPTH,
          reuseGraceSeconds: settings.REUSE_GRACE_SECONDS,
        }),
      credentials: { grant: holderReader({ ...house, verifyOwn }) },
    };
  },
});
