import { createRouter } from '@tanstack/react-router';
import { accountRoutes } from './pages/account/routes.ts';
import { agentRoutes } from './pages/agents/routes.ts';
import { auditRoutes } from './pages/audit/routes.ts';
import { grantRoutes } from './pages/grants/routes.ts';
import { memberRoutes } from './pages/members/routes.ts';
import { overviewRoutes } from './pages/overview/routes.ts';
import { peopleRoutes } from './pages/people/routes.ts';
import { requestRoutes } from './pages/requests/routes.ts';
import { tourRoutes } from './pages/tour/routes.ts';
import { NoSuchPage, PageLoading, PageProblem } from './parts/states.tsx';
import { joinRoute, rootRoute, shellRoute } from './shell/root.tsx';

/** Each folder of `pages` has its routes, and the code of a page comes with its first visit. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    joinRoute,

    shellRoute.addChildren([
      ...overviewRoutes,
      ...tourRoutes,
      ...agentRoutes,
      ...grantRoutes,
      ...accountRoutes,
      ...memberRoutes,
      ...requestRoutes,
      ...peopleRoutes,
      ...auditRoutes,
    ]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0, // Query keeps what is fresh
  scrollRestoration: true,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageProblem,
  defaultNotFoundComponent: NoSuchPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
