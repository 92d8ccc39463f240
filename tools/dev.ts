import { join } from 'node:path';
import { takeOver } from './dev/earlier.ts';
import { openHome } from './dev/home.ts';
import { start } from './dev/start.ts';
import { beginLife } from './dev/stopping.ts';

/** `npm start`: runs the service with its stores until it is stopped. */
const life = beginLife();
const print = (line: string) => {
  process.stdout.write(`${line}\n`);
};

try {
  const home = openHome(join(import.meta.dirname, '..'));
  for (const ended of await takeOver(home)) print(`Ended ${ended}.`);
  const server = await start(home, { life, print, isLogShown: process.argv.includes('--log') });
  throw new Error(await server.ended); // the server runs until this process ends it
} catch (error) {
  if (!life.isEnding()) {
    print(error instanceof Error ? error.message : String(error));
    await life.end(1);
  }
}
