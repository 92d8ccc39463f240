import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { authorizationDeps, authorizationSettings } from '../authorization/index.ts';
import { tokenDeps, tokenSettings } from '../tokens/index.ts';
import { channelRoutes } from './oauth.channel.routes.ts';
import { NONCE_KEY_USE } from './oauth.dpop.service.ts';
import { metadataRoutes } from './oauth.metadata.routes.ts';
import { rates } from './oauth.rates.ts';
import { eraseClients } from './oauth.repo.ts';
import { oauthRoutes } from './oauth.routes.ts';
import { clientSettingsRoutes } from './oauth.settings.routes.ts';
import { tables } from './oauth.tables.ts';
import { USER_CODE_KEY_USE } from './oauth.user-code.service.ts';

export const oauth = defineFeature({
  name: 'oauth',
  tags: { oauth: 'The same requests, consents and tokens for any client of OAuth.' },
  knows: ['audit', 'authorization', 'developers', 'keys', 'sso', 'tokens'],
  tables,
  rates,
  settings: {
    ...authorizationSettings,
    ...tokenSettings,
    OAUTH_REQUIRE_PAR: defaulted(
      boolean,
      'false',
      'Whether OAuth clients have to push their authorization requests (RFC 9126) before a browser follows them.',
    ),
    DPOP_NONCE: defaulted(
      boolean,
      'false',
      'Whether DPoP proofs have to carry a nonce of the service (RFC 9449, section 8).',
    ),
  },
  keyUses: [NONCE_KEY_USE, USER_CODE_KEY_USE],
  listens: [on(tenantErased, eraseClients)],
  open(house, settings) {
    const deps = {
      ...house,
      ...authorizationDeps(house, settings),
      ...tokenDeps(house, settings),
      requiresPush: settings.OAUTH_REQUIRE_PAR,
      demandsNonce: settings.DPOP_NONCE,
    };
    return {
      async routes(app) {
        await app.register(metadataRoutes, deps);
        await app.register(oauthRoutes, deps);
        await app.register(channelRoutes, deps);
        await app.register(clientSettingsRoutes, deps);
      },
    };
  },
});
