import { defineFeature } from '../../../feature.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { manifestLibrary } from '../../grants/manifests/index.ts';
import { explanationRoutes } from './explanations.routes.ts';

const tables: TableUse = { owns: {}, reads: [], writes: [] };

export const explanations = defineFeature({
  name: 'explanations',
  tags: {},
  tables,
  open(context) {
    const findLoaded = manifestLibrary();
    return { routes: (app) => explanationRoutes(app, { ...context, findLoaded }) };
  },
});
