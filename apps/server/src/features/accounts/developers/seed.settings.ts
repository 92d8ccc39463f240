import { notInProduction } from '../../../config/readers.ts';
import { consentKey, seedKey } from '../../../config/secrets.ts';
import { optional } from '../../../config/setting.ts';

const REFUSED = 'SEED_API_KEY, SEED_SANDBOX_KEY and SEED_CONSENT_KEY must not be set in production';

/** The keys of the accounts that a start in development makes. */
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
    'The private key that signs hints for the seeded live developer. It has no effect without `SEED_API_KEY`.',
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
