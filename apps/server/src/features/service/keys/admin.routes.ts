import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operatorOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { KeyPath, ManagedKey, ManagedKeys, NewRotation } from './admin.schema.ts';
import { type KeyAdminDeps, listKeys, retireKey, rotateKey } from './admin.ts';

export const keyAdminRoutes: FastifyPluginAsyncTypebox<KeyAdminDeps> = async (app, deps) => {
  app.get(
    '/v1/admin/keys',
    {
      config: { access: 'operator', rate: generalRates.admin, failures: [] },
      schema: {
        operationId: 'keys.list',
        summary: 'List the signing keys with their states, newest first',
        response: { 200: ManagedKeys },
      },
    },
    () => listKeys(deps),
  );

  app.post(
    '/v1/admin/keys/rotate',
    {
      config: {
        access: 'operator',
        rate: generalRates.admin,
        failures: ['KEY_STORE_READ_ONLY', 'CONFLICT'],
      },
      schema: {
        operationId: 'keys.rotate',
        summary: 'Publish a new signing key, which signs after the activation delay',
        body: NewRotation,
        response: { 200: ManagedKey },
      },
    },
    (request) => rotateKey(deps, operatorOf(request), request.body),
  );

  app.post(
    '/v1/admin/keys/:kid/retire',
    {
      config: {
        access: 'operator',
        rate: generalRates.admin,
        failures: ['KEY_STORE_READ_ONLY', 'CONFLICT'],
      },
      schema: {
        operationId: 'keys.retire',
        summary: 'Take a key from use that does not sign, before its time',
        params: KeyPath,
        body: NoFields,
        response: { 200: ManagedKey },
      },
    },
    (request) => retireKey(deps, operatorOf(request), request.params.kid),
  );
};
