import { type Account, type Acknowledged, ask, BUDGET, CONNECTOR, type FundedAccount, TOOL } from './load.ts';

/** The grants that are not as the service acknowledged them. */
export async function brokenGrants(account: Account, { grants, revoked }: Acknowledged): Promise<string[]> {
  const broken: string[] = [];
  for (const id of grants) {
    const grant = await ask(account, 'GET', `/v1/grants/${id}`);
    if (grant?.status !== 200) broken.push(`grant ${id} is lost`);
    else if (revoked.has(id) && grant.body.status !== 'revoked') broken.push(`grant ${id} is alive again`);
  }
  return broken;
}

interface Page {
  readonly entries: readonly {
    readonly entryId: string;
    readonly hash: string;
    readonly metadata: { readonly call?: string };
  }[];
  readonly nextCursor: string | null;
}

/** The entries that are lost, or written twice, and the fault of the chain. */
export async function brokenChain(account: Account, { entries }: Acknowledged): Promise<string[]> {
  const kept = new Map<string, string>();
  const effects = new Map<string, number>();
  // The service's own work writes entries meanwhile, so the chain is counted before and after.
  const earlier = Number((await ask(account, 'GET', '/v1/audit/verify'))?.body.checkedEntries);
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/audit/entries?limit=500${cursor && `&cursor=${cursor}`}`;
    const page: Page = (await ask(account, 'GET', path))?.body;
    for (const { entryId, hash, metadata } of page.entries) {
      kept.set(entryId, hash);
      const { call } = metadata;
      if (call !== undefined) effects.set(call, (effects.get(call) ?? 0) + 1);
    }
    cursor = page.nextCursor;
  }
  const lost = [...entries]
    .filter(([id, hash]) => kept.get(id) !== hash)
    .map(([id]) => `entry ${id} is lost`);
  const doubled = [...effects].filter(([, times]) => times > 1).map(([call]) => `call ${call} acted twice`);
  const verdict = (await ask(account, 'GET', '/v1/audit/verify'))?.body;
  const isCounted = earlier <= kept.size && kept.size <= Number(verdict?.checkedEntries);
  const isWhole = verdict?.valid === true && isCounted;
  const faults = [...lost, ...doubled];
  return isWhole ? faults : [...faults, `the chain is broken: ${JSON.stringify(verdict)}`];
}

interface TransactionPage {
  readonly transactions: readonly {
    readonly id: string;
    readonly amount: string;
    readonly metadata: { readonly call?: string };
  }[];
  readonly nextCursor: string | null;
}

/** The debits and refunds that are lost or made twice, and the faults of the ledger. */
export async function brokenBudget(account: FundedAccount, { movements }: Acknowledged): Promise<string[]> {
  const kept = new Map<string, string>();
  const effects = new Map<string, number>();
  const path = `/v1/budget/transactions/${account.fundedGrantId}`;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await ask(account, 'GET', `${path}?limit=500${cursor && `&cursor=${cursor}`}`);
    const page: TransactionPage = answer?.body;
    for (const { id, amount, metadata } of page.transactions) {
      kept.set(id, amount);
      const { call } = metadata;
      if (call !== undefined) effects.set(call, (effects.get(call) ?? 0) + 1);
    }
    cursor = page.nextCursor;
  }
  const lost = [...movements]
    .filter(([id, amount]) => kept.get(id) !== amount)
    .map(([id]) => `transaction ${id} is lost`);
  const doubled = [...effects].filter(([, times]) => times > 1).map(([call]) => `call ${call} debited twice`);
  const balance = (await ask(account, 'GET', `/v1/budget/balance/${account.fundedGrantId}`))?.body;
  const spent = [...kept.values()].reduce((sum, amount) => sum + unitsIn(amount), 0n);
  const isExact = unitsIn(`${BUDGET}.0000`) - spent === unitsIn(balance.remainingBudget);
  const faults = [...lost, ...doubled, ...(await brokenLedger(account))];
  return isExact ? faults : [...faults, `the balance is not what the transactions leave: ${spent} spent`];
}

/** The sums of the ledger, as the service adds them up. */
export async function brokenLedger(account: Account): Promise<string[]> {
  const verdict = (await ask(account, 'GET', '/v1/budget/verify'))?.body;
  return verdict?.valid === true ? [] : [`the ledger is broken: ${JSON.stringify(verdict)}`];
}

const unitsIn = (amount: string) => BigInt(amount.replace('.', ''));

interface RulingPage {
  readonly entries: readonly { readonly status: string; readonly metadata: { readonly callId?: string } }[];
  readonly nextCursor: string | null;
}

/**
 * The permits that are lost, and the units that nothing explains. Each permit that is recorded has taken a unit, and a batch
 * that a kill cut off may have taken one that is not recorded.
 */
export async function brokenCaps(
  account: FundedAccount,
  { permits, cutOff }: Acknowledged,
): Promise<string[]> {
  const recorded = new Set<string | undefined>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/v1/audit/entries?limit=500&action=tool.enforce${cursor && `&cursor=${cursor}`}`;
    const page: RulingPage = (await ask(account, 'GET', path))?.body;
    for (const { status, metadata } of page.entries) {
      if (status === 'success') recorded.add(metadata.callId);
    }
    cursor = page.nextCursor;
  }
  const { grantId } = account.metered;
  const query = `grantId=${grantId}&connector=${CONNECTOR}&tool=${TOOL}`;
  const usage = await ask(account, 'GET', `/v1/enforce/usage?${query}`);
  const used = Number(usage?.body.counters?.[0]?.used);
  const lost = [...permits].filter((id) => !recorded.has(id)).map((id) => `permit ${id} is lost`);
  const isExplained = recorded.size <= used && used <= recorded.size + cutOff;
  if (isExplained) return lost;
  return [
    ...lost,
    `${used} units are taken, by ${recorded.size} permits and ${cutOff} batches that were cut off`,
  ];
}
