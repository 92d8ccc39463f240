import type { FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';
import type { Paths } from './declarations.ts';

/** The declarations of one path, for all methods. Several patterns may match: `/x/head` is also `/x/:id`. */
export interface KnownPath {
  readonly methods: readonly string[];
  readonly isForOwnPages: boolean;
  readonly fromAnyOrigin: boolean;
  /** Whether it is the path of a public document, or of one that other services publish. */
  readonly isPublic: boolean;
}

type Declared = Paths extends ReadonlyMap<string, infer One> ? One : never;

/** @returns a function that finds a path among those that are declared by its first call */
export function pathFinder(paths: Paths) {
  let patterns: (Declared & { readonly pattern: RegExp })[] | undefined;

  return (url: string): KnownPath => {
    patterns ??= [...paths].map(([path, declared]) => ({ pattern: patternOf(path), ...declared }));
    const path = url.replace(/[?#].*$/s, '');
    const found = patterns.filter(({ pattern }) => pattern.test(path));
    const methods = [...new Set(found.flatMap((each) => [...each.methods]))].sort();
    return {
      methods,
      isForOwnPages: found.some((each) => each.isForOwnPages),
      fromAnyOrigin: found.some((each) => each.fromAnyOrigin),
      isPublic: found.some((each) => each.isPublic) || (found.length === 0 && WELL_KNOWN.test(path)),
    };
  };
}

/** Programs try several forms of these paths (RFC 8414 §3.1, OpenID Discovery §4), and a page has to read each 404. */
const WELL_KNOWN = /\/\.well-known(\/|$)/;

const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '[.]').replace(/:\w+/g, '[^/]+')}$`);

/** A path without a route is 404. A path with other methods is 405, and the answer names them. */
export function unknownRoute({ methods }: Pick<KnownPath, 'methods'>, { method }: FastifyRequest): AppError {
  if (methods.length === 0) return new AppError('NOT_FOUND', 'No such route.');
  return new AppError('METHOD_NOT_ALLOWED', `This path does not take ${method}.`, { allow: methods });
}
