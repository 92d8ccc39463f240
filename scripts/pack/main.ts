import { join } from 'node:path';
import { packPackages } from './pack.ts';

/** Runs where the image is built; other commands call `packPackages`. */
await packPackages(join(import.meta.dirname, '../..'));
