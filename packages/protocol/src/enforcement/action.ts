/** The exact call that a decision allows. `arguments` is the whole object that will be sent. */
export interface Action {
  readonly v: 1;
  readonly connector: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly case_id: string | null;
  readonly case_version: string | null;
  /** `arguments.decision` when it is a word, else null. */
  readonly decision: string | null;
}
