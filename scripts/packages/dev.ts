import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { reset, takeOver } from '../dev/earlier.ts';
import { openHome } from '../dev/postgres.ts';
import { start } from '../dev/start.ts';
import { beginLife } from '../dev/stopping.ts';

/** `behest dev`: runs the installed server with its stores, as `npm start` runs that of a checkout. */
const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '.behest' },
    log: { type: 'boolean' },
    requests: { type: 'boolean' },
    reset: { type: 'boolean' },
  },
});
const life = beginLife();
const print = (line: string) => {
  process.stdout.write(`${line}\n`);
};

try {
  const folder = resolve(values.data);
  const programs = { start: 'dist/dev.js', server: 'start.mjs' };
  const open = () => openHome(dirname(import.meta.dirname), folder, programs);
  if (values.reset) await reset(open(), print);
  const home = open();
  writeFileSync(join(folder, '.gitignore'), '*\n');
  for (const ended of await takeOver(home)) print(`Ended ${ended}.`);
  const { server } = await start(home, {
    ...{ life, print, isLogShown: values.log === true, hasRequests: values.requests === true },
    commandFor: (port) => `behest dev --port ${port}`,
  });
  throw new Error(await server.ended); // the server runs until this process ends it
} catch (error) {
  if (!life.isEnding()) {
    print(error instanceof Error ? error.message : String(error));
    await life.end(1);
  }
}
