import { defineFeature } from '../../../feature.ts';
import { operatorRoutes } from './operator.routes.ts';
import { operatorKeyCheck } from './operator.service.ts';
import { settings } from './operator.settings.ts';
import { tables } from './operator.tables.ts';

export const operator = defineFeature({
  name: 'operator',
  tags: { operator: 'The audit chain of the operator.' },
  tables,
  settings,
  open: (house, { ADMIN_API_KEY }) => ({
    routes: (app) => app.register(operatorRoutes, house),
    credentials: { operator: operatorKeyCheck(ADMIN_API_KEY) },
  }),
});
