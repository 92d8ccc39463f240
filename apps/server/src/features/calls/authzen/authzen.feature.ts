import { defineFeature } from '../../../feature.ts';
import { enforcementParts } from '../enforcement/index.ts';
import { authzenRoutes, rates } from './authzen.routes.ts';

export const authzen = defineFeature({
  name: 'authzen',
  tags: { authzen: 'The questions of `enforcement` in the words of OpenID AuthZEN.' },
  tables: { owns: {}, reads: [], writes: [] },
  rates,
  open(context) {
    const { issuer, publicBaseUrl } = context;
    const deps = { ...context, ...context.take(enforcementParts), issuer, publicBaseUrl };
    return { routes: (app) => authzenRoutes(app, deps) };
  },
});
