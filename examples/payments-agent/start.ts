import { Behest, BehestDeniedError } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { limits, paymentTool } from './agent.ts';

/** `npm start` pays three times in the name of a person of a sandbox, whose key BEHEST_API_KEY is. Two are allowed. */
const { BEHEST_URL: baseUrl = 'http://localhost:3001' } = process.env;
const behest = new Behest({ baseUrl, allowSandbox: true, meter: memoryMeter() });
const { id: agentId } = await behest.agents.register({ name: 'Payments agent', scopes: limits.scopes });
const { code } = await behest.authorize({ agentId, userId: 'user_42', ...limits });
if (code === undefined)
  throw new Error('Set BEHEST_API_KEY to the sandbox key: a live account waits for its person.');
const { grantToken } = await behest.tokens.exchange({ code, agentId });

const pay = paymentTool(
  behest,
  async () => grantToken,
  async ({ amount, currency, to }) => `paid ${amount} ${currency} to ${to}`,
);
for (const amount of ['120.00', '80.00', '10.00']) {
  const outcome = await pay({ to: 'DE02120300000000202051', amount, currency: 'EUR' }).catch(
    (error: unknown) => {
      if (error instanceof BehestDeniedError) return `denied: ${error.message}`;
      throw error;
    },
  );
  process.stdout.write(`${outcome}\n`);
}
await behest.close();
