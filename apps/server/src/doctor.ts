import { ConfigError, type Environment } from './config/setting.ts';
import { type Config, loadConfig } from './config.ts';
import { type Check, failed, passed, reasonOf, skipped } from './doctor/check.ts';
import { databaseChecks, schemaCheck } from './doctor/database.ts';
import { keyRingChecks, sealCheck, storedKeyCheck } from './doctor/keys.ts';
import { egressCheck, mailCheck, publicUrlCheck } from './doctor/outside.ts';
import { redisCheck } from './doctor/redis.ts';
import { createKeyRing, type KeyRing } from './features/service/keys/index.ts';
import { keyUses } from './features.ts';
import { openDatabase } from './platform/db/open-database.ts';
import { memoryStore } from './platform/redis/memory-store.ts';
import { noMeter } from './platform/telemetry/meter.ts';
import { openService } from './service.ts';

const CONNECT = 5_000; // milliseconds; an operator waits
const clock = () => new Date();

/**
 * Looks for what would stop a start with this environment, or trouble the service, and changes nothing.
 *
 * @param environment settings by the names that operators use
 */
export async function examine(environment: Environment): Promise<Check[]> {
  const config = settingsIn(environment);
  if (Array.isArray(config)) return [...config, skipped('all else', 'the settings come first')];
  const warnings: string[] = [];
  const warn = (message: string) => warnings.push(message);
  const settings = passed('settings', `${config.environment}, issuer ${config.tokens.issuer}`);
  let keyRing: KeyRing;
  try {
    keyRing = await createKeyRing(config.keys, { clock, startedAt: clock(), warn, uses: keyUses });
  } catch (error) {
    const fix = 'look at RSA_PRIVATE_KEY, EC_PRIVATE_KEY and ED25519_PRIVATE_KEY';
    return [settings, failed('keys', reasonOf(error), fix)];
  }
  const outside = Promise.all([
    redisCheck('redis', 'REDIS_URL', config.redisUrl),
    ...capsCheck(config),
    mailCheck(config),
    publicUrlCheck(config),
  ]);
  const stored = await storedChecks(config, keyRing);
  return [settings, ...keyRingChecks(keyRing, warnings), ...stored, ...(await outside), egressCheck(config)];
}

/** @returns the failed checks, one for each problem, in place of settings that are refused */
function settingsIn(environment: Environment): Config | Check[] {
  try {
    return loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ setting, message }) =>
      failed(
        'settings',
        message.startsWith(setting) ? message : `${setting}: ${message}`,
        `change ${setting}`,
      ),
    );
  }
}

function capsCheck({ ofFeatures }: Config): Promise<Check>[] {
  const { CAPS_REDIS_URL: url } = ofFeatures;
  return typeof url === 'string' ? [redisCheck('caps-redis', 'CAPS_REDIS_URL', url)] : [];
}

/** The checks of the database and of what is in it. */
async function storedChecks(config: Config, keyRing: KeyRing): Promise<Check[]> {
  const { app, migrations, prepares } = config.database;
  const db = openDatabase(app, 1, noMeter, { connect: CONNECT, prepares });
  const store = memoryStore(clock); // nothing here is counted
  try {
    const answers = await databaseChecks(db, app);
    if (answers.some(({ id, result }) => id === 'database' && result === 'fail'))
      return [...answers, ...IN_IT.map((id) => skipped(id, 'the database does not answer'))];
    const { check, isReady } = await schemaCheck(migrations);
    if (!isReady)
      return [...answers, check, ...IN_IT.slice(1).map((id) => skipped(id, 'the migrations come first'))];
    const { opened } = openService({ settings: config, db, store, keyRing, clock });
    const seals = await sealCheck(opened, keyRing, db);
    return [...answers, check, seals, await storedKeyCheck(keyRing, db, config.keys.store)];
  } finally {
    await store.close();
    await db.destroy();
  }
}

/** The checks that need tables. */
const IN_IT = ['migrations', 'vault-key', 'signing-keys'];

/** The checks as lines for a person. */
export function textOf(checks: readonly Check[]): string {
  return checks
    .map(({ id, result, detail, fix }) => `${result.padEnd(4)}  ${id}: ${detail}${fix && `\n      → ${fix}`}`)
    .join('\n');
}
