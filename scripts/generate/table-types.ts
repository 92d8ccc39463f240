import { spawnSync } from 'node:child_process';

const FLAGS = ['--print', '--camel-case', '--log-level=silent', '--exclude-pattern=schema_*'];

/** Makes the types of all tables of a migrated database. */
export function tableTypes(url: string): string {
  const { status, stdout, stderr } = spawnSync('kysely-codegen', [...FLAGS, `--url=${url}`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`kysely-codegen: ${stderr}`);
  return stdout;
}
