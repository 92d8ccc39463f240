import type { DatabaseConnection } from 'kysely';
import type { Call, Tracer } from '../telemetry/tracer.ts';

/** A span for each statement of a connection: its text, in which values are only numbered, and never a value. */
export function traceStatements(connection: DatabaseConnection, tracer: Tracer): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = (query, ...rest) =>
    tracer.call(callOf(query.sql), () => execute<never>(query, ...rest));
}

/** What it does, and the first table or function that it names. */
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
