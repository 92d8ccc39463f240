import { Behest } from '@behest/sdk';
import { calendarApi } from './app.ts';

/** `npm start` serves the calendar to agents of the account of BEHEST_API_KEY, those of a sandbox too. */
const { BEHEST_URL: issuer = 'http://localhost:3001', PORT = '8080' } = process.env;
const audience = `http://localhost:${PORT}`;
const behest = new Behest({ audience, baseUrl: issuer, allowSandbox: true });
const { developerId } = await behest.me();
calendarApi({ behest, issuer, developerId, audience, allowSandbox: true }).listen(Number(PORT), () => {
  process.stdout.write(`The calendar is at ${audience}/events, for tokens of ${issuer}\n`);
});
