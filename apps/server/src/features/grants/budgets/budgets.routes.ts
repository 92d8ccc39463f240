import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  allocate,
  type BudgetDeps,
  getBalance,
  listAllocations,
  listTransactions,
  verifyLedger,
} from './allocate.ts';
import {
  BudgetAllocation,
  BudgetAllocationPage,
  BudgetAllocationQuery,
  BudgetDebit,
  BudgetDebitRequest,
  BudgetLedgerCheck,
  BudgetRefund,
  BudgetRefundRequest,
  BudgetTransactionPage,
  BudgetTransactionQuery,
  GrantPath,
  NewBudgetAllocation,
} from './budgets.schema.ts';
import { debit, refund } from './debit.ts';

/** Backends of agents use these routes, each key for its own agents. */
const ofAgents = { access: 'developer', role: 'runtime', boundKeys: 'own agents', rate: 'default' } as const;

export const budgetRoutes: FastifyPluginAsyncTypebox<BudgetDeps> = async (app, deps) => {
  app.post(
    '/v1/budget/allocate',
    {
      config: {
        ...ofAgents,
        capability: 'configure',
        failures: ['NOT_FOUND', 'GRANT_INACTIVE', 'CONFLICT', 'CURRENCY_MISMATCH', 'INSUFFICIENT_BUDGET'],
      },
      schema: {
        operationId: 'budgets.allocate',
        summary: 'Give a grant a budget',
        body: NewBudgetAllocation,
        response: { 201: BudgetAllocation },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await allocate(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/budget/debit',
    {
      config: {
        ...ofAgents,
        capability: 'never',
        failures: ['NOT_FOUND', 'GRANT_INACTIVE', 'INSUFFICIENT_BUDGET'],
      },
      schema: {
        operationId: 'budgets.debit',
        summary: 'Debit the budget of a grant, and those above it',
        body: BudgetDebitRequest,
        response: { 200: BudgetDebit },
      },
    },
    (request) => debit(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/budget/refund',
    {
      config: { ...ofAgents, capability: 'configure', failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'budgets.refund',
        summary: 'Give a debit back, or a part of it',
        body: BudgetRefundRequest,
        response: { 200: BudgetRefund },
      },
    },
    (request) => refund(depsFor(request, deps), callerOf(request), request.body),
  );

  app.get(
    '/v1/budget/balance/:grantId',
    {
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'budgets.balance',
        summary: 'Get the budget of a grant',
        params: GrantPath,
        response: { 200: BudgetAllocation },
      },
    },
    (request) => getBalance(deps, callerOf(request), request.params.grantId),
  );

  app.get(
    '/v1/budget/allocations',
    {
      config: { ...ofAgents, capability: 'read', failures: [] },
      schema: {
        operationId: 'budgets.list',
        summary: 'List budgets, newest first',
        querystring: BudgetAllocationQuery,
        response: { 200: BudgetAllocationPage },
      },
    },
    (request) => listAllocations(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/budget/verify',
    {
      config: { ...ofAgents, capability: 'read', boundKeys: 'forbidden', failures: [], isHeavy: true },
      schema: {
        operationId: 'budgets.verify',
        summary: 'Add up the ledger of all budgets',
        response: { 200: BudgetLedgerCheck },
      },
    },
    (request) => verifyLedger(deps, callerOf(request)),
  );

  app.get(
    '/v1/budget/transactions/:grantId',
    {
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'budgets.transactions',
        summary: 'List the debits and refunds of a grant’s budget, newest first',
        params: GrantPath,
        querystring: BudgetTransactionQuery,
        response: { 200: BudgetTransactionPage },
      },
    },
    (request) => listTransactions(deps, callerOf(request), request.params.grantId, request.query),
  );
};
