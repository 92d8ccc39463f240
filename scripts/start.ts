import { join } from 'node:path';
import { takeOver } from './dev/earlier.ts';
import { openHome } from './dev/home.ts';
import { reset } from './dev/reset.ts';
import { start } from './dev/start.ts';
import { beginLife } from './dev/stopping.ts';
import { walk } from './dev/walk.ts';

/** `npm start`: runs the service with its stores until it is stopped. */
const life = beginLife();
const print = (line: string) => {
  process.stdout.write(`${line}\n`);
};

try {
  const root = join(import.meta.dirname, '..');
  if (process.argv.includes('--reset')) await reset(openHome(root), print);
  const home = openHome(root);
  for (const ended of await takeOver(home)) print(`Ended ${ended}.`);
  const { server, address, sandboxKey } = await start(home, {
    ...{ life, print, isLogShown: process.argv.includes('--log') },
    hasRequests: process.argv.includes('--requests'),
    commandFor: (port) => `PORT=${port} npm start`,
  });
  print(`Try it, in another shell:\n\n${walk(address, sandboxKey)}\n\nCtrl-C ends everything.`);
  throw new Error(await server.ended); // the server runs until this process ends it
} catch (error) {
  if (!life.isEnding()) {
    print(error instanceof Error ? error.message : String(error));
    await life.end(1);
  }
}
