import { sharedSecret } from '../../../config/secrets.ts';
import { optional } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { operatorRoutes } from './operator.routes.ts';
import { operatorKeyCheck } from './operator.ts';

const tables: TableUse = {
  owns: { operator_head: 'operator', operator_entries: 'operator' },
  reads: [],
  writes: [],
};

const settings = {
  ADMIN_API_KEY: optional(
    sharedSecret,
    'none: routes of the operator answer 503',
    'The key of the routes below `/v1/admin/`.',
  ),
};

export const operator = defineFeature({
  name: 'operator',
  tags: { operator: 'The audit chain of the operator.' },
  tables,
  settings,
  open: (context, { ADMIN_API_KEY }) => ({
    routes: (app) => operatorRoutes(app, context),
    credentials: { operator: operatorKeyCheck(ADMIN_API_KEY) },
  }),
});
