import { join } from 'node:path';
import { reset } from './dev/earlier.ts';
import { openHome } from './dev/postgres.ts';

/** `npm run reset`: ends the processes of this checkout, and removes its data and keys. */
await reset(openHome(join(import.meta.dirname, '..')), (line) => process.stdout.write(`${line}\n`));
