import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { askWith, discover, REDIRECT } from '../app/oauth.ts';

type Parameters = Record<string, string>;
type Tokens = oauth.TokenEndpointResponse;

/** A client of the service that is made of a library, with a method for each flow. */
export interface Program {
  begin(
    parameters: Parameters,
    isPushed?: boolean,
  ): Promise<{ link: URL; finish(back: URL): Promise<Tokens> }>;
  refresh(refreshToken: string): Promise<Tokens>;
  /** Asks by a grant type for which the library has no function of its own. */
  grant(type: string, parameters: Parameters): Promise<Tokens>;
  ownToken(scope: string): Promise<Tokens>;
  isActive(token: string): Promise<boolean>;
  revoke(token: string): Promise<void>;
  askDevice(parameters: Parameters): Promise<{ userCode: string; finish(): Promise<Tokens> }>;
  askPerson(parameters: Parameters): Promise<{ finish(): Promise<Tokens> }>;
}

export interface Identity {
  readonly clientId: string;
  /** A secret, or the private key that signs assertions. */
  readonly proof?: string | openid.CryptoKey | undefined;
  /** The key to which tokens are bound. */
  readonly bound?: openid.CryptoKeyPair | undefined;
}

export interface Library {
  /** Reads the metadata of the service first. */
  open(url: string, identity: Identity): Promise<Program>;
  /** @returns the id of the new client */
  register(url: string): Promise<string>;
}

const REGISTRATION = {
  ...{ redirect_uris: [REDIRECT], client_name: 'Assistant', token_endpoint_auth_method: 'none' },
  grant_types: ['authorization_code', 'refresh_token'],
};

/** The clock of the service stands still, so the libraries ask without a pause. */
const AT_ONCE = { interval: 0 };

const openidClient: Library = {
  async open(url, { clientId, proof, bound }) {
    const config = await discover(url, clientId, openidAuth(proof));
    const options = bound ? { DPoP: openid.getDPoPHandle(config, bound) } : {};
    return {
      async begin(parameters, isPushed = false) {
        const { link: direct, checks } = await askWith(config, parameters);
        const link = isPushed
          ? await openid.buildAuthorizationUrlWithPAR(config, direct.searchParams, options)
          : direct;
        return { link, finish: (back) => openid.authorizationCodeGrant(config, back, checks, {}, options) };
      },
      refresh: (token) => openid.refreshTokenGrant(config, token, {}, options),
      grant: (type, parameters) => openid.genericGrantRequest(config, type, parameters, options),
      ownToken: (scope) => openid.clientCredentialsGrant(config, { scope }),
      isActive: async (token) => (await openid.tokenIntrospection(config, token)).active,
      revoke: (token) => openid.tokenRevocation(config, token),
      async askDevice(parameters) {
        const shown = await openid.initiateDeviceAuthorization(config, parameters);
        const waiting = { ...shown, ...AT_ONCE };
        return {
          userCode: shown.user_code,
          finish: () => openid.pollDeviceAuthorizationGrant(config, waiting, {}, options),
        };
      },
      async askPerson(parameters) {
        const started = await openid.initiateBackchannelAuthentication(config, parameters);
        const waiting = { ...started, ...AT_ONCE };
        return { finish: () => openid.pollBackchannelAuthenticationGrant(config, waiting, {}, options) };
      },
    };
  },
  async register(url) {
    const config = await openid.dynamicClientRegistration(new URL(url), REGISTRATION, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    return config.clientMetadata().client_id;
  },
};

function openidAuth(proof: Identity['proof']): openid.ClientAuth {
  if (proof === undefined) return openid.None();
  return typeof proof === 'string' ? openid.ClientSecretBasic(proof) : openid.PrivateKeyJwt(proof);
}

const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

async function serverAt(url: string): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(url);
  const answer = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE });
  return oauth.processDiscoveryResponse(issuer, answer);
}

