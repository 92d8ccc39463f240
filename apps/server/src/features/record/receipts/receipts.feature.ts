import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { transparencyLog } from '../transparency/index.ts';
import { rates, receiptRoutes } from './receipts.routes.ts';
import { verifierRoutes } from './verifier.routes.ts';

const settings = {
  RECEIPT_MAX_ENTRIES: defaulted(
    integer(1, 1_000_000),
    '110000',
    'The most entries in a receipt of a grant: 100,000 acts, and those that make and end grants. Whoever checks a receipt holds all of it in memory.',
  ),
};

export const receipts = defineFeature({
  name: 'receipts',
  tags: { receipts: 'Receipts of grants, which anybody can check.' },
  tables: { owns: {}, reads: ['audit_entries', 'grants'], writes: [] },
  rates,
  settings,
  open(context, { RECEIPT_MAX_ENTRIES: maxEntries }) {
    const deps = { ...context, log: context.take(transparencyLog), maxEntries };
    return {
      async routes(app) {
        await receiptRoutes(app, deps);
        await verifierRoutes(app);
      },
    };
  },
});
