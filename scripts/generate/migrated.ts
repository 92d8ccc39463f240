import { migrate } from '../../apps/server/src/platform/db/migrate.ts';
import { startPostgres } from '../../apps/server/test/servers/postgres.ts';

/** Runs something with a temporary Postgres in which every migration is applied. */
export async function withMigrated<Result>(use: (url: string) => Promise<Result>): Promise<Result> {
  const postgres = await startPostgres();
  try {
    await migrate({ connectionString: postgres.url });
    return await use(postgres.url);
  } finally {
    await postgres.stop();
  }
}
