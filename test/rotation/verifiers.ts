import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import jsonwebtoken from 'jsonwebtoken';
import { JwksClient } from 'jwks-rsa';
import { createVerifier } from '../../packages/sdk/src/verify.ts';
import { findPython } from '../python/find-python.ts';

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

/** Reads a token from each line, and answers with an empty line or with the reason of a refusal. */
const PROGRAM = `
import sys, jwt
client = jwt.PyJWKClient(sys.argv[1])
for line in sys.stdin:
    try:
        token = line.strip()
        key = client.get_signing_key_from_jwt(token).key
        jwt.decode(token, key, algorithms=["RS256", "ES256"], issuer=sys.argv[2], options={"verify_aud": False})
        print("", flush=True)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".replace("\\n", " "), flush=True)
`;

/** @returns the Python that has PyJWT and its algorithms; undefined where there is none */
export const findPyJwt = (): string | undefined => findPython('import jwt, cryptography');

interface ExpectedIssuer {
  readonly jwksUri: string;
  readonly issuer: string;
}

/** A process with PyJWT, and the cache that its `PyJWKClient` has by default. */
function startPyJwt(python: string, { jwksUri, issuer }: ExpectedIssuer) {
  const child = spawn(python, ['-c', PROGRAM, jwksUri, issuer], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: ((reason: string) => void)[] = [];
  const answerAll = (reason: string) => {
    for (const answer of waiting.splice(0)) answer(reason);
  };
  createInterface({ input: child.stdout }).on('line', (reason) => waiting.shift()?.(reason));
  child.once('error', ({ message }) => answerAll(message));
  child.once('exit', () => answerAll('The process with PyJWT has ended.'));
  child.stdin.on('error', () => {}); // a process that has ended, which `exit` tells
  return {
    /** @throws Error with the reason for a token that PyJWT refuses */
    async accept(token: string): Promise<void> {
      const reason = await new Promise<string>((resolve) => {
        if (child.exitCode !== null) return resolve('The process with PyJWT has ended.');
        waiting.push(resolve);
        child.stdin.write(`${token}\n`);
      });
      if (reason !== '') throw new Error(reason);
    },
    stop: () => void child.kill(),
  };
}
