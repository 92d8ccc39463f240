import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDemo } from './demo/run-demo.ts';
import { addressBeside } from './dev/start.ts';

/** `npm run demo`, beside a running `npm start`: shows the life of a grant, each request with its answer. */
const { BEHEST_API_KEY } = process.env;
const home = join(import.meta.dirname, '../.behest');
const say = (line: string) => {
  process.stdout.write(`${line}\n`);
};

try {
  const baseUrl = addressBeside(home);
  const apiKey = BEHEST_API_KEY ?? keptSandboxKey(join(home, 'keys.json'));
  say(`Behest at ${baseUrl}`);
  await runDemo({ baseUrl, apiKey, say });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** @throws when `npm start` has never run here */
function keptSandboxKey(file: string): string {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).SEED_SANDBOX_KEY;
  } catch (cause) {
    throw new Error('No key: run `npm start` first, or set BEHEST_URL and BEHEST_API_KEY.', { cause });
  }
}
