import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Packable, packable } from '../../finished.ts';
import { sendPacked } from '../answers/send.ts';

const Text = Type.Unsafe<Buffer | string>(Type.String());

interface Options {
  readonly publicBaseUrl: string;
  readonly hasDocs: boolean;
}

/** The description of the API: `openapi.json`, which `npm run generate` makes from the routes. */
export async function openapiRoutes(app: FastifyInstance, options: Options): Promise<void> {
  let described: Promise<Packable> | undefined;

  app.get(
    '/openapi.json',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: [] },
      schema: {
        operationId: 'operations.openapi',
        summary: 'This description',
        response: { 200: Text, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      described ??= describe(options);
      return sendPacked(request, reply, await described, {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
      });
    },
  );
}

/** As it is committed, with the address of this service and without pages that it does not serve. */
async function describe({ publicBaseUrl, hasDocs }: Options): Promise<Packable> {
  // The bundle of the sources has the file as a part of its own, which loads with the first request for it.
  const { default: made } = await import('../../../../../../openapi.json', { with: { type: 'json' } });
  const paths = Object.entries(made.paths).filter(([path]) => hasDocs || !/^\/docs(\/|$)/.test(path));
  return packable(
    JSON.stringify({ ...made, servers: [{ url: publicBaseUrl }], paths: Object.fromEntries(paths) }),
  );
}
