import { writeAmount } from '@behest/protocol/amounts';
import type { Caller } from '../../../platform/caller.ts';
import type { RequestRow } from './authorization.repo.ts';
import { type BudgetColumns, statusAt, storedBudget } from './authorization.rules.ts';
import type { AuthRequest } from './authorization.schema.ts';

/** A request as answers show it. */
export function toAuthRequest(
  request: Omit<RequestRow, 'developerId'>,
  { mode }: Caller,
  now: Date,
): AuthRequest {
  const { id, redirectUri, state, audience, purpose, authorizationDetails, decidedAt } = request;
  const { replacesGrantId } = request;
  const budget = budgetOf(request);
  return {
    authRequestId: id,
    id,
    agentId: request.agentId,
    principalId: request.principalId,
    scopes: request.scopes,
    expiresIn: request.expiresIn,
    status: statusAt(request, now),
    createdAt: request.createdAt.toISOString(),
    expiresAt: (request.codeExpiresAt ?? request.expiresAt).toISOString(),
    ...(redirectUri !== null && { redirectUri }),
    ...(state !== null && { state }),
    ...(audience !== null && { audience }),
    ...(purpose !== null && { purpose }),
    ...(Array.isArray(authorizationDetails) && { authorizationDetails }),
    ...(budget && { budget }),
    ...(replacesGrantId !== null && { replacesGrantId }),
    ...(request.channel !== null && { channel: request.channel }),
    ...(mode === 'sandbox' && { sandbox: true as const }),
    ...(decidedAt && { decidedAt: decidedAt.toISOString() }),
  };
}

/** The budget that a request asks for, as answers show it. */
export const budgetOf = (request: BudgetColumns) => {
  const budget = storedBudget(request);
  return budget && { amount: writeAmount(budget.units), currency: budget.currency };
};
