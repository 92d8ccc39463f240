import { copyArguments } from '@behest/protocol/arguments/read-arguments';
import type { Call } from '@behest/protocol/enforcement/call';
import type { HiddenTool } from '@behest/protocol/enforcement/engine';
import type { Denied, Result } from '@behest/protocol/enforcement/result';
import { pinOfTool } from '@behest/protocol/manifest/tool-pins';
import { sentenceOf } from '../agents/people.ts';
import type { Behest } from '../behest.ts';
import { callToApprove, type Decision, isWaiting } from '../client/decisions.ts';
import { provedIn } from '../verify/verified-grant.ts';
import {
  elicitConnection,
  isRequest,
  type Message,
  type MessageExtra,
  type ToolCall,
  type ToolDefinition,
  type Transport,
  toolCallOf,
} from './elicit-connection.ts';

// More than this is an error, because a part of a list would hide tools.
const [MAX_PAGES, MAX_TOOLS, MAX_LENGTH] = [50, 1_000, 4 * 1_024 * 1_024];

/** The tools of a server, and the members of its answer besides them; or the error that it answered. */
type WholeList =
  | { readonly tools: readonly ToolDefinition[]; readonly others: Readonly<Record<string, unknown>> }
  | { readonly error: unknown };

/**
 * Reads every page of a server's list, so that nothing is filtered by the accident of a page's end.
 *
 * @param ask sends `tools/list` to the server
 * @throws Error for a list that is longer than anybody reads
 */
async function wholeList(
  ask: (params: Readonly<Record<string, unknown>>) => Promise<Message>,
): Promise<WholeList> {
  const all: ToolDefinition[] = [];
  let [cursor, length]: [unknown, number] = [undefined, 0];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { result, error } = await ask(cursor === undefined ? {} : { cursor });
    if (!result) return { error };
    const { tools, nextCursor, ...others } = result;
    const text = JSON.stringify(Array.isArray(tools) ? tools : []);
    length += text.length;
    // As the client will read it: a definition inside the process may have members that JSON leaves out.
    const listed: readonly unknown[] = JSON.parse(text);
    all.push(...listed.filter(isDefinition));
    if (all.length > MAX_TOOLS || length > MAX_LENGTH) throw new Error('The list of tools is too long.');
    if (nextCursor === undefined || nextCursor === null) return { tools: all, others };
    cursor = nextCursor;
  }
  throw new Error('The list of tools has too many pages.');
}

