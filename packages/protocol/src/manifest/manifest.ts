import type { Rules } from '../arguments/rules.ts';
import type { ToolLevel } from '../tool-scopes.ts';
import type { CapWindow } from '../tools-entry.ts';

/** The most calls, or units, by window. */
export type Windows = Readonly<Partial<Record<CapWindow, number>>>;

/** A tool in words for the people who decide about it. The operator chose them; the permission is shown beside them. */
export interface ToolWords {
  readonly title?: string;
  readonly description?: string;
  /** The names of arguments, by JSON Pointer. */
  readonly argument_titles?: Readonly<Record<string, string>>;
}

/** The demands of an operator on one tool. A text in the manifest is the permission alone. */
export interface ManifestTool extends ToolWords {
  readonly permission: ToolLevel;
  readonly allowed_purposes?: readonly string[];
  readonly caps?: Windows;
  readonly cost_units?: Readonly<Record<string, number>>;
  readonly requires_decision?: boolean;
  readonly four_eyes_on?: readonly string[];
  readonly arguments?: Rules;
  readonly mcp_pins?: readonly string[];
  /** The words in other languages, by language tag. */
  readonly titles?: Readonly<Record<string, ToolWords>>;
  /** JSON Pointers to the arguments that a decision binds. Default: all. */
  readonly binds?: readonly string[];
}

/** A fault that does not stop a manifest from loading. */
export interface ManifestWarning {
  readonly code: 'manifest_unknown_key';
  /** The key, as in `ManifestValidationError.path`. */
  readonly path: string;
}

/**
 * Which consents to older versions still hold: the hash of each older version, and the tools that are new or wider
 * than there.
 */
export interface ManifestPin {
  /** 64 digits of lower-case hex. */
  readonly sha256: string;
  readonly wider: readonly string[];
}

/** A manifest that was loaded. It never changes. */
export interface Manifest {
  /** The `$schema` of the source. */
  readonly schema?: string;
  readonly connector: string;
  readonly version: string;
  readonly description?: string;
  /** Every tool in object form, in the order of the source. */
  readonly tools: ReadonlyMap<string, ManifestTool>;
  readonly warnings: readonly ManifestWarning[];
  readonly pins: readonly ManifestPin[];
}
