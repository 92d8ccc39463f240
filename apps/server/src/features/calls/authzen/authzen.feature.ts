import { defineFeature } from '../../../feature.ts';
import { enforcementDeps, meterSettings } from '../enforcement/index.ts';
import { authzenRoutes, rates } from './authzen.routes.ts';

export const authzen = defineFeature({
  name: 'authzen',
  tags: { authzen: 'The questions of `enforcement` in the words of OpenID AuthZEN.' },
  tables: { owns: {}, reads: [], writes: [] },
  rates,
  settings: meterSettings,
  open(house, settings) {
    const { issuer, publicBaseUrl } = house;
    const deps = { ...house, ...enforcementDeps(house, settings), issuer, publicBaseUrl };
    return { routes: (app) => app.register(authzenRoutes, deps) };
  },
});
