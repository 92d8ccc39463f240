import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { findPython } from '../python/find-python.ts';

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

interface Expected {
  readonly jwksUri: string;
  readonly issuer: string;
}

/** A process with PyJWT, and the cache that its `PyJWKClient` has by default. */
export function startPyJwt(python: string, { jwksUri, issuer }: Expected) {
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
