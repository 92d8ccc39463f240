import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, text } from '../../parts/address.ts';
import { shellRoute } from '../../shell/root.tsx';

export const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: address({ cursor: text }),
  component: lazyRouteComponent(() => import('./keys.tsx'), 'Keys'),
});

const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('./usage.tsx'), 'Usage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings'),
});

export const accountRoutes = [keysRoute, usageRoute, settingsRoute] as const;
