import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildConsole } from '../../console/build.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { startRedis } from './servers/keeper.ts';
import { execute, startPostgres } from './servers/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A database that is migrated and empty, on a server where it may be cloned. */
    templateUrl: string;
    /** Shared by the whole run, hence a key prefix each. */
    redisUrl: string;
    /** The private key of every service that a test starts: making one takes longer than most tests. */
    rsaKey: string;
  }
}

export default async function setup(project: TestProject) {
  const built = buildConsole(join(import.meta.dirname, '../../..'));
  const started = await Promise.allSettled([startPostgres(), startRedis()]);
  const stop = () =>
    Promise.all(started.map((server) => server.status === 'fulfilled' && server.value.stop()));
  try {
    await built;
    const [postgres, redis] = started;
    if (postgres.status === 'rejected') throw postgres.reason;
    if (redis.status === 'rejected') throw redis.reason;
    project.provide('templateUrl', await createTemplate(postgres.value.url));
    project.provide('redisUrl', redis.value.url);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    project.provide('rsaKey', String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function createTemplate(serverUrl: string): Promise<string> {
  const name = `template_${randomUUID().replaceAll('-', '')}`;
  await execute(serverUrl, `create database ${name}`);
  const templateUrl = new URL(name, serverUrl).href;
  await migrate({ connectionString: templateUrl });
  return templateUrl;
}
