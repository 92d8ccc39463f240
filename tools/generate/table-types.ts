import { spawnSync } from 'node:child_process';
import { migrate } from '../../apps/server/src/platform/db/migrate.ts';
import { startPostgres } from '../../apps/server/test/servers/postgres.ts';

const FLAGS = ['--print', '--camel-case', '--log-level=silent', '--exclude-pattern=schema_*'];

/** Makes the types of all tables from the migrations, in a temporary Postgres. */
export async function tableTypes(): Promise<string> {
  const postgres = await startPostgres();
  try {
    await migrate({ connectionString: postgres.url });
    const { status, stdout, stderr } = spawnSync('kysely-codegen', [...FLAGS, `--url=${postgres.url}`], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`kysely-codegen: ${stderr}`);
    return stdout;
  } finally {
    await postgres.stop();
  }
}
