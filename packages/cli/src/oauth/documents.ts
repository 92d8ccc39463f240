import type { Context } from '../context.ts';

/** Asks an address without a credential of the account, and follows no redirect. */
export function askOpenly(context: Context, address: string, init: RequestInit = {}): Promise<Response> {
  return context.exchange.fetchWith(undefined)(address, {
    ...init,
    headers: { accept: 'application/json', ...Object(init.headers) },
    redirect: 'manual',
    signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
  });
}

/** @returns the status, and the JSON object that came with a good one */
export async function documentAt(context: Context, address: string) {
  const answer = await askOpenly(context, address);
  const value: unknown = await answer.json().catch(() => undefined);
  const isDocument = answer.ok && typeof value === 'object' && value !== null;
  return { status: answer.status, value: isDocument ? Object.fromEntries(Object.entries(value)) : undefined };
}