function isDefinition(value: unknown): value is ToolDefinition {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

export interface ToolEnforcement {
  /** The connector of the server's tools in manifests and grants. It is the operator's word, and never the server's. */
  readonly connector: string;
  /** The token of a connection without HTTP, such as stdio. Over HTTP it is that of the request. */
  readonly grantToken?: string | (() => string | Promise<string>);
  /** `all` lists what the token does not allow, too, for clients that ask for more scopes. Default: `granted`. */
  readonly list?: 'granted' | 'all';
  readonly resource?: (call: ToolCall) => string | undefined;
  readonly amount?: (call: ToolCall) => number | undefined;
  /** The id of a logical call, the same for each attempt and never for another call. Default: an id for each attempt. */
  readonly callId?: (call: ToolCall) => string | undefined;
  readonly caseId?: (call: ToolCall) => string | undefined;
  readonly caseVersion?: (call: ToolCall) => string | undefined;
  /**
   * Asks people about calls that need a decision, and sends the client's person to the page (MCP, elicitation in URL
   * mode). The same call, made again after they approved, runs. The key of 32 bytes seals what the client sends back.
   */
  readonly decisions?: { readonly key: Uint8Array };
  /** Declares for each tool how a gateway asks AuthZEN about its calls (COAZ-MCP, draft 1, which is not stable). */
  readonly coaz?: boolean;
  /** Hears which tools a list left out, for the operator's log. The client must not learn it. */
  readonly onHidden?: (hidden: readonly HiddenTool[]) => void;
}

const INTERNAL_ERROR = -32_603;
const LONGEST_TTL_MS = 60_000;
/** Tools with these faults are in no list, and nobody may call them. */
const NEVER_LISTED: readonly unknown[] = ['tool_changed', 'tool_ambiguous'];

/**
 * Stands between a transport and a server. Lists are filtered, and calls are decided, on messages, so that neither
 * depends on how the server was written.
 */
export function enforcingTransport(inner: Transport, behest: Behest, options: ToolEnforcement): Transport {
  const own = crypto.randomUUID(); // no client can guess the ids of the middleware's own requests
  const waiting = new Map<unknown, (answer: Message) => void>();
  let count = 0;
  let revision = '';

  const outer: Transport = {
    async start() {
      inner.onmessage = receive;
      inner.onclose = () => outer.onclose?.();
      inner.onerror = (error) => outer.onerror?.(error);
      await inner.start();
    },
    close: () => inner.close(),
    async send(message: Message, sending?: unknown) {
      const answered = message.method === undefined ? waiting.get(message.id) : undefined;
      if (!answered) return inner.send(message, sending);
      waiting.delete(message.id);
      answered(message);
    },
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion(version) {
      revision = version;
      inner.setProtocolVersion?.(version);
    },
  };

  function receive(message: Message, extra?: MessageExtra): void {
    const decide =
      message.method === 'tools/list' ? list : message.method === 'tools/call' ? call : undefined;
    if (!decide) {
      outer.onmessage?.(message, extra);
      return;
    }
    if (!isRequest(message)) return; // a notification of a call would run a tool, and nobody would hear of a denial
    decide(message, extra).catch((error: unknown) => {
      outer.onerror?.(error instanceof Error ? error : new Error(String(error)));
      const fault = { code: INTERNAL_ERROR, message: 'The call could not be decided.' };
      return answer(message, { error: fault }).catch(() => {}); // the connection has ended
    });
  }

  const answer = ({ id }: Message, what: Pick<Message, 'result' | 'error'>) =>
    inner.send({ jsonrpc: '2.0', id, ...what }, { relatedRequestId: id });

  const readList = (extra?: MessageExtra): Promise<WholeList> =>
    wholeList((params) => {
      count += 1;
      const id = `${own}:${count}`;
      return new Promise<Message>((resolve) => {
        waiting.set(id, resolve);
        outer.onmessage?.({ jsonrpc: '2.0', id, method: 'tools/list', params }, extra);
      });
    });

  async function list(message: Message, extra?: MessageExtra): Promise<void> {
    const whole = await readList(extra);
    if ('error' in whole) return answer(message, { error: whole.error });
    const { connector, resource, onHidden } = options;
    const offer = {
      ...(await tokenOf(options, extra)),
      connector,
      tools: whole.tools,
      ...(resource && { resource: true }),
    };
    const { tools, hidden } = await behest.listTools(offer);
    if (hidden.length > 0) onHidden?.(hidden);
    const never = new Set(
      hidden.filter(({ sub_reason }) => NEVER_LISTED.includes(sub_reason)).map(({ tool }) => tool),
    );
    const isAll = options.list === 'all';
    const shown = isAll ? whole.tools.filter(({ name }) => !never.has(name)) : tools;
    const listed = options.coaz ? shown.map((tool) => withMapping(tool, connector)) : shown;
    return answer(message, { result: { ...cachedBy(whole.others), tools: listed } });
  }

  async function call(message: Message, extra?: MessageExtra): Promise<void> {
    const asked = toolCallOf(message) ?? { name: '', arguments: {} };
    const copied = copyArguments(asked.arguments);
    const checked = { ...asked, arguments: copied.ok ? copied.value : asked.arguments };
    const [definition, second] = await offered(checked.name, extra);
    if (second) return answer(message, { result: denied(AMBIGUOUS) });
    const hasPins = behest.manifest(options.connector)?.tools.get(checked.name)?.mcp_pins !== undefined;
    const toolPin = hasPins && definition ? await pinOfTool(definition).catch(() => undefined) : undefined;
    const asking = {
      ...callFor(checked, options),
      ...(await tokenOf(options, extra)),
      ...(toolPin !== undefined && { toolPin }),
    };
    let result = await behest.enforce(asking);
    if (options.decisions && isWaiting(result)) {
      const lacking = result;
      const { decision, result: used } = await resumed(behest, asking, lacking);
      if (decision?.status === 'pending')
        return answer(message, elicited(decision, checked, { revision, ...options.decisions }));
      result = used ?? (decision ? { ...lacking, reason: sentenceOf(decision) } : lacking);
    }
    if (!result.allowed) return answer(message, { result: denied(result) });
    outer.onmessage?.({ ...message, params: { ...message.params, arguments: checked.arguments } }, extra);
  }

  /**
   * The definition that the server offers now. One that changed between list and call is judged as it is: what was shown
   * to the client had a good pin, or it was not shown.
   */
  async function offered(name: string, extra?: MessageExtra): Promise<readonly ToolDefinition[]> {
    const whole = await readList(extra);
    return 'tools' in whole ? whole.tools.filter((tool) => tool.name === name) : [];
  }

  return outer;
}

const AMBIGUOUS = {
  reason: 'The server offers this name twice.',
  reason_code: 'manifest_unknown_tool',
  sub_reason: 'tool_ambiguous',
};

/** The error of a tool, which the model reads. A challenge would promise that a wider scope helps. */
function denied({
  reason,
  reason_code,
  sub_reason,
}: Pick<Result, 'reason' | 'reason_code' | 'sub_reason'> | typeof AMBIGUOUS) {
  const code = sub_reason === null ? reason_code : `${reason_code}/${sub_reason}`;
  return {
    isError: true,
    content: [{ type: 'text', text: `${reason} (${code})` }],
    structuredContent: { reason_code, sub_reason, reason },
  };
}

/** The input of the engine, apart from token and pin. */
export function callFor(
  call: ToolCall,
  { connector, resource, amount, callId, caseId, caseVersion }: ToolEnforcement,
) {
  const given = {
    callId: callId?.(call),
    ...{ resource: resource?.(call), amount: amount?.(call) },
    ...{ caseId: caseId?.(call), caseVersion: caseVersion?.(call) },
  };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { connector, tool: call.name, arguments: call.arguments, ...present };
}

async function tokenOf({ grantToken }: ToolEnforcement, extra?: MessageExtra) {
  const { token, extra: checked } = extra?.authInfo ?? {};
  if (typeof token === 'string') return { grantToken: token, ...provedIn(Object(checked).grant) };
  return { grantToken: typeof grantToken === 'function' ? await grantToken() : (grantToken ?? '') };
}

/** A list for one token is nobody else's, in the revisions whose answers say who may keep them. */
function cachedBy(others: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { ttlMs, cacheScope } = others;
  if (ttlMs === undefined && cacheScope === undefined) return others;
  const own = typeof ttlMs === 'number' ? ttlMs : LONGEST_TTL_MS;
  return { ...others, cacheScope: 'private', ttlMs: Math.min(own, LONGEST_TTL_MS) };
}

/**
 * Declares how a gateway makes an AuthZEN question of a call of this tool. The mapping that gateways have by default
 * names no token, and two tokens of one person and one agent may differ.
 * @see COAZ-MCP binding, draft 1
 */
function withMapping(tool: ToolDefinition, connector: string): ToolDefinition {
  const evaluation = {
    subject: { type: 'identity', id: '$token.sub' },
    action: { name: tool.name },
    resource: { type: 'connector', id: connector },
    context: { agent: '$token.?client_id', jti: '$token.jti', arguments: '$params.?arguments' },
  };
  const { inputSchema = { type: 'object' } } = tool;
  return { ...tool, inputSchema: { ...inputSchema, 'x-authzen-mapping': { evaluation } } };
}

interface Resumed {
  /** Undefined where people cannot be asked, so that the denial stands. */
  readonly decision?: Decision;
  /** The answer to the call with what people approved. */
  readonly result?: Result;
}

/** Asks people about a call, or makes it with their answer. */
const resumed = (behest: Behest, call: Call, denied: Denied): Promise<Resumed> =>
  behest.approvals.unsettled.attempt(call, denied, async (named): Promise<Resumed> => {
    const waiting = await behest.approvals.resume(callToApprove(named)).catch(() => undefined);
    if (!waiting?.decisionGrants) return waiting ? { decision: waiting.decision } : {};
    return { result: await behest.enforce({ ...named, decisionGrants: waiting.decisionGrants }) };
  });

interface PageRequest {
  readonly revision: string;
  readonly key: Uint8Array;
}

/**
 * Asks the client to show its person the page on which the call is approved. The person need not be the approver: the page
 * asks each who opens it for a passkey.
 */
function elicited(
  { decisionId, url, principalId }: Decision,
  call: ToolCall,
  { revision, key }: PageRequest,
) {
  const session = { id: decisionId, connectUrl: url, service: call.name, principalId };
  const message = `A person has to approve this call of ${call.name}. Make the same call again after that.`;
  const { result, error } = elicitConnection(session, { revision, key, call, message });
  return error ? { error } : { result };
}
