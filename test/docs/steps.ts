import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startApp } from '../../apps/server/test/app/start-app.ts';
import { freePort } from '../../scripts/machine/ports.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

/** The code of a page in a language, block by block. */
export const blocksOf = (page: string, language: string): string[] =>
  [
    ...readFileSync(join(ROOT, page), 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms')),
  ].map(([, code = '']) => code);

/**
 * Starts a service at its own address with the real time, because clients verify tokens by the time. `shell` runs the
 * commands of a page there.
 */
export async function listening(env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const startsAt = new Date().toISOString();
  const service = await startApp({ env: { PUBLIC_BASE_URL: baseUrl, ...env }, startsAt });
  await service.app.listen({ port, host: '127.0.0.1' });
  const shell = async (commands: string, variables: Readonly<Record<string, string>> = {}) => {
    const script = `set -eu\nKEY=\${KEY-}\n${commands.replaceAll('http://localhost:3001', baseUrl)}`;
    return (await run('bash', ['-c', script], { env: { ...process.env, ...variables } })).stdout;
  };
  return { ...service, baseUrl, shell };
}
