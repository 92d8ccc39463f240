import { join } from 'node:path';
import { openHome } from './dev/home.ts';
import { reset } from './dev/reset.ts';

/** `npm run reset`: ends the processes of this checkout, and removes its data and keys. */
await reset(openHome(join(import.meta.dirname, '..')), (line) => process.stdout.write(`${line}\n`));
