export { memoryMeter } from '@behest/meter/memory-meter';
export type { PostgresClient } from '@behest/meter/postgres-calls';
export {
  type MeterTimes,
  type PostgresMeter,
  type PostgresMeterOptions,
  postgresMeter,
} from '@behest/meter/postgres-meter';
export type { RedisClient } from '@behest/meter/redis-client';
export {
  type RedisMeter,
  type RedisMeterOptions,
  redisMeter,
  type TenantsSeen,
} from '@behest/meter/redis-meter';
export { checkArguments } from '@behest/protocol/arguments/check';
export { rulesInWords } from '@behest/protocol/arguments/in-words';
export { ArgumentsError, readArguments } from '@behest/protocol/arguments/read-arguments';
export { isWithin } from '@behest/protocol/arguments/within';
export type { Call } from '@behest/protocol/enforcement/call';
export { createEnforcer } from '@behest/protocol/enforcement/enforcer';
export type { ListedTools, OfferedTool, ToolOffer } from '@behest/protocol/enforcement/engine';
export { exposeTools } from '@behest/protocol/enforcement/expose-tools';
export { type CapsMeter, MeterError } from '@behest/protocol/enforcement/meter';
export type { DecisionStore, RevocationCheck } from '@behest/protocol/enforcement/ports';
export type { Denied, Result } from '@behest/protocol/enforcement/result';
export { manifestFromObject } from '@behest/protocol/manifest/load';
export type { Manifest, ManifestPin } from '@behest/protocol/manifest/manifest';
export { ManifestValidationError } from '@behest/protocol/manifest/manifest-error';
export { manifestFromJsonText } from '@behest/protocol/manifest/texts';
export { pinOfTool } from '@behest/protocol/manifest/tool-pins';
export { Behest } from './behest.ts';
export { BehestDeniedError } from './errors.ts';
