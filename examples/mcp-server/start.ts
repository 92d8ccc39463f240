import { Behest } from '@behest/sdk';
import { notesOverHttp } from './server.ts';

/** `npm start` serves the notes to agents of the account of BEHEST_API_KEY, those of a sandbox too. */
const { BEHEST_URL: authorizationServer = 'http://localhost:3001', PORT = '8080' } = process.env;
const resource = `http://localhost:${PORT}/mcp`;
const behest = new Behest({ audience: resource, baseUrl: authorizationServer, allowSandbox: true });
notesOverHttp({ behest, notes: new Map(), resource, authorizationServer }).listen(Number(PORT), () => {
  process.stdout.write(`The notes are at ${resource}, for tokens of ${authorizationServer}\n`);
});
