import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The last segment of the path stands for any text, with slashes and a query, that is meant for another server. The
     * handler reads it through `tailOf`; neither the router nor a shape looks at it.
     */
    keepsTail?: true;
    /** The path may end with slashes, as some clients write it. */
    takesSlash?: true;
  }
}

/** Stands for a tail, so that the router sees a path of its own. */
const STAND_IN = '-';

export interface Tails {
  /** For Fastify's option `rewriteUrl`. */
  readonly rewriteUrl: (request: { readonly url?: string | undefined }) => string;
  readonly addTo: (app: FastifyInstance) => void;
}

/** Routes that declare `keepsTail` say where the tail begins. Those that declare `takesSlash` lose slashes at the end. */
export function createTails(): Tails {
  const heads: { readonly pattern: RegExp; readonly begin: string }[] = [];
  const slashed: RegExp[] = [];
  return {
    rewriteUrl({ url = '/' }) {
      for (const { begin, pattern } of heads) {
        const found = url.startsWith(begin) ? pattern.exec(url) : null;
        if (found) return `${found[0]}${STAND_IN}`;
      }
      return withoutSlash(url, slashed);
    },
    addTo(app) {
      app.addHook('onRoute', ({ url, config }) => {
        if (config?.takesSlash) {
          const path = new RegExp(`^${patternOf(url)}$`);
          if (!slashed.some(({ source }) => source === path.source)) slashed.push(path);
        }
        if (!config?.keepsTail) return;
        const pattern = new RegExp(`^${patternOf(url.replace(/:\w+$/, ''))}`);
        const begin = url.slice(0, url.indexOf(':'));
        if (!heads.some((head) => head.pattern.source === pattern.source)) heads.push({ pattern, begin });
      });
    },
  };
}

const patternOf = (url: string) => url.replaceAll(/:\w+/g, '[^/?#]+');

function withoutSlash(url: string, slashed: readonly RegExp[]): string {
  const query = url.indexOf('?');
  const end = query < 0 ? url.length : query;
  if (url[end - 1] !== '/') return url;
  let last = end;
  while (last > 1 && url[last - 1] === '/') last -= 1;
  const path = url.slice(0, last);
  return slashed.some((each) => each.test(path)) ? path + url.slice(end) : url;
}

/** The tail as it was sent: everything after the path's other segments, with the query. */
export function tailOf({ originalUrl, url }: FastifyRequest): string {
  return originalUrl.slice(url.length - STAND_IN.length);
}
