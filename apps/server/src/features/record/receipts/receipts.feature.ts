import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineFeature } from '../../../feature.ts';
import { verifierRoutes } from './verifier.routes.ts';

export const receipts = defineFeature({
  name: 'receipts',
  tags: { receipts: 'Receipts of grants, which anybody can check.' },
  tables: { owns: {}, reads: [], writes: [] },
  open() {
    const verifier = readFileSync(join(import.meta.dirname, 'page/verify.html'), 'utf8');
    return { routes: (app) => verifierRoutes(app, { verifier }) };
  },
});
