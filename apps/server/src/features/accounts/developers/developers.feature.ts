import { oneOf } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { plans } from '../../../platform/quotas.ts';
import { apiKeyRoutes } from './api-keys.routes.ts';
import { findKeyCaller } from './api-keys.service.ts';
import { acts } from './developers.acts.ts';
import { developerAdminRoutes } from './developers.admin.routes.ts';
import { accountClosed } from './developers.hooks.ts';
import { erasureOfAccounts } from './developers.jobs.ts';
import { rates } from './developers.rates.ts';
import { developerRoutes } from './developers.routes.ts';
import { tables } from './developers.tables.ts';
import { seedDevelopers } from './seed.service.ts';
import { refuseEqualSeeds, seedSettings } from './seed.settings.ts';

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
  open(house, settings) {
    const { SIGNUP_MODE: signupMode, DEFAULT_PLAN: defaultPlan } = settings;
    const seeds = {
      apiKey: settings.SEED_API_KEY,
      sandboxKey: settings.SEED_SANDBOX_KEY,
      consentKey: settings.SEED_CONSENT_KEY,
    };
    return {
      async routes(app) {
        const onAccountClosed = house.listenersOf(accountClosed);
        const canMail = house.mailer !== undefined;
        await app.register(developerRoutes, { ...house, signupMode, defaultPlan, canMail, onAccountClosed });
        await app.register(apiKeyRoutes, house);
        await app.register(developerAdminRoutes, { ...house, signupMode, defaultPlan, canMail });
      },
      credentials: { developer: (hash) => findKeyCaller(house, hash) },
      jobs: [erasureOfAccounts({ ...house, erasers: house.listenersOf(tenantErased).toReversed() })],
      prepare: () =>
        seedDevelopers({ ...house, defaultPlan }, seeds, (message) => house.logger?.warn(message)),
    };
  },
});
