import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { protectTools } from '@behest/sdk/ai';
import { protectTool as protectNode } from '@behest/sdk/langgraph';
import { protectTool as protectMastra } from '@behest/sdk/mastra';
import { protectTool as protectOpenAi } from '@behest/sdk/openai-agents';
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { Command, END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { Agent as MastraAgent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import {
  Agent,
  type Model,
  tool as openAiTool,
  RunContext,
  Runner,
  setTracingDisabled,
  Usage,
} from '@openai/agents-core';
import { tool as aiTool, generateText, isStepCount } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { enrolApprover } from '../../apps/server/test/app/approving.ts';
import { grantTo } from '../../apps/server/test/app/flow.ts';
import { startListening } from '../../apps/server/test/app/listening.ts';

const MANIFEST = {
  connector: 'bank',
  tools: { balance: { permission: 'read' }, pay: { permission: 'write', requires_decision: true } },
};
const PAYMENT = { to: 'ACME Ltd', amount: '120.50' };
const paymentSchema = z.object({ to: z.string(), amount: z.string() });
const Nothing = z.object({});

test.each(['ai', 'langgraph', 'mastra', 'openai-agents'])('the adapter %s has at most 80 lines', (name) => {
  const file = join(import.meta.dirname, `../../packages/sdk/src/${name}.ts`);

  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(80);
});

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  setTracingDisabled(true);
  const env = { FIDO_RP_ID: 'auth.test', FIDO_ORIGIN: 'https://auth.test' };
  service = await startListening({ isShared: true, startsAt: new Date().toISOString(), env });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** An agent of an account whose people decide about payments, and the payments that ran. */
async function started(scopes = ['tool:bank:write']) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await acme('PUT', '/v1/manifests/bank', { $schema: 'x', ...MANIFEST });
  const { grantToken } = await grantTo(acme, { scopes });
  const ada = await enrolApprover(service, acme, `ada-${crypto.randomUUID()}@example.org`);
  const settings = { apiKey: acme.apiKey, baseUrl: service.url, allowSandbox: true };
  const behest = new Behest({ ...settings, manifests: [MANIFEST] });
  onTestFinished(() => behest.close());
  const paid: object[] = [];
  const pay = async (payment: object) => {
    paid.push(payment);
    return 'paid';
  };
  const decisions = async () => (await behest.decisions.list()).decisions;
  return { behest, ada, paid, pay, decisions, calls: { connector: 'bank', grantToken } };
}
const idIn = (text: string) => /#decision=(\w+)/.exec(text)?.[1] ?? '';

/** A model that says these things, one at each turn: the call of a tool, or a text. */
function scripted(turns: readonly (readonly [string, object] | string)[]) {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  return new MockLanguageModelV4({
    doGenerate: turns.map((turn, at) => ({
      content: [
        typeof turn === 'string'
          ? { type: 'text' as const, text: turn }
          : {
              ...{ type: 'tool-call' as const, toolCallId: `call-${at}`, toolName: turn[0] },
              input: JSON.stringify(turn[1]),
            },
      ],
      finishReason:
        typeof turn === 'string'
          ? { unified: 'stop' as const, raw: 'stop' }
          : { unified: 'tool-calls' as const, raw: 'tool_calls' },
      ...{ usage, warnings: [] },
    })),
  });
}

describe('tools of the AI SDK', () => {
  test('run when they are allowed, and the model reads a denial', async () => {
    const { behest, calls, paid, pay } = await started(['tool:bank:read']);
    const tools = protectTools(
      behest,
      {
        balance: aiTool({ inputSchema: Nothing, execute: async () => 420 }),
        pay: aiTool({ inputSchema: paymentSchema, execute: pay }),
      },
      calls,
    );
    const model = scripted([['balance', {}], ['pay', PAYMENT], 'done']);

    const { steps, text } = await generateText({ model, tools, prompt: 'Pay.', stopWhen: isStepCount(3) });

    const parts = steps.flatMap(({ content }) => content);
    expect(parts.find(({ type }) => type === 'tool-result')).toMatchObject({
      toolName: 'balance',
      output: 420,
    });
    expect(parts.find(({ type }) => type === 'tool-error')).toMatchObject({
      error: { name: 'BehestDeniedError', reasonCode: 'permission_insufficient' },
    });
    expect([text, paid]).toEqual(['done', []]);
    const { execute: _, ...elsewhere } = aiTool({ inputSchema: Nothing, execute: pay });
    const unfit = { elsewhere: { ...elsewhere, execute: undefined } };
    expect(() => protectTools(behest, unfit, calls)).toThrow('no execute');
  });

  test('name the page where a person has to decide, and run with the same call after that', async () => {
    const { behest, calls, ada, paid, pay } = await started();
    const tools = protectTools(behest, { pay: aiTool({ inputSchema: paymentSchema, execute: pay }) }, calls);
    const once = () => generateText({ model: scripted([['pay', PAYMENT]]), tools, prompt: 'Pay.' });

    const [error] = (await once()).content.filter(({ type }) => type === 'tool-error');
    const { message } = Object(Object(error).error);
    expect([message, paid]).toEqual([expect.stringContaining('Make the same call again'), []]);
    expect((await ada.approve(idIn(message))).statusCode).toBe(200);

    expect((await once()).toolResults).toMatchObject([{ output: 'paid' }]);
    expect(paid).toEqual([PAYMENT]);
    expect((await once()).toolResults).toEqual([]); // another payment, about which people decide again
  });

  test('do not run when people say no', async () => {
    const { behest, calls, ada, paid, pay } = await started();
    const tools = protectTools(behest, { pay: aiTool({ inputSchema: paymentSchema, execute: pay }) }, calls);
    const errorOf = async () => {
      const asked = await generateText({ model: scripted([['pay', PAYMENT]]), tools, prompt: 'Pay.' });
      return Object(asked.content.find(({ type }) => type === 'tool-error')).error;
    };

    expect((await ada.deny(idIn((await errorOf()).message))).statusCode).toBe(200);

    expect(await errorOf()).toMatchObject({ name: 'BehestDeniedError' });
    expect(paid).toEqual([]);
  });

  test('are decided before the first step where they answer in steps', async () => {
    const { behest, calls } = await started(['tool:bank:read']);
    const seen: string[] = [];
    const inSteps = aiTool({
      inputSchema: Nothing,
      async *execute() {
        seen.push('began');
        yield 'half';
        yield 'whole';
      },
    });
    const ask = (name: string) => {
      const tools = protectTools(behest, { [name]: inSteps }, calls);
      return generateText({ model: scripted([[name, {}]]), tools, prompt: 'Go.' });
    };

    expect((await ask('balance')).toolResults).toMatchObject([{ output: 'whole' }]);
    expect((await ask('pay')).toolResults).toEqual([]);
    expect(seen).toEqual(['began']);
  });
});

describe('a tool of the OpenAI Agents SDK', () => {
  /** A model that calls a tool, and then says that it is done. */
  function calling(name: string, args: object): Model {
    const call = { type: 'function_call' as const, callId: 'call-1', name, arguments: JSON.stringify(args) };
    return {
      async getResponse({ input }) {
        const hasCalled = Array.isArray(input) && input.some(({ type }) => type === 'function_call_result');
        const said = { type: 'output_text' as const, text: 'done' };
        const message = {
          type: 'message' as const,
          role: 'assistant' as const,
          status: 'completed' as const,
        };
        return { usage: new Usage(), output: [hasCalled ? { ...message, content: [said] } : call] };
      },
      getStreamedResponse() {
        throw new Error('No test streams.');
      },
    };
  }
  const runner = new Runner({ tracingDisabled: true });
  const agentWith = (tool: ReturnType<typeof openAiTool>, args: object) =>
    new Agent({ name: 'Payments', model: calling(tool.name, args), tools: [tool] });
  const outputsOf = (result: { newItems: readonly { rawItem?: unknown }[] }) =>
    result.newItems
      .map(({ rawItem }) => Object(rawItem))
      .filter(({ type }) => type === 'function_call_result');

  test('runs when it is allowed, and the model reads a denial', async () => {
    const { behest, calls, paid, pay } = await started(['tool:bank:read']);
    const options = { description: 'x', parameters: Nothing, execute: async () => '420' };
    const balance = openAiTool(protectOpenAi(behest, { name: 'balance', ...options }, calls));
    const payment = { name: 'pay', description: 'x', parameters: paymentSchema, execute: pay };
    const denied = openAiTool(protectOpenAi(behest, payment, calls));

    const good = await runner.run(agentWith(balance, {}), 'How much?');
    const bad = await runner.run(agentWith(denied, PAYMENT), 'Pay.');

    expect(outputsOf(good)).toMatchObject([{ output: { text: '420' } }]);
    expect(JSON.stringify(outputsOf(bad))).toContain('(permission_insufficient)');
    expect([good.finalOutput, bad.finalOutput, paid]).toEqual(['done', 'done', []]);
  });

  test('interrupts the run where a person has to decide, and runs after they approved', async () => {
    const { behest, calls, ada, paid, pay } = await started();
    const pages: string[] = [];
    const payment = { name: 'pay', description: 'x', parameters: paymentSchema, execute: pay };
    const onDecision = ({ url }: { url: string }) => void pages.push(url);
    const agent = agentWith(openAiTool(protectOpenAi(behest, payment, { ...calls, onDecision })), PAYMENT);

    const early = await runner.run(agent, 'Pay.');
    for (const interruption of early.interruptions) early.state.approve(interruption);
    const stillDenied = await runner.run(agent, early.state);
    expect(JSON.stringify(outputsOf(stillDenied))).toContain('A person has to approve');
    expect(paid).toEqual([]);

    const paused = await runner.run(agent, 'Pay.');
    expect(paused.interruptions).toHaveLength(1);
    expect(new Set(pages).size).toBe(1); // one request, which is asked for again and again
    expect((await ada.approve(idIn(pages[0] ?? ''))).statusCode).toBe(200);
    for (const interruption of paused.interruptions) paused.state.approve(interruption);
    const done = await runner.run(agent, paused.state);

    expect([done.finalOutput, paid]).toEqual(['done', [PAYMENT]]);
  });
});

test('a tool of the OpenAI Agents SDK does not run when people say no, though the run is approved', async () => {
  const { behest, calls, ada, paid, pay } = await started();
  const pages: string[] = [];
  const payment = { name: 'pay', description: 'x', parameters: paymentSchema, execute: pay };
  const onDecision = ({ url }: { url: string }) => void pages.push(url);
  const options = protectOpenAi(behest, payment, { ...calls, onDecision });
  const args = JSON.stringify(PAYMENT);
  const tool = openAiTool(options);

  expect(await options.needsApproval(undefined, PAYMENT)).toBe(true);
  expect((await ada.deny(idIn(pages[0] ?? ''))).statusCode).toBe(200);

  expect(String(await tool.invoke(new RunContext(), args))).toMatch(/\(\w+\)$/);
  expect(paid).toEqual([]);
});

describe('a tool of Mastra', () => {
  const toolOf = (made: Awaited<ReturnType<typeof started>>, id: 'balance' | 'pay') =>
    createTool(
      protectMastra(
        made.behest,
        {
          ...{ id, description: 'x', inputSchema: id === 'pay' ? paymentSchema : Nothing },
          execute: async (input: object) => ({ answer: await made.pay(input) }),
        },
        made.calls,
      ),
    );
  function agentWith(tool: ReturnType<typeof toolOf>, turns: Parameters<typeof scripted>[0]) {
    const agent = new MastraAgent({
      ...{ id: 'payments', name: 'payments', instructions: 'Pay.' },
      model: scripted(turns) as never, // Mastra's type of a model lacks what its `generate` calls
      tools: { [tool.id]: tool },
    });
    new Mastra({ agents: { payments: agent }, storage: new InMemoryStore(), logger: false });
    return agent;
  }

  test('runs when it is allowed, and the model reads a denial', async () => {
    const made = await started(['tool:bank:read']);
    const allowed = agentWith(toolOf(made, 'balance'), [['balance', {}], 'done']);
    const denied = agentWith(toolOf(made, 'pay'), [['pay', PAYMENT], 'done']);

    const good = await allowed.generate('How much?', { maxSteps: 2 });
    const bad = await denied.generate('Pay.', { maxSteps: 2 });

    expect(JSON.stringify(good.toolResults)).toContain('"answer":"paid"');
    expect(JSON.stringify(bad.steps)).toMatch(/permission/i);
    expect([good.text, bad.text, made.paid]).toEqual(['done', 'done', [{}]]);
  });

  test('is suspended where a person has to decide, and asks nobody twice', async () => {
    const made = await started();
    const { ada, paid, decisions } = made;
    const agent = agentWith(toolOf(made, 'pay'), [['pay', PAYMENT], 'done', ['pay', PAYMENT], 'done']);

    const first = await agent.generate('Pay.', { maxSteps: 2 });
    expect(first.finishReason).toBe('suspended');
    const [{ decisionId = '' } = {}] = await decisions();
    expect(JSON.stringify(first.suspendPayload)).toContain(decisionId);
    expect((await ada.approve(decisionId)).statusCode).toBe(200);
    await agent.resumeGenerate({ decided: true }, { runId: first.runId ?? '' });
    expect(paid).toEqual([PAYMENT]);

    const second = await agent.generate('Pay again.', { maxSteps: 2 });
    const [{ decisionId: other = '' } = {}] = (await decisions()).filter(
      ({ status }) => status === 'pending',
    );
    expect((await ada.deny(other)).statusCode).toBe(200);
    await agent.resumeGenerate({ decided: true }, { runId: second.runId ?? '' });
    expect([paid.length, (await decisions()).length]).toEqual([1, 2]);
  });
});

describe('a tool of LangGraph', () => {
  /** A graph whose model calls the tool once, and whose tool node runs it. */
  async function graphWith(scopes?: string[]) {
    const made = await started(scopes);
    const { behest, calls, pay } = made;
    const run = protectNode(behest, pay, { ...calls, tool: 'pay' });
    const tools = [langchainTool(run, { name: 'pay', description: 'Pays.', schema: paymentSchema })];
    const call = { id: 'call-1', name: 'pay', args: PAYMENT };
    const agent = ({ messages }: { messages: BaseMessage[] }) => {
      const hasCalled = messages.some(({ type }) => type === 'tool');
      return { messages: [new AIMessage({ content: 'done', tool_calls: hasCalled ? [] : [call] })] };
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', agent)
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', ({ messages }) =>
        Object(messages.at(-1)).tool_calls?.length ? 'tools' : END,
      )
      .addEdge('tools', 'agent')
      .compile({ checkpointer: new MemorySaver() });
    const thread = { configurable: { thread_id: crypto.randomUUID() } };
    const begin = () => graph.invoke({ messages: [new HumanMessage('Pay.')] }, thread);
    const resume = () => graph.invoke(new Command({ resume: true }), thread);
    const toolMessage = (state: { messages: BaseMessage[] }) =>
      String(state.messages.find(({ type }) => type === 'tool')?.content);
    return { ...made, graph, thread, begin, resume, toolMessage };
  }
  const pageIn = (state: object) => String(Object(state).__interrupt__?.[0]?.value?.url);

  test('interrupts the graph until a person has decided, however often it is resumed', async () => {
    const { ada, begin, resume, paid, decisions, toolMessage, graph, thread, calls } = await graphWith();

    const paused = await begin();
    const again = await resume();
    expect(pageIn(again)).toBe(pageIn(paused));
    expect([paid.length, (await decisions()).length]).toEqual([0, 1]);
    expect((await ada.approve(idIn(pageIn(paused)))).statusCode).toBe(200);
    const done = await resume();

    expect([toolMessage(done), paid]).toEqual(['paid', [PAYMENT]]);
    expect((await decisions()).length).toBe(1);
    const kept = JSON.stringify(await graph.getState(thread));
    expect(kept).not.toContain(calls.grantToken);
  });

  test('is denied when people say no, and they are not asked again', async () => {
    const { ada, begin, resume, paid, decisions, toolMessage } = await graphWith();
    const paused = await begin();

    expect((await ada.deny(idIn(pageIn(paused)))).statusCode).toBe(200);
    const done = await resume();

    expect(toolMessage(done)).toContain('A person refused this call.');
    expect([paid, (await decisions()).length]).toEqual([[], 1]);
  });

  test('is denied without an interrupt where no person could help', async () => {
    const { begin, paid, decisions, toolMessage } = await graphWith(['tool:bank:read']);

    const done = await begin();

    expect([pageIn(done), paid, await decisions()]).toEqual(['undefined', [], []]);
    expect(toolMessage(done)).toMatch(/Error/);
  });
});
