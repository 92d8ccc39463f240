import { boolean, commaList, notInProduction } from '../../../config/readers.ts';
import { defaulted, optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { authorizationParts } from '../../grants/authorization/index.ts';
import { tokenParts } from '../../grants/tokens/index.ts';
import { webauthnRelyingParty } from '../../people/passkeys/index.ts';
import { identityProviders } from '../../people/sso/index.ts';
import { assertionsEnabled } from '../assertions/index.ts';
import { channelRoutes } from './channel.routes.ts';
import { clientSettingsRoutes, registrationRoutes } from './clients.routes.ts';
import { USER_CODE_KEY_USE } from './device.ts';
import { clientDocuments, DOCUMENT_BOUNDS } from './documents.ts';
import { metadataRoutes } from './metadata.routes.ts';
import { rates } from './oauth.rates.ts';
import { deleteUnusedClientsAcrossTenants, eraseClients } from './oauth.repo.ts';
import { oauthRoutes } from './oauth.routes.ts';
import { signInRoutes } from './sign-in.routes.ts';

const tables: TableUse = {
  owns: {
    dynamic_clients: { rate: 'oauthRegister', kept: '1 day unused, 90 days after their last use', kib: 16 },
    oauth_clients: { of: 'agents', kib: 16 },
  },
  reads: ['agent_index', 'agents', 'developers'], // a client's id finds it, without its developer
  writes: [],
};

export const oauth = defineFeature({
  name: 'oauth',
  tags: { oauth: 'The same requests, consents and tokens for any client of OAuth.' },
  tables,
  rates,
  settings: {
    OAUTH_REQUIRE_PAR: defaulted(
      boolean,
      'false',
      'Whether OAuth clients have to push their authorization requests (RFC 9126) before a browser follows them.',
    ),
    OAUTH_DCR_ENABLED: defaulted(
      boolean,
      'true',
      'Whether OAuth clients may register themselves (RFC 7591). Newer clients publish a document in place of that.',
    ),
    OAUTH_CIMD_ALLOWED_HOSTS: optional(
      commaList('hosts', (entry) => (/^[a-z0-9.:-]+$/.test(entry) ? entry : undefined)),
      'any host',
      'The hosts whose documents describe OAuth clients, separated by commas.',
    ),
    OAUTH_CIMD_ALLOW_PRIVATE_HOSTS: defaulted(
      notInProduction(
        boolean,
        (value) => value,
        'OAUTH_CIMD_ALLOW_PRIVATE_HOSTS must not be true in production',
      ),
      'false',
      'Whether documents of OAuth clients may be at this machine and private networks, and over `http`. The service refuses it in production.',
    ),
  },
  keyUses: [USER_CODE_KEY_USE],
  listens: [on(tenantErased, eraseClients)],
  open(context, settings) {
    const allowsPrivateHosts = settings.OAUTH_CIMD_ALLOW_PRIVATE_HOSTS;
    const egress = context.openEgress(
      { allowsHttp: allowsPrivateHosts, allowsPrivateHosts },
      DOCUMENT_BOUNDS,
    );
    const deps = {
      ...context,
      clientDocuments: clientDocuments({
        ...context,
        egress,
        allowedHosts: settings.OAUTH_CIMD_ALLOWED_HOSTS ?? null,
      }),
      ...context.take(authorizationParts),
      ...context.take(tokenParts),
      registersClients: settings.OAUTH_DCR_ENABLED,
      requiresPush: settings.OAUTH_REQUIRE_PAR,
      acceptsAssertions: context.take(assertionsEnabled),
      upstream: context.take(identityProviders),
      relyingParty: context.take(webauthnRelyingParty),
    };
    return {
      jobs: [expiryOfClients(context)],
      async routes(app) {
        await metadataRoutes(app, deps);
        await app.register(oauthRoutes, deps);
        await channelRoutes(app, deps);
        await signInRoutes(app, deps);
        if (deps.registersClients) await registrationRoutes(app, deps);
        await clientSettingsRoutes(app, deps);
      },
    };
  },
});

const EVERY_SECONDS = 3600;
const AT_ONCE = 1000;

/** Deletes clients that registered themselves and were not used in time. */
export function expiryOfClients({ db, clock }: { readonly db: Executor; readonly clock: Clock }): Job {
  return {
    name: 'expiry of clients',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await deleteUnusedClientsAcrossTenants(db, clock(), AT_ONCE)) === AT_ONCE);
    },
  };
}