const oauth4webapi: Library = {
  async open(url, { clientId, proof, bound }) {
    const server = await serverAt(url);
    const client: oauth.Client = { client_id: clientId };
    const by = [server, client, oauthAuth(proof)] as const;
    const options = { ...INSECURE, ...(bound && { DPoP: oauth.DPoP(client, bound) }) };
    return {
      async begin(parameters, isPushed = false) {
        const { query, verifier, state } = await queryOf(clientId, parameters);
        const link = new URL(server.authorization_endpoint ?? '');
        link.search = query.toString();
        if (isPushed) {
          const answer = await oauth.pushedAuthorizationRequest(...by, query, options);
          const pushed = await oauth.processPushedAuthorizationResponse(server, client, answer);
          link.search = `${new URLSearchParams({ client_id: clientId, request_uri: pushed.request_uri })}`;
        }
        return {
          link,
          async finish(back) {
            const told = oauth.validateAuthResponse(server, client, back, state);
            const rest = [told, REDIRECT, verifier, options] as const;
            const answer = await oauth.authorizationCodeGrantRequest(...by, ...rest);
            return oauth.processAuthorizationCodeResponse(server, client, answer);
          },
        };
      },
      async refresh(token) {
        const answer = await oauth.refreshTokenGrantRequest(...by, token, options);
        return oauth.processRefreshTokenResponse(server, client, answer);
      },
      async grant(type, parameters) {
        const answer = await oauth.genericTokenEndpointRequest(...by, type, parameters, options);
        return oauth.processGenericTokenEndpointResponse(server, client, answer);
      },
      async ownToken(scope) {
        const answer = await oauth.clientCredentialsGrantRequest(...by, { scope }, INSECURE);
        return oauth.processClientCredentialsResponse(server, client, answer);
      },
      async isActive(token) {
        const answer = await oauth.introspectionRequest(...by, token, INSECURE);
        return (await oauth.processIntrospectionResponse(server, client, answer)).active;
      },
      async revoke(token) {
        await oauth.processRevocationResponse(await oauth.revocationRequest(...by, token, INSECURE));
      },
      async askDevice(parameters) {
        const asked = await oauth.deviceAuthorizationRequest(...by, parameters, INSECURE);
        const shown = await oauth.processDeviceAuthorizationResponse(server, client, asked);
        return {
          userCode: shown.user_code,
          async finish() {
            const answer = await oauth.deviceCodeGrantRequest(...by, shown.device_code, options);
            return oauth.processDeviceCodeResponse(server, client, answer);
          },
        };
      },
      async askPerson(parameters) {
        const asked = await oauth.backchannelAuthenticationRequest(...by, parameters, INSECURE);
        const { auth_req_id: id } = await oauth.processBackchannelAuthenticationResponse(
          server,
          client,
          asked,
        );
        return {
          async finish() {
            const answer = await oauth.backchannelAuthenticationGrantRequest(...by, id, options);
            return oauth.processBackchannelAuthenticationGrantResponse(server, client, answer);
          },
        };
      },
    };
  },
  async register(url) {
    const answer = await oauth.dynamicClientRegistrationRequest(await serverAt(url), REGISTRATION, INSECURE);
    return (await oauth.processDynamicClientRegistrationResponse(answer)).client_id;
  },
};

function oauthAuth(proof: Identity['proof']): oauth.ClientAuth {
  if (proof === undefined) return oauth.None();
  return typeof proof === 'string' ? oauth.ClientSecretBasic(proof) : oauth.PrivateKeyJwt(proof);
}

/** The query of a link, and the secrets that the client keeps for the answer. */
async function queryOf(clientId: string, parameters: Parameters) {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: REDIRECT, scope: 'calendar:read', state },
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    ...{ code_challenge_method: 'S256', ...parameters },
  });
  return { query, verifier, state };
}

export const LIBRARIES = Object.entries({ 'openid-client': openidClient, oauth4webapi });
