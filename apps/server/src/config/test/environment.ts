import { generateKeyPairSync } from 'node:crypto';
import { ConfigError, loadConfig } from '../../config.ts';
import vectors from '../../features/service/keys/keys.vectors.json' with { type: 'json' };
import type { Environment, SettingProblem } from '../setting.ts';

/** The smallest environment that starts in development. */
export const development: Environment = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://localhost/behest',
  REDIS_URL: 'redis://localhost',
  RSA_PRIVATE_KEY: vectors.rsa.privateKey,
};

/** The smallest environment that starts in production, which refuses the published test key. */
export const production: Environment = {
  ...development,
  NODE_ENV: 'production',
  RSA_PRIVATE_KEY: generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString(),
};

export function problemsOf(env: Environment): readonly SettingProblem[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

export const refusalsOf = (env: Environment): string[] => problemsOf(env).map(({ message }) => message);
