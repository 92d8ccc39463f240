/** A fault of a manifest, before its place in the text is looked for. */
export interface Found {
  /** The stable name of the fault. */
  readonly rule: string;
  readonly path: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}
