import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The last segment of the path stands for any text, with slashes and a query, that is meant for another server. The
     * handler reads it through `tailOf`; neither the router nor a shape looks at it.
     */
    keepsTail?: true;
  }
}

/** Stands for a tail, so that the router sees a path of its own. */
const STAND_IN = '-';

export interface Tails {
  /** For Fastify's option `rewriteUrl`. */
  readonly rewriteUrl: (request: { readonly url?: string | undefined }) => string;
  readonly addTo: (app: FastifyInstance) => void;
}

/** Routes that declare `keepsTail` say where the tail begins. */
export function createTails(): Tails {
  const heads: RegExp[] = [];
  return {
    rewriteUrl({ url = '/' }) {
      for (const head of heads) {
        const found = head.exec(url);
        if (found) return `${found[0]}${STAND_IN}`;
      }
      return url;
    },
    addTo(app) {
      app.addHook('onRoute', ({ url, config }) => {
        if (!config?.keepsTail) return;
        const head = new RegExp(`^${url.replace(/:\w+$/, '').replaceAll(/:\w+/g, '[^/?#]+')}`);
        if (!heads.some(({ source }) => source === head.source)) heads.push(head);
      });
    },
  };
}

/** The tail as it was sent: everything after the path's other segments, with the query. */
export function tailOf({ originalUrl, url }: FastifyRequest): string {
  return originalUrl.slice(url.length - STAND_IN.length);
}
