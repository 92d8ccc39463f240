import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { Methods } from './declarations.ts';

/** A path that nobody has is 404; one that has other methods is 405 and says which. */
export function unknownRoutes(methods: Methods) {
  return ({ url, method }: FastifyRequest, reply: FastifyReply): AppError => {
    const path = url.replace(/\?.*$/s, '');
    const matches = (route: string) =>
      new RegExp(`^${route.replaceAll('.', '[.]').replace(/:\w+/g, '[^/]+')}$`).test(path);
    const route = [...methods.keys()].find(matches);
    const allow = [...(methods.get(route ?? '') ?? [])].sort();
    if (allow.length === 0) return new AppError('NOT_FOUND', 'No such route.');
    reply.header('allow', allow.join(', '));
    return new AppError('METHOD_NOT_ALLOWED', `${method} is not possible here.`, { allow });
  };
}
