import { notInProduction } from '../../../config/readers.ts';
import { consentKey, seedKey } from '../../../config/secrets.ts';
import { optional } from '../../../config/setting.ts';

const REFUSED = 'SEED_API_KEY, SEED_SANDBOX_KEY and SEED_CONSENT_KEY must not be set in production';

/** What development accounts are made with. */
export const seedSettings = {
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
    'The key whose hints the seeded live developer vouches with for principals. Without `SEED_API_KEY` it does nothing.',
  ),
};

interface Seeds {
  readonly SEED_API_KEY?: string | undefined;
  readonly SEED_SANDBOX_KEY?: string | undefined;
}

/** One key cannot stand for two developers. */
export function refuseEqualSeeds(values: Seeds, refuse: (setting: string, message: string) => void): void {
  if (values.SEED_API_KEY === undefined || values.SEED_API_KEY !== values.SEED_SANDBOX_KEY) return;
  refuse('SEED_SANDBOX_KEY', 'SEED_API_KEY and SEED_SANDBOX_KEY must differ');
}
