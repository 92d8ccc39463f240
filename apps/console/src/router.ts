import { createRouter } from '@tanstack/react-router';
import { pageRoutes } from './pages/routes.ts';
import { NoSuchPage, PageLoading, PageProblem } from './parts/states.tsx';
import { joinRoute, rootRoute, shellRoute } from './shell/root.tsx';

export const router = createRouter({
  routeTree: rootRoute.addChildren([joinRoute, shellRoute.addChildren(pageRoutes)]),
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
