import { notInProduction, oneOf } from '../../../config/readers.ts';
import { consentKey, seedKey } from '../../../config/secrets.ts';
import { defaulted, optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { act, type DataOf } from '../../../platform/acts.ts';
import type { Role } from '../../../platform/caller.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { plans } from '../../../platform/quotas.ts';
import { apiKeyRoutes } from './api-keys.routes.ts';
import { findKeyCaller } from './api-keys.ts';
import { type ErasureDeps, eraseClosedAccounts } from './close.ts';
import { accountClosed, consentModeChosen, deploymentCounts, keyBound } from './developers.hooks.ts';
import { rates } from './developers.rates.ts';
import { developerAdminRoutes, developerRoutes } from './developers.routes.ts';
import { seedDevelopers } from './seed.ts';

const REFUSED = 'SEED_API_KEY, SEED_SANDBOX_KEY and SEED_CONSENT_KEY must not be set in production';

/** The keys of the accounts that a start in development makes. */
const seedSettings = {
  SEED_API_KEY: optional(
    notInProduction(seedKey, () => true, REFUSED),
    'none',
    'Makes a live developer with this API key at start. Refused in production, as are the next two.',
  ),
  SEED_SANDBOX_KEY: optional(
    notInProduction(seedKey, () => true, REFUSED),
    'none',
    'Makes a sandbox developer with this API key at start.',
  ),
  SEED_CONSENT_KEY: optional(
    notInProduction(consentKey, () => true, REFUSED),
    'none',
    'The private key that signs hints for the seeded live developer. It has no effect without `SEED_API_KEY`.',
  ),
};

interface Seeds {
  readonly SEED_API_KEY?: string | undefined;
  readonly SEED_SANDBOX_KEY?: string | undefined;
}

/** One key cannot stand for two developers. */
function refuseEqualSeeds(values: Seeds, refuse: (setting: string, message: string) => void): void {
  if (values.SEED_API_KEY === undefined || values.SEED_API_KEY !== values.SEED_SANDBOX_KEY) return;
  refuse('SEED_SANDBOX_KEY', 'SEED_API_KEY and SEED_SANDBOX_KEY must differ');
}

const tables: TableUse = {
  owns: {
    developers: { rate: 'signupHourly' },
    api_keys: { rate: 'keys', kib: 16 },
    api_key_index: { of: 'api_keys' },
    logos: { most: 1, kib: 128 },
  },
  reads: ['members'],
  writes: [],
};

const EVERY_SECONDS = 3600;

/** Erases the rows of accounts that were closed 30 days ago. */
function erasureOfAccounts(deps: ErasureDeps): Job {
  return {
    name: 'erasure of accounts',
    everySeconds: EVERY_SECONDS,
    run: (signal) => eraseClosedAccounts(deps, signal),
  };
}

interface DescribedKey {
  readonly keyId: string;
  readonly name: string;
  readonly role: Role;
  /** Present when the key is bound. */
  readonly agentIds?: readonly string[];
}

interface Stopped {
  readonly reason?: string;
}

const acts = {
  'developer.created': act<{ readonly mode: 'live' | 'sandbox' }>(),
  'developer.updated': act<{ readonly changed: readonly string[] }>(),
  'developer.closed': act<{ readonly erasedAfter: string }>(),
  /** Every agent and grant of the account rests until it is resumed. */
  'account.stopped': act<Stopped>(),
  'account.resumed': act<{ readonly stoppedAt: string }>(),
  'apikey.created': act<DescribedKey>(),
  'apikey.rotated': act<DescribedKey>(),
  'apikey.revoked': act<DescribedKey>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}

export const developers = defineFeature({
  name: 'developers',
  tags: { developers: 'The account itself.', apiKeys: 'Credentials of the account.' },
  tables,
  acts,
  rates,
  settings: {
    SIGNUP_MODE: defaulted(oneOf('open', 'closed'), 'open', 'Whether anybody may sign up as a developer.'),
    DEFAULT_PLAN: defaulted(oneOf(...plans), 'free', 'The plan of developers without a subscription.'),
    ...seedSettings,
  },
  checkSettings: refuseEqualSeeds,
  open(context, settings) {
    const { SIGNUP_MODE: signupMode, DEFAULT_PLAN: defaultPlan } = settings;
    const seeds = {
      apiKey: settings.SEED_API_KEY,
      sandboxKey: settings.SEED_SANDBOX_KEY,
      consentKey: settings.SEED_CONSENT_KEY,
    };
    return {
      async routes(app) {
        const deps = {
          ...context,
          ...{ signupMode, defaultPlan, canMail: context.mailer !== undefined },
          onAccountClosed: context.listenersOf(accountClosed),
          onConsentMode: context.listenersOf(consentModeChosen),
          onKeyBound: context.listenersOf(keyBound),
          deploymentCounts: context.listenersOf(deploymentCounts),
        };
        await developerRoutes(app, deps);
        await apiKeyRoutes(app, deps);
        await developerAdminRoutes(app, deps);
      },
      credentials: { developer: (hash) => findKeyCaller(context, hash) },
      jobs: [erasureOfAccounts({ ...context, erasers: context.listenersOf(tenantErased).toReversed() })],
      prepare: () =>
        seedDevelopers({ ...context, defaultPlan }, seeds, (message) => context.logger?.warn(message)),
    };
  },
});
