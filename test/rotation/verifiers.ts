import { createRemoteJWKSet, jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { JwksClient } from 'jwks-rsa';
import { createVerifier } from '../../packages/sdk/src/verify.ts';
import { startPyJwt } from './pyjwt.ts';

/** A program that accepts tokens, with the cache that its library has by default. It throws for a bad token. */
export interface Acceptor {
  readonly name: string;
  readonly accept: (token: string) => Promise<unknown>;
  /** Ends the process of a program that has one. */
  readonly stop?: () => void;
}

interface Expected {
  readonly issuer: string;
  readonly developerId: string;
  /** The Python with PyJWT, where there is one. */
  readonly python: string | undefined;
}

/** Programs with libraries of others and with our own, which fetch the keys from this instance. */
export function acceptorsAt(baseUrl: string, { issuer, developerId, python }: Expected): Acceptor[] {
  const jwksUri = `${baseUrl}/.well-known/jwks.json`;
  const keys = createRemoteJWKSet(new URL(jwksUri));
  const client = new JwksClient({ jwksUri });
  const own = createVerifier({ jwksUri, issuer, developerId, allowSandbox: true });
  return [
    { name: 'jose', accept: (token) => jwtVerify(token, keys, { issuer, algorithms: ['RS256', 'ES256'] }) },
    { name: 'jsonwebtoken with jwks-rsa', accept: (token) => verifyWith(client, token, issuer) },
    { name: 'our SDK', accept: (token) => own.verify(token) },
    ...(python ? [{ name: 'PyJWT', ...startPyJwt(python, { jwksUri, issuer }) }] : []),
  ];
}

function verifyWith(client: JwksClient, token: string, issuer: string): Promise<unknown> {
  const keyOf: jsonwebtoken.GetPublicKeyOrSecret = ({ kid }, done) => {
    client.getSigningKey(kid).then(
      (key) => done(null, key.getPublicKey()),
      (error: Error) => done(error),
    );
  };
  return new Promise((resolve, reject) => {
    jsonwebtoken.verify(token, keyOf, { issuer, algorithms: ['RS256', 'ES256'] }, (error, payload) => {
      if (error) reject(error);
      else resolve(payload);
    });
  });
}
