import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { askByBackchannel } from './channel.ts';
import { authorizeDevice, type DeviceDeps } from './device.ts';
import { brandOfCode, enterUserCode } from './device-entry.ts';
import { rates } from './oauth.rates.ts';
import { browserOf, clientRequestOf, form } from './oauth.routes.ts';
import {
  BackchannelAuthenticationRequest,
  BackchannelAuthenticationResponse,
  BrowserRedirect,
  DeviceAuthorizationRequest,
  DeviceAuthorizationResponse,
  UserCodeEntry,
  UserCodeQuestion,
  WaitingBrand,
} from './oauth.schema.ts';
import { browserCookie } from './sign-in.routes.ts';

/** Requests without a browser of the client. */
export const channelRoutes: FastifyPluginAsyncTypebox<DeviceDeps> = async (app, deps) => {
  const idOf = browserCookie(deps, { name: 'bh_device', seconds: 3600 });

  app.post(
    '/oauth/device_authorization',
    {
      config: { ...form, fromAnyOrigin: true },
      schema: {
        operationId: 'oauth.authorizeDevice',
        summary: 'Ask a person for consent, from a device without a browser (RFC 8628)',
        body: DeviceAuthorizationRequest,
        response: { 200: DeviceAuthorizationResponse },
      },
    },
    (request) => authorizeDevice(deps, request.body, clientRequestOf(request, request.body)),
  );

  app.post(
    '/oauth/bc-authorize',
    {
      config: form,
      schema: {
        operationId: 'oauth.authorizeByBackchannel',
        summary: 'Ask a person whom the client names (OpenID CIBA, poll mode)',
        description:
          'The developer hears of the request by the event `authorization.requested`, and leads the person to it with `POST /v1/authorize/{id}/link`.',
        body: BackchannelAuthenticationRequest,
        response: { 200: BackchannelAuthenticationResponse },
      },
    },
    (request) => askByBackchannel(deps, request.body, clientRequestOf(request, request.body)),
  );

  addPage(app, {
    name: 'device',
    feature: 'oauth',
    summary: 'The page on which a person enters the code of a device',
    folder: `${import.meta.dirname}/page`,
    isTranslated: true,
  });

  app.post(
    '/v1/device/brand',
    {
      config: { access: 'none', fromOwnPages: true, rate: rates.oauthSignIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'oauth.codeBrand',
        summary: 'Show whose device waits with a code',
        body: UserCodeQuestion,
        response: { 200: WaitingBrand },
      },
    },
    (request, reply) =>
      brandOfCode(deps, request.body, { ...browserOf(request), browserId: idOf(request, reply) }),
  );

  app.post(
    '/v1/device',
    {
      config: {
        access: 'none',
        fromOwnPages: true,
        rate: rates.deviceCode,
        failures: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'oauth.enterCode',
        summary: 'Enter the code of a device, as the person',
        body: UserCodeEntry,
        response: { 200: BrowserRedirect },
      },
    },
    async (request, reply) => {
      const browserId = idOf(request, reply);
      return enterUserCode(deps, request.body, { ...browserOf(request), browserId });
    },
  );
};
