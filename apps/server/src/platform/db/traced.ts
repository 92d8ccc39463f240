import type { Logger } from 'kysely';
import type { Call, Tracer } from '../telemetry/tracer.ts';

/** A log of statements that makes a span of each: its text, which numbers the values, and no value. */
export function traceStatements(tracer: Tracer): Logger {
  return (statement) => {
    const failure = statement.level === 'error' ? { error: statement.error } : undefined;
    tracer.called(callOf(statement.query.sql), statement.queryDurationMillis, failure);
  };
}

/** The statement's verb, and the first table or function that it names. */
function callOf(text: string): Call {
  const [verb = ''] = /^\w+/.exec(text.trimStart()) ?? [];
  const [, target] = TABLE.exec(text) ?? FUNCTION.exec(text) ?? [];
  return {
    name: target ? `${verb} ${target}` : verb,
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': verb, 'db.query.text': text },
  };
}

const TABLE = /(?:^update|\sfrom|\sinto)\s+"?(\w+)/i;
const FUNCTION = /^\s*select\s+(\w+)\s*\(/i;
