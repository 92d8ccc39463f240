import { join } from 'node:path';
import { buildConsole } from '../apps/console/build.ts';
import { reset, takeOver } from './dev/earlier.ts';
import { openHome } from './dev/postgres.ts';
import { start } from './dev/start.ts';
import { beginLife } from './dev/stopping.ts';

/** Prints lines to copy into a shell: the life of a grant, with the key of the sandbox. */
function walk(address: string, sandboxKey: string): string {
  return `  KEY=${sandboxKey}
  post() { curl -sS "${address}$1" -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d "$2"; echo; }
  field() { node -pe "JSON.parse(require('fs').readFileSync(0)).$1"; }

  AGENT=$(post /v1/agents '{"name":"Travel agent","scopes":["calendar:read"]}' | field agentId)
  CODE=$(post /v1/authorize '{"agentId":"'$AGENT'","principalId":"user_42","scopes":["calendar:read"]}' | field code)
  TOKEN=$(post /v1/token '{"agentId":"'$AGENT'","code":"'$CODE'"}' | field grantToken)
  post /v1/tokens/verify '{"token":"'$TOKEN'"}'
  post /v1/tokens/revoke '{"token":"'$TOKEN'"}'
  post /v1/tokens/verify '{"token":"'$TOKEN'"}'

To decide on the consent page instead, ask without the sandbox's automatic approval, and open the address
that the second line prints. Once you have approved there, the third line gives the code.

  REQUEST=$(post /v1/authorize '{"agentId":"'$AGENT'","principalId":"user_42","scopes":["calendar:read"],"autoApprove":false}')
  printf %s "$REQUEST" | field consentUrl
  post /v1/authorize/$(printf %s "$REQUEST" | field authRequestId)/code '{}'`;
}

/** `npm start`: runs the service with its stores until it is stopped. */
const life = beginLife();
const print = (line: string) => {
  process.stdout.write(`${line}\n`);
};

try {
  const root = join(import.meta.dirname, '..');
  if (process.argv.includes('--reset')) await reset(openHome(root), print);
  const home = openHome(root);
  for (const ended of await takeOver(home)) print(`Ended ${ended}.`);
  await buildConsole(root);
  const { server, address, sandboxKey } = await start(home, {
    ...{ life, print, isLogShown: process.argv.includes('--log') },
    hasRequests: process.argv.includes('--requests'),
    commandFor: (port) => `PORT=${port} npm start`,
  });
  print(`Try it, in another shell:\n\n${walk(address, sandboxKey)}\n\nCtrl-C ends everything.`);
  throw new Error(await server.ended); // the server runs until this process ends it
} catch (error) {
  if (!life.isEnding()) {
    print(error instanceof Error ? error.message : String(error));
    await life.end(1);
  }
}
